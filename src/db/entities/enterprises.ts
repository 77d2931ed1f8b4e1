import { defineEntity, p } from '@mikro-orm/core';
import type { Environment } from '../../domain/cfeTypes.ts';
import type { Customer as CustomerBody } from '../../domain/customer.ts';
import type {
  EfacturaStatus,
  EnterpriseStatus,
  LoginStatus,
  Permission,
} from '../../domain/enterpriseStatus.ts';
import type { LogoType } from '../../domain/logo.ts';
import type { PaymentStatus } from '../../domain/payment.ts';
import type { DocumentType } from '../../domain/receiverDocument.ts';
import type { GrantedRole } from '../../domain/roles.ts';

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

const BranchSchema = defineEntity({
  name: 'Branch',
  properties: {
    rut: p.text().primary(),
    /** CdgDGISucur: the code the authority gave to the branch. */
    branch: p.integer().primary(),
    streetName: p.text(),
    localityName: p.text(),
    departmentName: p.text(),
    phoneNumber: p.text().strictNullable(),
    /** When the first CFE was issued from it; null before that. */
    usedAt: p.datetime().strictNullable(),
    /** Since when nothing is issued from it any more; null while it is open. */
    closedAt: p.datetime().strictNullable(),
    createdAt: p.datetime(),
  },
});

/** A branch of an enterprise beside the first, which stands in the enterprise's own row (docs/contract.md#branches). */
export class Branch extends BranchSchema.class {}
BranchSchema.setClass(Branch);

const LogoSchema = defineEntity({
  name: 'Logo',
  properties: {
    /** Of the bytes, in hex. */
    sha256: p.text().primary(),
    mediaType: p.text().$type<LogoType>(),
    bytes: p.blob(),
    createdAt: p.datetime(),
  },
});

/** A picture that enterprises print on their receipts; never changed, so that a receipt keeps the one it was numbered with. */
export class Logo extends LogoSchema.class {}
LogoSchema.setClass(Logo);

const EnterpriseGrantSchema = defineEntity({
  name: 'EnterpriseGrant',
  properties: {
    accountId: p.uuid().primary(),
    rut: p.text().primary(),
    role: p.text().$type<GrantedRole>(),
  },
});

/** What an operator lets an account do at an enterprise of another account (docs/contract.md#roles). */
export class EnterpriseGrant extends EnterpriseGrantSchema.class {}
EnterpriseGrantSchema.setClass(EnterpriseGrant);

const PlanSchema = defineEntity({
  name: 'Plan',
  properties: {
    planId: p.text().primary(),
    frequencyId: p.text().primary(),
    amount: p.decimal(),
    currency: p.text(),
  },
});

/** What a plan costs at one frequency of payment. */
export class Plan extends PlanSchema.class {}
PlanSchema.setClass(Plan);

const PaymentSchema = defineEntity({
  name: 'Payment',
  properties: {
    id: p.uuid().primary(),
    rut: p.text(),
    planId: p.text(),
    frequencyId: p.text(),
    /** What the plan cost when it was chosen. */
    amount: p.decimal(),
    currency: p.text(),
    status: p.text().$type<PaymentStatus>(),
    /** Where the customer pays. */
    redirectUrl: p.text(),
    createdAt: p.datetime(),
    /** When it was paid or cancelled. */
    settledAt: p.datetime().strictNullable(),
  },
});

/** What an enterprise owes for a plan (docs/contract.md#plans-and-payments). */
export class Payment extends PaymentSchema.class {}
PaymentSchema.setClass(Payment);

const CustomerSchema = defineEntity({
  name: 'Customer',
  properties: {
    rut: p.text().primary(),
    docNumber: p.text().primary(),
    docType: p.text().$type<DocumentType>().primary(),
    /** Its id in the audit, which must not hold the document of a person. */
    id: p.uuid(),
    legalName: p.text(),
    /** `legalName` as searchText makes it: what `?legal_name=` looks into. */
    legalNameSearch: p.text(),
    fiscalAddress: p.text().strictNullable(),
    city: p.text().strictNullable(),
    department: p.text().strictNullable(),
    country: p.text().strictNullable(),
    countryCode: p.text().strictNullable(),
    notifications: p.json().$type<NonNullable<CustomerBody['notifications']>>(),
    createdAt: p.datetime(),
    updatedAt: p.datetime(),
  },
});

/** Someone to whom an enterprise issues CFEs, by document (docs/contract.md#customers). */
export class Customer extends CustomerSchema.class {}
CustomerSchema.setClass(Customer);

const CertificateSchema = defineEntity({
  name: 'Certificate',
  properties: {
    id: p.uuid().primary(),
    rut: p.text(),
    environment: p.text().$type<Environment>(),
    subject: p.text(),
    notBefore: p.datetime(),
    notAfter: p.datetime(),
    /** The certificate itself, DER. */
    certificate: p.blob(),
    /**
     * PKCS#8 private key, sealed (crypto/sealed.ts); null once it was replaced and no CFE needs it (db/purge.ts). Lazy:
     * API and console may write it and not read it (db/rights.ts).
     */
    sealedKey: p.text().strictNullable().lazy(),
    createdAt: p.datetime(),
    replacedAt: p.datetime().strictNullable(),
  },
});

/** A digital certificate of an enterprise; the one not yet replaced signs. */
export class Certificate extends CertificateSchema.class {}
CertificateSchema.setClass(Certificate);

const CredentialsChecksSchema = defineEntity({
  name: 'CredentialsChecks',
  properties: {
    rut: p.text().primary(),
    accountId: p.uuid().primary(),
    /** The day in Montevideo that `checks` are of. */
    day: p.text(),
    checks: p.integer(),
    /** Failures since the last success. */
    failures: p.integer(),
    failedAt: p.datetime().strictNullable(),
    /** Keyed hash of the login that is being checked for the account; null when none is. */
    pendingHash: p.blob().strictNullable(),
    /** The check under way has a login of its own, and stands among the account's failures of `day` until it succeeds. */
    countsAsFailed: p.boolean(),
  },
});

/** How often an account had the login of an enterprise checked, and with what success (docs/contract.md#credentials). */
export class CredentialsChecks extends CredentialsChecksSchema.class {}
CredentialsChecksSchema.setClass(CredentialsChecks);

const WarningSchema = defineEntity({
  name: 'Warning',
  properties: {
    rut: p.text().primary(),
    /** What it was about, as domain/warnings.ts names it. */
    about: p.text().primary(),
    givenAt: p.datetime(),
  },
});

/** A warning that an enterprise was given: it is not repeated while its row is there. */
export class Warning extends WarningSchema.class {}
WarningSchema.setClass(Warning);
