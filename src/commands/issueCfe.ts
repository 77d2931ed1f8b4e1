import type { EntityManager } from '@mikro-orm/postgresql';
import { branchToIssueFrom } from '../db/branches.ts';
import type { Branch } from '../db/entities/Branch.ts';
import type { CfeRow } from '../db/entities/Cfe.ts';
import type { Enterprise } from '../db/entities/Enterprise.ts';
import type { RequestKey } from '../db/idempotency.ts';
import { type IssueFacts, issueFacts, NumbersGone } from '../db/issue.ts';
import { type LockedOriginal, lockOriginal } from '../db/originals.ts';
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
  /** Kept on the row of the CFE, for ever. */
  idempotency?: RequestKey | null;
  /** X-Request-Id, by which the CFE can be found. */
  requestId?: string | null;
}

/**
 * Issues a CFE: judges the request by every rule, then takes the next number and stores the CFE, PENDING, with the start
 * of its workflow, in one statement. Refuses with every fault at once (INVALID_INPUT), and then no number is taken; an
 * unknown RUT is NOT_FOUND. Throws KeyTaken where the key stands for something already.
 */
export async function issueCfe(deps: CommandDeps, input: IssueCfeInput): Promise<CfeRow> {
  failpoint('issue.begun');
  const cfe = await issueWhileNumbersLast(deps, input);
  failpoint('issue.stored');
  deps.outbox.dispatchSoon();
  return cfe;
}

/** Where others took the last numbers of the CAE since the request was judged, it is judged anew: by what is left. */
async function issueWhileNumbersLast(deps: CommandDeps, input: IssueCfeInput): Promise<CfeRow> {
  for (;;) {
    try {
      return await issueOnce(deps, input);
    } catch (error) {
      if (!(error instanceof NumbersGone)) throw error;
    }
  }
}

/**
 * A note locks the CFE that it corrects, and a CFE of a further branch that branch, from before it is judged until it is
 * stored: that takes a transaction.
 */
function issueOnce(deps: CommandDeps, input: IssueCfeInput): Promise<CfeRow> {
  const now = deps.clock();
  const reading = readCfeRequest(input.body, montevideoDate(now));
  const named = referencedCfe(reading);
  const em = deps.orm.em.fork();
  if (!named && reading.parts['extra.branch'] === undefined) {
    return judgeAndNumber(em, { input, reading, now, original: undefined });
  }
  const { rut, environment } = input;
  return em.transactional(async (em) => {
    const original = named && (await lockOriginal(em, { rut, environment, ...named }));
    return judgeAndNumber(em, { input, reading, now, original });
  });
}

interface Request {
  readonly input: IssueCfeInput;
  readonly reading: CfeReading;
  readonly now: Date;
  /** The CFE that it refers to: null when there is none of that cfe_id, undefined when it names none. */
  readonly original: LockedOriginal | null | undefined;
}

async function judgeAndNumber(em: EntityManager, request: Request): Promise<CfeRow> {
  const draft = await judge(em, request);
  failpoint('issue.judged');
  return numberCfe(em, draft);
}

async function judge(em: EntityManager, { input, reading, now, original }: Request): Promise<Draft> {
  const { accountId, rut, environment, idempotency = null, requestId = null } = input;
  const today = montevideoDate(now);
  const { cfe_type: type = null, emission_date: emissionDate = today } = reading.parts;
  const year = Number(emissionDate.slice(0, 4));
  const facts = await issueFacts(em, { rut, environment, type, today, year });
  if (!facts) throw new Refusal('NOT_FOUND', `No enterprise with RUT ${rut} is registered.`);
  const { enterprise, certificate, uiValue } = facts;
  // The first migration loads one.
  if (!uiValue) throw new Error('no UI value is loaded');

  const ofIssuer = await issuerFaults(em, { enterprise, certificate, environment, now });
  const branch = await branchNamed(em, enterprise, reading, now);
  const checked = checkCfe(reading, { today, uiValue, original });
  const { cae, faults: ofCae } = judgeCae(facts, reading, today);
  const faults = [...ofIssuer, ...(checked.ok ? [] : checked.faults), ...branch.faults, ...ofCae];
  if (faults.length > 0 || !certificate || !checked.ok || !cae) throw invalidInput(limited(faults));
  const { content, otherExtra } = checked;
  return {
    accountId,
    environment,
    enterprise,
    certificate,
    branch: branch.found,
    cae,
    content,
    otherExtra,
    original: original ?? null,
    idempotency,
    requestId,
    now,
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

/** The CAE that gives the next number, and what speaks against it; neither where the request names no type. */
function judgeCae({ caes }: IssueFacts, { parts }: CfeReading, today: string) {
  const faults: Fault[] = [];
  const cae = chooseCae(caes, today);
  if (!cae && parts.cfe_type !== undefined) faults.push(noneLeft(parts.cfe_type));
  const lines = (parts.kinds ?? []).map(({ iva_type }) => ({ ivaType: iva_type }));
  if (cae) faults.push(...exemptTaxpayerFaults(cae.specialKind, lines));
  return { cae, faults };
}
