/** The enterprise object (docs/contract.md#enterprise) of responses, events and the console. */
import { type CaeStatus, caeStatus, chooseCae, noNumbersLeftFault } from '../numbers/cae.ts';
import { type CaeStartFinding, type CaeWarning, caeWarnings } from '../numbers/caeStart.ts';
import { CFE_TYPES, type CfeType } from '../receipts/cfeTypes.ts';
import { type UiValueRow, yearsWithoutExactUi } from '../receipts/uiValues.ts';
import { type Stored, toApiFields } from '../requests/fields.ts';
import { montevideoDate } from '../values/montevideo.ts';
import { type CertificateStatus, certificateStatus } from './certificate.ts';
import { ENTERPRISE_FIELDS } from './enterpriseFields.ts';
import {
  type EfacturaStatus,
  type EnterpriseStatus,
  type LoginStatus,
  missingPermissions,
  type Permission,
} from './enterpriseStatus.ts';

/** The stored facts of an enterprise. */
interface EnterpriseFacts extends Partial<Stored<typeof ENTERPRISE_FIELDS>> {
  readonly rut: string;
  readonly legalName: string;
  readonly logoSha256?: string | null;
  readonly status: EnterpriseStatus;
  readonly isNewEnterprise: boolean;
  readonly scheduledReadyDate?: Date | null;
  readonly planId?: string | null;
  readonly frequencyId?: string | null;
  readonly efacturaStatus: EfacturaStatus;
  readonly loginStatus: LoginStatus;
  readonly permissions: readonly Permission[];
  readonly listedIssuer?: boolean | null;
}

/** The stored facts of an enterprise's certificate. */
interface CertificateFacts {
  readonly subject: string;
  readonly notBefore: Date;
  readonly notAfter: Date;
  readonly revokedAt?: Date | null;
  readonly untrustedAt?: Date | null;
}

/** The stored facts of a CAE. */
interface StoredCae {
  readonly rut: string;
  readonly type: CfeType;
  readonly serie: string;
  readonly numberStart: number;
  readonly numberEnd: number;
  readonly lastNumber: number;
  readonly numbersLeft: number;
  readonly specialKind?: number | null;
  readonly authorizationNumber: string;
  readonly issueDate: string;
  readonly expirationDate: string;
  readonly startNumber?: number | null;
  readonly startFindings?: readonly CaeStartFinding[] | null;
}

/** Returns the certificate object at `now`; status NONE and nulls before the first upload. */
export function certificateObject(certificate: CertificateFacts | null, now: Date) {
  const revoked = Boolean(certificate?.revokedAt);
  const status: CertificateStatus = certificateStatus(certificate && { ...certificate, revoked }, now);
  return {
    status,
    subject: certificate?.subject ?? null,
    emission_date: certificate ? montevideoDate(certificate.notBefore) : null,
    expiration_date: certificate ? montevideoDate(certificate.notAfter) : null,
  };
}

/** Returns the CAE object at `now`. */
export function caeObject(cae: StoredCae, now: Date) {
  const { code, label } = CFE_TYPES[cae.type];
  const status: CaeStatus = caeStatus(cae, montevideoDate(now));
  return {
    authorization_number: cae.authorizationNumber,
    issuer_ruc: cae.rut,
    cfe_type: cae.type,
    cfe_type_code: String(code),
    cfe_type_label: label,
    series: cae.serie,
    number_start: cae.numberStart,
    number_end: cae.numberEnd,
    last_number: cae.lastNumber,
    numbers_left: cae.numbersLeft,
    issue_date: cae.issueDate,
    expiration_date: cae.expirationDate,
    status,
  };
}

export type ListedCae = ReturnType<typeof listedCaeObject>;
/** Returns the CAE object of a list; `daysLeft`: the days that its numbers last. */
export function listedCaeObject(cae: StoredCae, daysLeft: number | null, now: Date) {
  return {
    ...caeObject(cae, now),
    days_left: daysLeft,
    warnings: caeWarnings(cae, montevideoDate(now)),
  };
}

/** A warning for an enterprise. */
interface EnterpriseWarning {
  readonly code:
    | 'enterprise.no_numbers'
    | 'enterprise.no_issuer_since'
    | 'enterprise.no_exemption_norm'
    | 'enterprise.ui_value_estimated'
    | 'enterprise.certificate_revoked'
    | 'enterprise.certificate_untrusted'
    | CaeWarning['code'];
  readonly message: string;
}

const UI_VALUE_WORDS = {
  estimate: 'is an estimate',
  'other year': 'is not known yet; that of another year is used',
  none: 'is not known',
} as const;

/**
 * Returns the warnings at `now`: types without numbers, CAEs that do not continue where another system stopped, data missing
 * on the printed form, an inexact limit of e-Tickets, and an unusable certificate.
 */
