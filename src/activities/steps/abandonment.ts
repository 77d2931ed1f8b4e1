import type { Cfe } from '../../db/entities/receipts.ts';
import type { SobreOfCfe } from '../../db/sobres.ts';
import { DEADLINES } from '../../domain/deadlines.ts';
import type { StuckReason } from '../../domain/stuckReason.ts';
import type { Why } from '../../domain/supportRefusal.ts';
import { refusalOf } from '../../domain/words/refusals.ts';
import type { AuthorityRecord } from './authorityRecord.ts';

/** What stands in the way, for people and as a code. */
export interface Obstacle {
  readonly message: string;
  readonly why: Why;
}

/** Stuck for these reasons, the last send was answered, and nothing of it was kept. */
const REFUSED_AT_THE_LAST_SEND: readonly (StuckReason | null)[] = [
  'sobre.unknown_refusal',
  'sobre.refused_without_reasons',
];

/**
 * Why the CFE may not be abandoned; null while the authority surely does not have it
 * (docs/decisions/numbering.md#when-support-may-abandon-a-cfe). `record` is what it had at `askedAt`, `sobres` all that
 * were made for the CFE.
 */
export function findAbandonObstacle(
  record: AuthorityRecord,
  { cfe, sobres, askedAt }: { cfe: Cfe; sobres: readonly SobreOfCfe[]; askedAt: Date },
): Obstacle | null {
  switch (record.kind) {
    case 'neverSent':
      return null;
    case 'others':
      return isSharedAndUnderWay(cfe, sobres) ? whileListLags(sobres, askedAt) : null;
    case 'refused':
      return REFUSED_AT_THE_LAST_SEND.includes(cfe.stuckReason) ? null : whileListLags(sobres, askedAt);
    case 'absent':
      return whileListLags(sobres, askedAt);
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

/** The others of its sobre would go out again, though it may have come in. */
const isSharedAndUnderWay = ({ sobreId }: Cfe, sobres: readonly SobreOfCfe[]): boolean =>
  sobres.some(({ id, size, state }) => id === sobreId && size > 1 && state === 'SENDING');

/** A sobre that the authority does not list may be listed yet, for some time after the last send. */
function whileListLags(sobres: readonly SobreOfCfe[], askedAt: Date): Obstacle | null {
  const lastSent = Math.max(...sobres.map(({ sendingAt }) => sendingAt?.getTime() ?? 0));
  const from = lastSent + DEADLINES.listLag;
  if (askedAt.getTime() >= from) return null;
  return refusalOf('lately_sent', new Date(from).toISOString());
}

/** What an act of support that changed nothing has found, and what may be done next. */
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
      return refusalOf('no_answer', record.what);
    case 'stuck':
      return { message: record.explanation, why: { code: 'stuck', value: record.reason } };
  }
}
