import type { Sobre } from '../../db/entities/authority.ts';
import type { Cfe } from '../../db/entities/receipts.ts';
import type { SobreTicket } from '../../dgi/client.ts';
import { type Unclear, unclear } from '../../dgi/outcomes.ts';
import type { FinalStatus } from '../../domain/cfeStatus.ts';
import type { RejectionReason } from '../../domain/rejection.ts';
import type { StuckReason } from '../../domain/stuckReason.ts';
import type { Authority } from './authority.ts';

/** What the authority has of a CFE, as far as it can be asked. */
export type AuthorityRecord =
  /** By our own records, and the authority does not say otherwise. */
  | { kind: 'neverSent' }
  | ({ kind: 'received' } & SobreTicket)
  | { kind: 'verdict'; status: FinalStatus; reasons: RejectionReason[] }
  | { kind: 'undecided' }
  /** The number is there, from a sobre that is not ours. */
  | { kind: 'others' }
  /** It refused the sobre, and does not have the number. */
  | { kind: 'refused' }
  /** It has neither the sobre nor the number. */
  | { kind: 'absent' }
  | Unclear;

/** Stuck for these reasons, the number may be there from a sobre that is not ours. */
const NUMBER_OF_OTHERS: readonly StuckReason[] = ['duplicate.not_ours', 'verdict.other_cfe'];

/** Asks the authority about a CFE by every way there is; sends nothing. `sobres`: all of the CFE, the last one first. */
export async function askForRecord(
  authority: Authority,
  cfe: Cfe,
  sobres: readonly Sobre[],
): Promise<AuthorityRecord> {
  if (sobres.every(({ sendingAt }) => sendingAt === null)) {
    // Another system of the company may have used the number, or we ourselves, before our database was restored.
    const receipt = await authority.findReceipt(cfe);
    return receipt.kind === 'received' || receipt.kind === 'others' ? receipt : { kind: 'neverSent' };
  }
  const underWay = sobres.find(({ state }) => state === 'SENDING' || state === 'RECEIVED');
  if (underWay?.state === 'RECEIVED') return verdictOn(authority, cfe, underWay);
  const listed = underWay ? await authority.findSobre(cfe, underWay) : ({ kind: 'refused' } as const);
  if (listed.kind !== 'refused' && listed.kind !== 'absent') return listed;
  const receipt = await authority.findReceipt(cfe);
  return receipt.kind === 'absent' ? { kind: listed.kind } : receipt;
}

/** The authority signed for the sobre: it counts as there, whatever a list may say. */
async function verdictOn(authority: Authority, cfe: Cfe, sobre: Sobre): Promise<AuthorityRecord> {
  const answer = await authority.askVerdict(cfe, sobre);
  switch (answer.kind) {
    case 'original':
      return { ...answer, kind: 'received', askFrom: null };
    case 'notYet':
      return { kind: 'undecided' };
    case 'recover': {
      const found = await authority.findSobre(cfe, sobre);
      return found.kind === 'absent' || found.kind === 'refused'
        ? unclear('find', 'signed for and not listed', 'it signed for the sobre and does not find it now')
        : found;
    }
    case 'stuck': {
      if (!NUMBER_OF_OTHERS.includes(answer.reason)) return answer;
      const receipt = await authority.findReceipt(cfe);
      const isSame = receipt.kind === 'received' && receipt.idReceptor === sobre.idReceptor;
      // Our sobre was taken for an older one of its number, from before the database was restored.
      if (isSame && answer.reason === 'verdict.other_cfe') return { kind: 'others' };
      // The very sobre that was asked about says no more than it said.
      return receipt.kind === 'absent' || isSame ? answer : receipt;
    }
    case 'verdict':
    case 'repeat':
      return answer;
  }
}
