import type { Cfe } from '../../db/entities/Cfe.ts';
import type { Sobre } from '../../db/entities/Sobre.ts';
import { DEADLINES } from '../../domain/deadlines.ts';
import type { StuckReason } from '../../domain/stuckReason.ts';
import type { AuthorityRecord } from './authorityRecord.ts';

/** Stuck for these reasons, the last send was answered, and nothing of it was kept. */
const REFUSED_AT_THE_LAST_SEND: readonly (StuckReason | null)[] = [
  'sobre.unknown_refusal',
  'sobre.refused_without_reasons',
];

/**
 * Why the CFE may not be abandoned; null while the authority surely does not have it (docs/decisions/0017). `record` is
 * what it had at `askedAt`, `sobres` all that were made for the CFE.
 */
export function whyNotAbandoned(
  record: AuthorityRecord,
  { cfe, sobres, askedAt }: { cfe: Cfe; sobres: readonly Sobre[]; askedAt: Date },
): string | null {
  switch (record.kind) {
    case 'neverSent':
    case 'others':
      return null;
    case 'refused':
      return REFUSED_AT_THE_LAST_SEND.includes(cfe.stuckReason) ? null : whileListLags(sobres, askedAt);
    case 'absent':
      return whileListLags(sobres, askedAt);
    case 'received':
    case 'verdict':
    case 'undecided':
      return 'The authority has it, so it cannot be abandoned: settle by asking.';
    case 'repeat':
    case 'stuck':
      return whatSupportMayDo(record);
  }
}

/** A sobre that the authority does not list may be listed yet, for some time after the last send. */
function whileListLags(sobres: readonly Sobre[], askedAt: Date): string | null {
  const lastSent = Math.max(...sobres.map(({ sendingAt }) => sendingAt?.getTime() ?? 0));
  const from = lastSent + DEADLINES.listLag;
  if (askedAt.getTime() >= from) return null;
  return `The authority does not find it, but was sent it a moment ago and may find it yet: ask again from ${new Date(from).toISOString()} on.`;
}

/** What an act of support that changed nothing has found, and what may be done next. */
export function whatSupportMayDo(
  record: Exclude<AuthorityRecord, { kind: 'received' | 'verdict' | 'undecided' }>,
): string {
  switch (record.kind) {
    case 'neverSent':
      return 'It was never sent, so there is nothing to ask about: retry, or abandon it.';
    case 'others':
      return 'The authority has its number from a sobre that is not ours. Find out who used it; then abandon the CFE and issue it anew.';
    case 'refused':
      return 'The authority refused the sobre and does not have the number: retry, or abandon it.';
    case 'absent':
      return 'The authority has neither the sobre nor the number: retry, or abandon it.';
    case 'repeat':
      return `The authority gave no answer to go by (${record.what}); nothing was changed. Ask again later.`;
    case 'stuck':
      return record.explanation;
  }
}
