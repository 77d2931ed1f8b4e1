/**
 * The sheet for the application to become an electronic issuer (Postulación; Instructivo Ingreso al Régimen v18, I.1):
 * the fields of the authority's form in its order, filled in from what the service knows, and the ten functions of its
 * sworn statement.
 */

import { verificationUrl } from '../receipts/qr.ts';

/** The fields of the form, in its order. */
export const APPLICATION_FIELDS = [
  'registry',
  'phone',
  'software',
  'software_name',
  'software_version',
  'provider',
  'solution',
  'website',
  'authority_mail',
  'exchange_mail',
  'web_service',
  'technical_mail',
  'types',
  'test_date',
  'confirmation_code',
] as const;
export type ApplicationField = (typeof APPLICATION_FIELDS)[number];

/** The ten critical functions of the sworn statement, in its order. */
export const STATEMENT_ITEMS = [
  'cae',
  'numbering',
  'backup',
  'sending',
  'exchange',
  'closing',
  'contingency',
  'formats',
  'print',
  'standard',
] as const;
export type StatementItem = (typeof STATEMENT_ITEMS)[number];

/** The operator of the service, as in its declarations to the authority; empty where it is not configured. */
export interface SoftwareProvider {
  readonly rut: string;
  /** Código de producto. */
  readonly product: string;
  readonly version: string;
}

/** The data that fills in the sheet. */
export interface ApplicationFacts {
  readonly enterprise: {
    readonly rut: string;
    readonly legalName: string;
    readonly streetName: string;
    readonly localityName: string;
    readonly departmentName: string;
    readonly phoneNumber: string | null;
    readonly email: string | null;
    readonly website: string | null;
  };
  readonly provider: SoftwareProvider;
  /** The service's public URL, without a trailing slash, where e-Tickets of companies without a site are verified. */
  readonly publicUrl: string;
  /** Codes of the types to certify. */
  readonly typeCodes: readonly number[];
  /** The signing day of the passed test; null before it. */
  readonly testDate: string | null;
}

export interface ApplicationSheet {
  /** Each field with its value; null where a person must fill it in. */
  readonly fields: readonly { readonly field: ApplicationField; readonly value: string | null }[];
}

/** Draws the sheet of an enterprise as a PDF. `date`: the day printed on the sheet, `YYYY-MM-DD`. */
export type DrawSheet = (
  sheet: ApplicationSheet,
  heading: { readonly legalName: string; readonly date: string },
) => Promise<Uint8Array>;

/** The solution and the processes that the service covers (Formato Informe Proveedores de Software v1.3, annexes 1, 2). */
const SOLUTION = '10 (middleware); procesos 3, 4, 5, 6, 7, 8 y 9';

/** Returns the sheet of an enterprise. */
export function applicationSheet(facts: ApplicationFacts): ApplicationSheet {
  const { enterprise, provider, publicUrl, typeCodes, testDate } = facts;
  const { rut, legalName, streetName, localityName, departmentName } = enterprise;
  const isOwnSoftware = provider.rut === rut;
  const values: Readonly<Record<ApplicationField, string | null>> = {
    registry: `${rut} · ${legalName} · ${streetName}, ${localityName}, ${departmentName}`,
    phone: enterprise.phoneNumber,
    software: provider.rut === '' ? null : isOwnSoftware ? 'Desarrollo propio' : 'Externo, proveedor local',
    software_name: provider.product || null,
    software_version: provider.version,
    provider: isOwnSoftware ? null : provider.rut || null,
    solution: provider.product === '' ? null : `${provider.product}: ${SOLUTION}`,
    website: enterprise.website ?? verificationUrl(publicUrl),
    authority_mail: enterprise.email,
    exchange_mail: null,
    web_service: null,
    technical_mail: null,
    types: typeCodes.join(', '),
    test_date: testDate,
    confirmation_code: null,
  };
  return { fields: APPLICATION_FIELDS.map((field) => ({ field, value: values[field] })) };
}
