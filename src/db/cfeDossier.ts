/** All that is known of one CFE for whoever looks after it: where it stands, what comes next, what was done. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { apiKeyPrefix } from '../crypto/apiKeys.ts';
import type { AttemptSummary } from '../domain/attempt.ts';
import { formatCfeId } from '../domain/cfeId.ts';
import { type CfeFacts, fittingActions, type NextStep, nextStep } from '../domain/cfeStanding.ts';
import { type CfeStatus, isFinal } from '../domain/cfeStatus.ts';
import { acceptableUntil } from '../domain/rejection.ts';
import type { StuckReason } from '../domain/stuckReason.ts';
import type { SupportAction } from '../domain/supportAction.ts';
import { listAttemptsOfCfe } from './attempts.ts';
import { listAudit } from './audit.ts';
import { listEndpointStates } from './authorityEndpoints.ts';
import type { AuditEntry } from './entities/operations.ts';
import type { ApiKey } from './entities/people.ts';
import { Cfe } from './entities/receipts.ts';
import { isNumberUndecided } from './numbers.ts';
import { findQueuePosition, listSobresOfCfe, type SobreOfCfe } from './sobres.ts';

const MOST_ACTS = 100;

/** A time during which a CFE waited for a person. */
export interface StuckMoment {
  readonly reason: StuckReason;
  readonly since: Date;
  /** Null while it lasts. */
  readonly until: Date | null;
}

/** An API key as far as people know it. */
export type RequestingKey = Pick<ApiKey, 'id' | 'accountId' | 'publicId' | 'environment' | 'label'>;

export interface CfeDossier {
  readonly next: NextStep;
  /** When that is, or until when, as far as it is known. */
  readonly nextAt: Date | null;
  /** Since when it stands so. */
  readonly since: Date;
  /** The API key by which it was asked for; null where there was none. */
  readonly askedBy: RequestingKey | null;
  readonly actions: readonly SupportAction[];
  /** The CFE that it corrects. */
  readonly original: { readonly cfeId: string; readonly status: CfeStatus } | null;
  /** How many of its enterprise are before it, where it waits to be put into a sobre. */
  readonly ahead: number | null;
  /** Since when the service that it needs next is away. */
  readonly awaySince: Date | null;
  readonly stuck: readonly StuckMoment[];
  readonly attempts: readonly AttemptSummary[];
  /** Oldest first. */
  readonly sobres: readonly SobreOfCfe[];
  /** What people did to it, oldest first. */
  readonly acts: readonly AuditEntry[];
}

/** An API key as people know it: its beginning, its label, its id. */
export const formatRequestingKey = (key: RequestingKey): string =>
  [`${apiKeyPrefix(key)}…`, key.label, key.id].filter(Boolean).join(' · ');

/** The dossier of a CFE at this moment. */
export async function readCfeDossier(em: EntityManager, cfe: Cfe): Promise<CfeDossier> {
  const [isUndecided, stuck, attempts, sobres, acts, original, ahead, service, askedBy] = await Promise.all([
    cfe.status === 'REJECTED' ? isNumberUndecided(em.fork(), cfe.id) : false,
    stuckMoments(em.fork(), cfe.id),
    listAttemptsOfCfe(em.fork(), cfe.id),
    listSobresOfCfe(em.fork(), cfe.id),
    listAudit(em.fork(), { subject: cfe.id }, MOST_ACTS),
    cfe.referenceId === null ? null : em.fork().findOne(Cfe, { id: cfe.referenceId }),
    isFinal(cfe.status) ? null : findQueuePosition(em.fork(), cfe.id),
    isFinal(cfe.status) ? null : serviceOf(em.fork(), cfe),
    keyThatAsked(em.fork(), cfe.id),
  ]);
  const facts: CfeFacts = {
    status: cfe.status,
    stuckReason: cfe.stuckReason,
    isSigned: cfe.digest !== null,
    isNumberUndecided: isUndecided,
  };
  const awaySince = service?.openSince ?? null;
  const slot = sobres.find(({ id }) => id === cfe.sobreId)?.slot ?? null;
  const next = nextStep(facts, {
    originalStatus: original?.status ?? null,
    isAuthorityAway: awaySince !== null,
    isQueued: cfe.status === 'PENDING' && slot === null,
  });
  return {
    next,
    nextAt: momentOf(next, { cfe, attempts, sobres, slot, probeAt: service?.nextProbeAt ?? null }),
    since: standsSince(cfe, stuck, sobres),
    askedBy,
    actions: fittingActions(facts),
    original: original && { cfeId: formatCfeId(original), status: original.status },
    ahead,
    awaySince,
    stuck,
    attempts,
    sobres,
    acts,
  };
}

