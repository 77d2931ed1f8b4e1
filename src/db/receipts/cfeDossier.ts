/** Everything that support needs to know about one CFE: its state, the next step, and its history. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { apiKeyPrefix } from '../../crypto/apiKeys.ts';
import type { AttemptSummary } from '../../domain/authority/attempt.ts';
import type { StuckReason } from '../../domain/authority/stuckReason.ts';
import {
  allowedSupportActions,
  type CfeProgress,
  type NextStep,
  nextStepOfCfe,
} from '../../domain/operations/cfeProgress.ts';
import type { SupportAction } from '../../domain/operations/supportAction.ts';
import { formatCfeId } from '../../domain/receipts/cfeId.ts';
import { type CfeStatus, isFinal } from '../../domain/receipts/cfeStatus.ts';
import { acceptableUntil } from '../../domain/receipts/rejection.ts';
import { listAttemptsOfCfe } from '../authority/attempts.ts';
import { listEndpointStates } from '../authority/authorityEndpoints.ts';
import { findQueuePosition, listSobresOfCfe, type SobreOfCfe } from '../authority/sobres.ts';
import type { AuditEntry } from '../entities/operations.ts';
import type { ApiKey } from '../entities/people.ts';
import type { Cfe } from '../entities/receipts.ts';
import { isNumberUndecided } from '../numbers/numbers.ts';
import { listAudit } from '../operations/audit.ts';
import { listOriginals } from './references.ts';

const MOST_ACTS = 100;

/** A period in which a CFE waited for support. */
export interface StuckMoment {
  readonly reason: StuckReason;
  readonly since: Date;
  /** Null while it lasts. */
  readonly until: Date | null;
}

/** An API key, without its secret. */
export type RequestingKey = Pick<ApiKey, 'id' | 'accountId' | 'publicId' | 'environment' | 'label'>;

export interface CfeDossier {
  readonly next: NextStep;
  /** When the next step happens, or its deadline, if known. */
  readonly nextAt: Date | null;
  /** Since when it has been in this state. */
  readonly since: Date;
  /** The API key of its request; null if it had none. */
  readonly askedBy: RequestingKey | null;
  readonly actions: readonly SupportAction[];
  /** The CFEs of this service that it refers to. */
  readonly originals: readonly { readonly cfeId: string; readonly status: CfeStatus }[];
  /** How many CFEs of its enterprise are ahead, while it waits for a sobre. */
  readonly ahead: number | null;
  /** Since when the service of its next step has been unavailable. */
  readonly awaySince: Date | null;
  readonly stuck: readonly StuckMoment[];
  readonly attempts: readonly AttemptSummary[];
  /** Oldest first. */
  readonly sobres: readonly SobreOfCfe[];
  /** Actions of people on the CFE, oldest first. */
  readonly acts: readonly AuditEntry[];
}

/** Formats an API key for people: its prefix, label and id. */
export const formatRequestingKey = (key: RequestingKey): string =>
  [`${apiKeyPrefix(key)}…`, key.label, key.id].filter(Boolean).join(' · ');

/** Reads the dossier of a CFE. */
export async function readCfeDossier(em: EntityManager, cfe: Cfe): Promise<CfeDossier> {
  const [isUndecided, stuck, attempts, sobres, acts, originals, ahead, service, askedBy] = await Promise.all([
    cfe.status === 'REJECTED' ? isNumberUndecided(em.fork(), cfe.id) : false,
    listStuckMoments(em.fork(), cfe.id),
    listAttemptsOfCfe(em.fork(), cfe.id),
    listSobresOfCfe(em.fork(), cfe.id),
    listAudit(em.fork(), { subject: cfe.id }, MOST_ACTS),
    listOriginals(em.fork(), cfe.id),
    isFinal(cfe.status) ? null : findQueuePosition(em.fork(), cfe.id),
    isFinal(cfe.status) ? null : findReception(em.fork(), cfe),
    findRequestingKey(em.fork(), cfe.id),
  ]);
  const facts: CfeProgress = {
    status: cfe.status,
    stuckReason: cfe.stuckReason,
    isSigned: cfe.digest !== null,
    isNumberUndecided: isUndecided,
  };
  const awaySince = service?.openSince ?? null;
  const slot = sobres.find(({ id }) => id === cfe.sobreId)?.slot ?? null;
  const next = nextStepOfCfe(facts, {
    originalStatus: originals.find(({ status }) => !isFinal(status))?.status ?? null,
    isAuthorityAway: awaySince !== null,
    isQueued: cfe.status === 'PENDING' && slot === null,
  });
  return {
    next,
    nextAt: findNextMoment(next, { cfe, attempts, sobres, slot, probeAt: service?.nextProbeAt ?? null }),
    since: findStateSince(cfe, stuck, sobres),
    askedBy,
    actions: allowedSupportActions(facts),
    originals: originals.map((one) => ({ cfeId: formatCfeId(one), status: one.status })),
    ahead,
    awaySince,
    stuck,
    attempts,
    sobres,
    acts,
  };
}

