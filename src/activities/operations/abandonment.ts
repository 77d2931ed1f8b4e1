import type { SobreOfCfe } from '../../db/authority/sobres.ts';
import type { Cfe } from '../../db/entities/receipts.ts';
import { DEADLINES } from '../../domain/authority/deadlines.ts';
import type { StuckReason } from '../../domain/authority/stuckReason.ts';
import type { RefusalReason } from '../../domain/operations/supportRefusal.ts';
import { refusalOf } from '../../words/refusals.ts';
import type { AuthorityRecord } from '../authority/authorityRecord.ts';

/** Why an action is refused, for people and as a code. */
export interface Obstacle {
  readonly message: string;
  readonly why: RefusalReason;
}

/** With these reasons the authority answered the last send, and kept nothing of it. */
const REFUSED_AT_THE_LAST_SEND: readonly (StuckReason | null)[] = [
  'sobre.unknown_refusal',
  'sobre.refused_without_reasons',
];

/**
 * Returns why the CFE may not be abandoned; null if the authority surely does not have it
 * (docs/decisions/numbering.md#when-support-may-abandon-a-cfe). `record`: as of `askedAt`; `sobres`: all sobres of the CFE.
 */
export function findAbandonObstacle(
  record: AuthorityRecord,
  { cfe, sobres, askedAt }: { cfe: Cfe; sobres: readonly SobreOfCfe[]; askedAt: Date },
): Obstacle | null {
  switch (record.kind) {
    case 'neverSent':
      return null;
    case 'others':
      return isSharedAndUnderWay(cfe, sobres) ? refuseWhileListLags(sobres, askedAt) : null;
    case 'refused':
      return REFUSED_AT_THE_LAST_SEND.includes(cfe.stuckReason) ? null : refuseWhileListLags(sobres, askedAt);
    case 'absent':
      return refuseWhileListLags(sobres, askedAt);
    case 'received':
    case 'original':
    case 'verdict':
    case 'undecided':
      return refusalOf('held');
    case 'repeat':
    case 'stuck':
      return describeObstacle(record);
  }
}

/** Returns whether the other CFEs of the sobre would be sent again although the sobre may have arrived. */
const isSharedAndUnderWay = ({ sobreId }: Cfe, sobres: readonly SobreOfCfe[]): boolean =>
  sobres.some(({ id, size, state }) => id === sobreId && size > 1 && state === 'SENDING');

/** Refuses for some time after the last send, because the authority may list a sobre late. */
function refuseWhileListLags(sobres: readonly SobreOfCfe[], askedAt: Date): Obstacle | null {
  const lastSent = Math.max(...sobres.map(({ sendingAt }) => sendingAt?.getTime() ?? 0));
  const from = lastSent + DEADLINES.listLag;
  if (askedAt.getTime() >= from) return null;
  return refusalOf('lately_sent', new Date(from).toISOString());
}

/** Describes the authority's record after an action that changed nothing, and the next options of support. */
export function describeObstacle(
  record: Exclude<AuthorityRecord, { kind: 'received' | 'original' | 'verdict' | 'undecided' }>,
): Obstacle {
  switch (record.kind) {
    case 'neverSent':
      return refusalOf('never_sent');
    case 'others':
      return refusalOf('others');
    case 'refused':
      return refusalOf('sobre_refused');
    case 'absent':
      return refusalOf('absent');
    case 'repeat':
      return refusalOf('no_answer', record.description);
    case 'stuck':
      return { message: record.explanation, why: { code: 'stuck', value: record.reason } };
  }
}
