import { randomUUID } from 'node:crypto';
import { Certificate, Enterprise } from '../../../src/db/entities/enterprises.ts';
import { Cae } from '../../../src/db/entities/numbers.ts';
import type { Orm } from '../../../src/db/orm.ts';
import type { CaeStartFinding } from '../../../src/domain/numbers/caeStart.ts';
import { CFE_TYPE_NAMES, type CfeType, type Environment } from '../../../src/domain/receipts/cfeTypes.ts';
import { aRut, day } from '../receipts/papers.ts';

const YEAR = 365 * 86_400_000;

/** A CAE as a test wants it; type ETICKET, serie A, 1 to 10000, from 2020 to a year from today unless told. */
export interface CaeRowWishes {
  type?: CfeType;
  environment?: Environment;
  serie?: string;
  from?: number;
  to?: number;
  /** Last number used; none unless told. */
  last?: number;
  issueDate?: string;
  expirationDate?: string;
  specialKind?: 1;
  /** The first number to use here; the authority is still to be asked about it, unless told what it knew. */
  start?: { number: number; findings?: CaeStartFinding[] };
}

const FIRST_AUTHORIZATION = 90_110_000_000;
let lastAuthorization = FIRST_AUTHORIZATION;

/** Puts a CAE into the table, past the checks of an upload. */
export async function giveCae(orm: Orm, rut: string, wishes: CaeRowWishes = {}): Promise<string> {
  const { start } = wishes;
  const { type = 'ETICKET', environment = 'production', serie = 'A', from = 1, to = 10_000 } = wishes;
  const last = wishes.last ?? (start ? start.number - 1 : from - 1);
  const id = randomUUID();
  lastAuthorization += 1;
  await orm.em.fork().insert(Cae, {
    id,
    rut,
    environment,
    type,
    serie,
    numberStart: from,
    numberEnd: to,
    lastNumber: last,
    elsewhere: last < from ? '{}' : `{[${from},${last}]}`,
    authorizationNumber: String(lastAuthorization),
    issueDate: wishes.issueDate ?? '2020-01-01',
    expirationDate: wishes.expirationDate ?? day(365),
    specialKind: wishes.specialKind ?? null,
    specialCause: wishes.specialKind ? '21' : null,
    startNumber: start?.number ?? null,
    startOpen: start !== undefined && start.findings === undefined,
    startFindings: start?.findings ?? null,
    xml: '<CAE/>',
    // A moment of its own for each: lists are in the order of uploading.
    createdAt: new Date(Date.UTC(2020, 0, 1) + lastAuthorization - FIRST_AUTHORIZATION),
  });
  return id;
}

/** Puts a certificate into the table whose key nobody can open; for tests that never sign. */
export async function giveCertificate(
  orm: Orm,
  rut: string,
  wishes: { environment?: Environment; notBefore?: Date; notAfter?: Date } = {},
): Promise<void> {
  await orm.em.fork().insert(Certificate, {
    id: randomUUID(),
    rut,
    environment: wishes.environment ?? 'production',
    subject: 'Comercial Ñandú S.A.',
    notBefore: wishes.notBefore ?? new Date('2020-01-01T00:00:00Z'),
    notAfter: wishes.notAfter ?? new Date(Date.now() + YEAR),
    certificate: Buffer.from('certificate'),
    sealedKey: 'sealed',
    createdAt: new Date(),
    replacedAt: null,
  });
}

/** The body of POST /enterprises, without what may be left out. */
export const enterpriseBody = (rut = aRut()) => ({
  rut,
  legal_name: 'Comercial Ñandú S.A.',
  department_name: 'Montevideo',
  locality_name: 'Montevideo',
  street_name: 'Rincón 501',
  branch: 1,
});

/** An enterprise as it is after its creation, PENDING and without papers; `values` differ. */
export async function anEnterprise(
  orm: Orm,
  ownerAccountId: string,
  values: Partial<Omit<Enterprise, symbol>> = {},
): Promise<string> {
  const rut = values.rut ?? aRut();
  await orm.em.fork().insert(Enterprise, {
    rut,
    ownerAccountId,
    legalName: 'Comercial Ñandú S.A.',
    tradeName: 'Ñandú',
    departmentName: 'Montevideo',
    localityName: 'Montevideo',
    streetName: 'Rincón 501',
    branch: 1,
    phoneNumber: null,
    email: null,
    website: null,
    issuerSince: null,
    resolution: null,
    exemptionNorm: null,
    vatUpToDate: true,
    smallTickets: 'SEND',
    logoSha256: null,
    isNewEnterprise: false,
    status: 'PENDING',
    statusBeforeSuspension: null,
    suspensionReason: null,
    scheduledReadyDate: null,
    planId: null,
    frequencyId: null,
    efacturaStatus: 'NOT_VALIDATED',
    loginStatus: 'NOT_ATTEMPTED',
    permissions: [],
    lastValidatedAt: null,
    sealedLogin: null,
    expiriesToldAt: null,
    createdAt: new Date(),
    ...values,
  });
  return rut;
}

/** All that the five facts ask of the enterprise itself. */
const COMPLETE = {
  status: 'READY',
  scheduledReadyDate: new Date('2026-01-01T03:00:00Z'),
  planId: 'FREE',
  frequencyId: 'MONTHLY',
  efacturaStatus: 'VALID',
  loginStatus: 'SUCCESS',
  permissions: ['HOMO', 'PROD'],
} as const satisfies Partial<Omit<Enterprise, symbol>>;

/** An enterprise that may issue: READY, with a certificate and the CAEs asked for (one of each type unless told). */
export async function aReadyEnterprise(
  orm: Orm,
  ownerAccountId: string,
  wishes: { caes?: CaeRowWishes[]; values?: Partial<Omit<Enterprise, symbol>> } = {},
): Promise<string> {
  const rut = await anEnterprise(orm, ownerAccountId, {
    ...COMPLETE,
    permissions: ['HOMO', 'PROD'],
    ...wishes.values,
  });
  await giveCertificate(orm, rut);
  for (const cae of wishes.caes ?? CFE_TYPE_NAMES.map((type) => ({ type }))) await giveCae(orm, rut, cae);
  return rut;
}
