import type { EntityManager } from '@mikro-orm/postgresql';
import { branchToIssueFrom } from '../db/branches.ts';
import { caesForNumbers } from '../db/caes.ts';
import { currentCertificate } from '../db/certificates.ts';
import { findEnterprise } from '../db/enterprises.ts';
import type { Branch } from '../db/entities/Branch.ts';
import type { Cfe } from '../db/entities/Cfe.ts';
import type { Enterprise } from '../db/entities/Enterprise.ts';
import type { RequestKey } from '../db/idempotency.ts';
import { lockOriginal } from '../db/originals.ts';
import { uiValueFor } from '../db/uiValues.ts';
import { chooseCae, exemptTaxpayerFaults, noneLeft } from '../domain/cae.ts';
import { type CfeReading, readCfeRequest, referencedCfe } from '../domain/cfeReading.ts';
import type { Environment } from '../domain/cfeTypes.ts';
import { checkCfe } from '../domain/checkCfe.ts';
import { unknownBranch } from '../domain/enterpriseRules.ts';
import { limited } from '../domain/faults.ts';
import { montevideoDate } from '../domain/montevideo.ts';
import { type Fault, invalidInput, Refusal } from '../errors.ts';
import { failpoint } from '../failpoints.ts';
import type { CommandDeps } from './steps/deps.ts';
import { issuerFaults } from './steps/issuerFaults.ts';
import { type Draft, numberCfe } from './steps/numberCfe.ts';

export interface IssueCfeInput {
  /** The calling account. */
  accountId: string;
  rut: string;
  environment: Environment;
  /** The body as it was read from JSON, numbers as `JsonNumber`. */
  body: unknown;
  /** Kept on the row of the CFE, for ever; the caller has made sure by `runOnce` that it is new. */
  idempotency?: RequestKey | null;
}

/**
 * Issues a CFE: judges the request by every rule, takes the next number and stores the CFE, PENDING, with the start
 * of its workflow, all in one transaction. Refuses with every fault at once (INVALID_INPUT), and then no number is
 * taken; an unknown RUT is NOT_FOUND.
 */
export async function issueCfe(deps: CommandDeps, input: IssueCfeInput): Promise<Cfe> {
  failpoint('issue.begun');
  const cfe = await deps.orm.em.fork().transactional(async (em) => {
    const draft = await judge(em, deps, input);
    return numberCfe(em, deps.clock, draft);
  });
  deps.outbox.dispatchSoon();
  return cfe;
}

async function judge(em: EntityManager, deps: CommandDeps, input: IssueCfeInput): Promise<Draft> {
  const { accountId, rut, environment, body, idempotency = null } = input;
  const now = deps.clock();
  const today = montevideoDate(now);
  const enterprise = await findEnterprise(em, rut);
  if (!enterprise) throw new Refusal('NOT_FOUND', `No enterprise with RUT ${rut} is registered.`);
  const certificate = await currentCertificate(em, rut, environment);
  const ofIssuer = await issuerFaults(em, { enterprise, certificate, environment, now });

  const reading = readCfeRequest(body, today);
  const branch = await branchNamed(em, enterprise, reading, now);
  const named = referencedCfe(reading);
  const original = named && (await lockOriginal(em, { rut, environment, ...named }));
  const uiValue = await uiValueOn(em, reading.parts.emission_date ?? today);
  const checked = checkCfe(reading, { today, uiValue, original });

  if (ofIssuer.length > 0 || !certificate || !checked.ok || branch.faults.length > 0) {
    const ofRequest = checked.ok ? [] : checked.faults;
    const ofCae = await caeFaults(em, { rut, environment, today }, reading);
    throw invalidInput(limited([...ofIssuer, ...ofRequest, ...branch.faults, ...ofCae]));
  }
  const { content, otherExtra } = checked;
  return {
    accountId,
    environment,
    enterprise,
    certificate,
    branch: branch.found,
    content,
    otherExtra,
    original: original ?? null,
    idempotency,
  };
}

/** The branch that the request names where it is not the first: locked as long as the transaction is open. */
async function branchNamed(
  em: EntityManager,
  enterprise: Enterprise,
  { parts }: CfeReading,
  now: Date,
): Promise<{ found: Branch | null; faults: Fault[] }> {
  const branch = parts['extra.branch'];
  if (branch === undefined || branch === enterprise.branch) return { found: null, faults: [] };
  const found = await branchToIssueFrom(em, { rut: enterprise.rut, branch }, now);
  return { found, faults: found ? [] : [unknownBranch(branch)] };
}

/** The UI value for a document of that date. The first migration loads one, so a table without any is a mistake. */
async function uiValueOn(em: EntityManager, emissionDate: string) {
  const row = await uiValueFor(em, Number(emissionDate.slice(0, 4)));
  if (!row) throw new Error('no UI value is loaded');
  return row;
}

/**
 * What speaks against the CAE that would give the number, for a request that is refused anyway: all faults are told
 * at once. Nothing is locked, so this is a look, not a decision.
 */
async function caeFaults(
  em: EntityManager,
  at: { rut: string; environment: Environment; today: string },
  { parts }: CfeReading,
): Promise<Fault[]> {
  const type = parts.cfe_type;
  if (type === undefined) return [];
  const cae = chooseCae(await caesForNumbers(em, { ...at, type }), at.today);
  if (!cae) return [noneLeft(type)];
  const lines = (parts.kinds ?? []).map(({ iva_type }) => ({ ivaType: iva_type }));
  return exemptTaxpayerFaults(cae.specialKind ?? null, lines);
}