async function findRequestingKey(em: EntityManager, cfeUuid: string): Promise<RequestingKey | null> {
  const [key] = await em.execute<RequestingKey[]>(
    `select key.id, key.account_id as "accountId", public_id as "publicId", key.environment, label
     from cfe join api_key key on key.id = cfe.key_id where cfe.id = ?`,
    [cfeUuid],
  );
  return key ?? null;
}

async function listStuckMoments(em: EntityManager, cfeUuid: string): Promise<StuckMoment[]> {
  const rows = await em.execute<{ reason: StuckReason; since: string; until: string | null }[]>(
    'select reason, since, until from stuck_moment where cfe_uuid = ? order by since',
    [cfeUuid],
  );
  return rows.map(({ reason, since, until }) => ({
    reason,
    since: new Date(since),
    until: until === null ? null : new Date(until),
  }));
}

/** Returns the service of the next step: verdicts come from where sobres are received. */
async function findReception(em: EntityManager, { environment }: Cfe) {
  const states = await listEndpointStates(em);
  return states.find(({ endpoint }) => endpoint === `${environment}/reception`) ?? null;
}

function findNextMoment(
  next: NextStep,
  facts: Pick<CfeDossier, 'attempts' | 'sobres'> & { cfe: Cfe; slot: Date | null; probeAt: Date | null },
): Date | null {
  if (next === 'portal') return acceptableUntil(facts.cfe);
  if (next === 'authority') return facts.probeAt;
  if (next !== 'send' && next !== 'ask') return null;
  const [last] = facts.attempts.toSorted((a, b) => b.lastAt.getTime() - a.lastAt.getTime());
  return last?.nextAt ?? facts.slot ?? facts.sobres.at(-1)?.askFrom ?? null;
}

function findStateSince(cfe: Cfe, stuck: readonly StuckMoment[], sobres: readonly SobreOfCfe[]): Date {
  const open = cfe.stuckReason === null ? undefined : stuck.find(({ until }) => until === null);
  const received =
    cfe.status === 'RECEIVED' ? sobres.findLast(({ receivedAt }) => receivedAt !== null) : undefined;
  return open?.since ?? cfe.settledAt ?? received?.receivedAt ?? cfe.createdAt;
}

/** One entry of the history of a CFE. */
export interface CfeHistoryEntry {
  at: string;
  what: string;
}

/** Returns the history of a CFE, oldest first, from its rows. */
export async function readCfeHistory(em: EntityManager, cfe: Cfe): Promise<CfeHistoryEntry[]> {
  const sobres = (await listSobresOfCfe(em, cfe.id)).filter(({ idemisor }) => idemisor !== null);
  const entries = [
    { at: cfe.createdAt, what: 'numbered' },
    ...sobres.flatMap(({ idemisor, createdAt, sendingAt, receivedAt, state }) => [
      { at: createdAt, what: `sobre ${idemisor} made` },
      { at: sendingAt, what: `sobre ${idemisor} ${state === 'REFUSED' ? 'sent, and refused' : 'sent'}` },
      { at: receivedAt, what: `sobre ${idemisor} received by the authority` },
    ]),
    { at: cfe.settledAt, what: cfe.status.toLowerCase() },
  ];
  return entries
    .flatMap(({ at, what }) => (at ? [{ at: at.toISOString(), what }] : []))
    .toSorted((a, b) => a.at.localeCompare(b.at));
}
