import { defineEntity, p } from '@mikro-orm/core';
import type {
  EfacturaStatus,
  EnterpriseStatus,
  LoginStatus,
  Permission,
} from '../../domain/enterpriseStatus.ts';

const EnterpriseSchema = defineEntity({
  name: 'Enterprise',
  properties: {
    rut: p.text().primary(),
    ownerAccountId: p.uuid(),
    legalName: p.text(),
    tradeName: p.text().strictNullable(),
    departmentName: p.text(),
    localityName: p.text(),
    streetName: p.text(),
    /** CdgDGISucur: the code the authority gave to the branch. */
    branch: p.integer(),
    phoneNumber: p.text().strictNullable(),
    /** CorreoEmisor; also where answers to e-mailed receipts go. */
    email: p.text().strictNullable(),
    /** Where a receiver may verify a receipt, as printed. */
    website: p.text().strictNullable(),
    /** The day on which it joined the regime of e-invoicing. */
    issuerSince: p.date().strictNullable(),
    /** The resolution that made it an issuer, `NN/YYYY`, where there is one. */
    resolution: p.text().strictNullable(),
    logoSha256: p.text().strictNullable(),
    isNewEnterprise: p.boolean(),
    status: p.text().$type<EnterpriseStatus>(),
    /** What `enterprise resume` goes back to. */
    statusBeforeSuspension: p.text().$type<EnterpriseStatus>().strictNullable(),
    /** Why an operator suspended it. */
    suspensionReason: p.text().strictNullable(),
    scheduledReadyDate: p.datetime().strictNullable(),
    planId: p.text().strictNullable(),
    frequencyId: p.text().strictNullable(),
    efacturaStatus: p.text().$type<EfacturaStatus>(),
    loginStatus: p.text().$type<LoginStatus>(),
    permissions: p.array().$type<Permission[]>(),
    lastValidatedAt: p.datetime().strictNullable(),
    /** Login at the authority's portal, sealed; JSON {username, password}. */
    sealedLogin: p.text().strictNullable(),
    /** The moment of the last event about an expired certificate or CAE; null before the first. */
    expiriesToldAt: p.datetime().strictNullable(),
    createdAt: p.datetime(),
  },
});

/** A company that issues CFEs, by its RUT (docs/contract.md#enterprise). */
export class Enterprise extends EnterpriseSchema.class {}
EnterpriseSchema.setClass(Enterprise);