function findWarnings(
  { enterprise: { issuerSince, resolution, exemptionNorm }, certificate, caes, uiValues }: FullEnterprise,
  now: Date,
): EnterpriseWarning[] {
  const today = montevideoDate(now);
  const warnings: EnterpriseWarning[] = [...Map.groupBy(caes, ({ type }) => type)]
    .filter(([, ofType]) => chooseCae(ofType, today) === undefined)
    .map(([type]) => ({ code: 'enterprise.no_numbers', message: noNumbersLeftFault(type).message }));
  warnings.push(...caes.flatMap((cae) => caeWarnings(cae, today)));
  if (!issuerSince && !resolution)
    warnings.push({
      code: 'enterprise.no_issuer_since',
      message:
        'Receipts must print the day of joining the regime or the resolution: give issuer_since or resolution.',
    });
  if (!exemptionNorm && caes.some(({ specialKind }) => specialKind === 1))
    warnings.push({
      code: 'enterprise.no_exemption_norm',
      message: 'Receipts of an exempt taxpayer must print the norm of the exemption: give exemption_norm.',
    });
  for (const { year, why } of yearsWithoutExactUi(uiValues, today))
    warnings.push({
      code: 'enterprise.ui_value_estimated',
      message: `The UI value of ${year} (limit of e-Tickets) ${UI_VALUE_WORDS[why]}; the operator of the service loads it.`,
    });
  if (certificate?.revokedAt)
    warnings.push({
      code: 'enterprise.certificate_revoked',
      message: 'The certificate was revoked by its authority and cannot sign: upload a new one.',
    });
  else if (certificate?.untrustedAt)
    warnings.push({
      code: 'enterprise.certificate_untrusted',
      message: 'No configured certification authority vouches for the certificate any more.',
    });
  return warnings;
}
/** Returns the five fields in the response to an update. */
export function updatedEnterpriseObject(enterprise: EnterpriseFacts) {
  const { planId, frequencyId } = enterprise;
  return {
    rut: enterprise.rut,
    legal_name: enterprise.legalName,
    status: enterprise.status,
    scheduled_ready_date: enterprise.scheduledReadyDate?.toISOString() ?? null,
    plan_metadata: planId && frequencyId ? { plan_id: planId, frequency_id: frequencyId } : null,
  };
}

/** The facts in an enterprise object. */
export interface FullEnterprise {
  readonly enterprise: EnterpriseFacts;
  /** The current certificate of production. */
  readonly certificate: CertificateFacts | null;
  /** The CAEs of production. */
  readonly caes: readonly StoredCae[];
  /** All known values of the UI. */
  readonly uiValues: readonly UiValueRow[];
}

/** True for enterprises in the authority's list of issuers; before the first look-up, for those with permission PROD. */
export const isAuthorizedIssuer = ({
  listedIssuer,
  permissions,
}: Pick<EnterpriseFacts, 'listedIssuer' | 'permissions'>): boolean =>
  listedIssuer ?? permissions.includes('PROD');

/** Returns the enterprise object at `now` without the caller's `role`. */
export function enterpriseObject({ enterprise, certificate, caes, uiValues }: FullEnterprise, now: Date) {
  const permissions = [...enterprise.permissions];
  return {
    ...updatedEnterpriseObject(enterprise),
    ...toApiFields(ENTERPRISE_FIELDS, enterprise),
    has_logo: Boolean(enterprise.logoSha256),
    is_new_enterprise: enterprise.isNewEnterprise,
    is_authorized_issuer: isAuthorizedIssuer(enterprise),
    certificate: certificateObject(certificate, now),
    caes: caes.map((cae) => caeObject(cae, now)),
    efactura_metadata: {
      status: enterprise.efacturaStatus,
      login_status: enterprise.loginStatus,
      permissions,
      missing_perms: missingPermissions(permissions),
    },
    warnings: findWarnings({ enterprise, certificate, caes, uiValues }, now),
  };
}

export type EnterpriseObject = ReturnType<typeof enterpriseObject>;

/** The changed top-level fields of an enterprise object, with old and new value. */
export type EnterpriseChanges = Readonly<Record<string, { readonly from: unknown; readonly to: unknown }>>;

/** Fields that change with issuing or with other fields; their changes are not reported. */
const UNREPORTED_FIELDS: readonly string[] = ['last_number', 'numbers_left', 'warnings'];

/** Returns the differences between two states of an enterprise; used numbers are not a difference. */
export function enterpriseChanges(before: EnterpriseObject, after: EnterpriseObject): EnterpriseChanges {
  const changed = (Object.keys(after) as (keyof EnterpriseObject)[]).filter(
    (field) => !UNREPORTED_FIELDS.includes(field) && comparable(before[field]) !== comparable(after[field]),
  );
  return Object.fromEntries(changed.map((field) => [field, { from: before[field], to: after[field] }]));
}

const comparable = (value: unknown): string =>
  JSON.stringify(value, (key, part: unknown) => (UNREPORTED_FIELDS.includes(key) ? undefined : part));
