import { defineEntity, p } from '@mikro-orm/core';
import type { CustomerBody } from '../../domain/enterprises/customer.ts';
import type {
  EfacturaStatus,
  EnterpriseStatus,
  LoginStatus,
  Permission,
} from '../../domain/enterprises/enterpriseStatus.ts';
import type { TestRunFailure, TestRunStatus, TestSet } from '../../domain/enterprises/homologation.ts';
import type { LogoType } from '../../domain/enterprises/logo.ts';
import type { Actor } from '../../domain/operations/audit.ts';
import type { PaymentStatus } from '../../domain/people/payment.ts';
import type { GrantedRole } from '../../domain/people/roles.ts';
import type { CfeType, Environment } from '../../domain/receipts/cfeTypes.ts';
import type { DocumentType } from '../../domain/receipts/receiverDocument.ts';
import type { SmallTickets } from '../../domain/receipts/transmission.ts';

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
    /** CdgDGISucur: the authority's code of the branch. */
    branch: p.integer(),
    phoneNumber: p.text().strictNullable(),
    /** CorreoEmisor; also the reply address of e-mailed receipts. */
    email: p.text().strictNullable(),
    /** Where a receiver may verify a receipt, as printed. */
    website: p.text().strictNullable(),
    /** The day on which the enterprise joined the e-invoicing regime. */
    issuerSince: p.date().strictNullable(),
    /** For an enterprise that came from another system: its first day here, from which this service issues and reports. */
    migratedOn: p.date().strictNullable(),
    /** The resolution, `NN/YYYY`, that made the enterprise an issuer, if there is one. */
    resolution: p.text().strictNullable(),
    /** The norm by which it is exempt from VAT. */
    exemptionNorm: p.text().strictNullable(),
    /** Whether it has its VAT certificate up to date (IVAalDia). */
    vatUpToDate: p.boolean(),
    /** Whether e-Tickets up to the limit are sent or only reported. */
    smallTickets: p.text().$type<SmallTickets>(),
    logoSha256: p.text().strictNullable(),
    isNewEnterprise: p.boolean(),
    status: p.text().$type<EnterpriseStatus>(),
    /** The status that `enterprise resume` restores. */
    statusBeforeSuspension: p.text().$type<EnterpriseStatus>().strictNullable(),
    /** Why an operator suspended it. */
    suspensionReason: p.text().strictNullable(),
    scheduledReadyDate: p.datetime().strictNullable(),
    planId: p.text().strictNullable(),
    frequencyId: p.text().strictNullable(),
    efacturaStatus: p.text().$type<EfacturaStatus>(),
    loginStatus: p.text().$type<LoginStatus>(),
    permissions: p.array().$type<Permission[]>(),
    /** Whether the authority's list of electronic issuers names it; null before the first look. */
    listedIssuer: p.boolean().strictNullable(),
    lastValidatedAt: p.datetime().strictNullable(),
    /** Login at the authority's portal, sealed; JSON {username, password}. */
    sealedLogin: p.text().strictNullable(),
    /** Time of the last event about an expired certificate or CAE; null before the first. */
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
    /** CdgDGISucur: the authority's code of the branch. */
    branch: p.integer().primary(),
    streetName: p.text(),
    localityName: p.text(),
    departmentName: p.text(),
    phoneNumber: p.text().strictNullable(),
    /** When the first CFE was issued from it; null before. */
    usedAt: p.datetime().strictNullable(),
    /** Since when it is closed to new CFEs; null while it is open. */
    closedAt: p.datetime().strictNullable(),
    createdAt: p.datetime(),
  },
});

/**
 * An additional branch of an enterprise; the first one is in the enterprise's own row (docs/contract.md#branches).
 */
export class Branch extends BranchSchema.class {}
BranchSchema.setClass(Branch);

const LogoSchema = defineEntity({
  name: 'Logo',
  properties: {
    /** SHA-256 of the bytes, in hex. */
    sha256: p.text().primary(),
    mediaType: p.text().$type<LogoType>(),
    bytes: p.blob(),
    createdAt: p.datetime(),
  },
});

/** A picture printed on receipts; never changed, so that a receipt keeps the picture of its time. */
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

/** A role of an account at another account's enterprise, granted by an operator (docs/contract.md#roles). */
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

/** The price of a plan at one payment frequency. */
export class Plan extends PlanSchema.class {}
PlanSchema.setClass(Plan);