async function keyThatAsked(em: EntityManager, cfeUuid: string): Promise<RequestingKey | null> {
  const [key] = await em.execute<RequestingKey[]>(
    `select key.id, key.account_id as "accountId", public_id as "publicId", key.environment, label
     from cfe join api_key key on key.id = cfe.key_id where cfe.id = ?`,
    [cfeUuid],
  );
  return key ?? null;
}

async function stuckMoments(em: EntityManager, cfeUuid: string): Promise<StuckMoment[]> {
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

/** The service that a CFE on its way needs next: verdicts are asked for where sobres are received. */
async function serviceOf(em: EntityManager, { environment }: Cfe) {
  const states = await listEndpointStates(em);
  return states.find(({ endpoint }) => endpoint === `${environment}/reception`) ?? null;
}

function momentOf(
  next: NextStep,
  of: Pick<CfeDossier, 'attempts' | 'sobres'> & { cfe: Cfe; slot: Date | null; probeAt: Date | null },
): Date | null {
  if (next === 'portal') return acceptableUntil(of.cfe);
  if (next === 'authority') return of.probeAt;
  if (next !== 'send' && next !== 'ask') return null;
  const [last] = of.attempts.toSorted((a, b) => b.lastAt.getTime() - a.lastAt.getTime());
  return last?.nextAt ?? of.slot ?? of.sobres.at(-1)?.askFrom ?? null;
}

function standsSince(cfe: Cfe, stuck: readonly StuckMoment[], sobres: readonly SobreOfCfe[]): Date {
  const open = cfe.stuckReason === null ? undefined : stuck.find(({ until }) => until === null);
  const received =
    cfe.status === 'RECEIVED' ? sobres.findLast(({ receivedAt }) => receivedAt !== null) : undefined;
  return open?.since ?? cfe.settledAt ?? received?.receivedAt ?? cfe.createdAt;
}

/** One thing that happened to a CFE. */
export interface CfeHistoryEntry {
  at: string;
  what: string;
}

/** What happened to a CFE, oldest first, as its rows tell. */
export async function readCfeHistory(em: EntityManager, cfe: Cfe): Promise<CfeHistoryEntry[]> {
  const sobres = (await listSobresOfCfe(em, cfe.id)).filter(({ idemisor }) => idemisor !== null);
  const happenings = [
    { at: cfe.createdAt, what: 'numbered' },
    ...sobres.flatMap(({ idemisor, createdAt, sendingAt, receivedAt, state }) => [
      { at: createdAt, what: `sobre ${idemisor} made` },
      { at: sendingAt, what: `sobre ${idemisor} ${state === 'REFUSED' ? 'sent, and refused' : 'sent'}` },
      { at: receivedAt, what: `sobre ${idemisor} received by the authority` },
    ]),
    { at: cfe.settledAt, what: cfe.status.toLowerCase() },
  ];
  return happenings
    .flatMap(({ at, what }) => (at ? [{ at: at.toISOString(), what }] : []))
    .toSorted((a, b) => a.at.localeCompare(b.at));
}