const PaymentSchema = defineEntity({
  name: 'Payment',
  properties: {
    id: p.uuid().primary(),
    rut: p.text(),
    planId: p.text(),
    frequencyId: p.text(),
    /** The price when the plan was chosen. */
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

/** An amount that an enterprise owes for a plan (docs/contract.md#plans-and-payments). */
export class Payment extends PaymentSchema.class {}
PaymentSchema.setClass(Payment);

const CustomerSchema = defineEntity({
  name: 'Customer',
  properties: {
    rut: p.text().primary(),
    /** As compared: see domain/receipts/receiverDocument.ts. */
    docNumber: p.text().primary(),
    docType: p.text().$type<DocumentType>().primary(),
    /** The number as the request wrote it. */
    givenNumber: p.text(),
    /** Its id in the audit, which must not hold the document of a person. */
    id: p.uuid(),
    legalName: p.text(),
    /** `legalName` normalised by searchText, for `?legal_name=`. */
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

/** A receiver of CFEs of an enterprise, by document (docs/contract.md#customers). */
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
    /** Its issuers below the authority, the nearest first, PEM. */
    intermediates: p.text().default(''),
    /**
     * PKCS#8 private key, sealed (crypto/sealed.ts); null once it was replaced and no CFE needs it (db/operations/purge.ts).
     * Lazy: API and console may write it but not read it (db/rights.ts).
     */
    sealedKey: p.text().strictNullable().lazy(),
    createdAt: p.datetime(),
    replacedAt: p.datetime().strictNullable(),
    /** When chain and revocation were looked up last. */
    checkedAt: p.datetime().nullable(),
    /** Since when no configured authority certifies the certificate; null while one does. */
    untrustedAt: p.datetime().nullable(),
    /** When a check found that the certificate is revoked. */
    revokedAt: p.datetime().nullable(),
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
    /** The day of `checks`, in Montevideo. */
    day: p.text(),
    checks: p.integer(),
    /** Failures since the last success. */
    failures: p.integer(),
    failedAt: p.datetime().strictNullable(),
    /** Keyed hash of the login being checked for the account; null if none is. */
    pendingHash: p.blob().strictNullable(),
    /** The pending check has its own login, and counts among the account's failures of `day` until it succeeds. */
    countsAsFailed: p.boolean(),
  },
});

/** An account's checks of the login of an enterprise, and their results (docs/contract.md#credentials). */
export class CredentialsChecks extends CredentialsChecksSchema.class {}
CredentialsChecksSchema.setClass(CredentialsChecks);

const WarningSchema = defineEntity({
  name: 'Warning',
  properties: {
    rut: p.text().primary(),
    /** Its subject, named by domain/enterprises/warnings.ts. */
    about: p.text().primary(),
    givenAt: p.datetime(),
  },
});

/** A warning that was given to an enterprise; not repeated while this row exists. */
export class Warning extends WarningSchema.class {}
WarningSchema.setClass(Warning);

const HomologationSchema = defineEntity({
  name: 'Homologation',
  properties: {
    id: p.uuid().primary(),
    rut: p.text(),
    /** The account for which its receipts are issued. */
    accountId: p.uuid(),
    /** Who started it. */
    actor: p.text().$type<Actor>(),
    workflowId: p.text(),
    testSet: p.text().$type<TestSet>(),
    status: p.text().$type<TestRunStatus>(),
    /** The signing day of all receipts, in Montevideo. */
    day: p.date(),
    /** When the number of a SIMULATION was annulled. */
    annulledAt: p.datetime().strictNullable(),
    reportAskedAt: p.datetime().strictNullable(),
    failureCode: p.text().$type<TestRunFailure>().strictNullable(),
    /** Codes of faults or reasons. */
    failureDetail: p.text().strictNullable(),
    createdAt: p.datetime(),
    /** When its status last changed. */
    movedAt: p.datetime(),
  },
});

/** A test run of an enterprise in the sandbox; at most one is active (docs/contract.md#test-run). */
export class Homologation extends HomologationSchema.class {}
HomologationSchema.setClass(Homologation);

const HomologationItemSchema = defineEntity({
  name: 'HomologationItem',
  properties: {
    homologationId: p.uuid().primary(),
    place: p.integer().primary(),
    type: p.text().$type<CfeType>(),
    /** The receipt, stored in its transaction: an item never has two. Null until it is issued. */
    cfeUuid: p.uuid().strictNullable(),
  },
});

/** One receipt of a test run. */
export class HomologationItem extends HomologationItemSchema.class {}
HomologationItemSchema.setClass(HomologationItem);
