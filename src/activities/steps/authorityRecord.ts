import type { SobreOfCfe } from '../../db/sobres.ts';
import type { SobreTicket } from '../../dgi/client.ts';
import { type Unclear, unclear } from '../../dgi/outcomes.ts';
import type { FinalStatus } from '../../domain/cfeStatus.ts';
import type { RejectionReason } from '../../domain/rejection.ts';
import type { StuckReason } from '../../domain/stuckReason.ts';
import type { Authority, PlacedCfe, WrittenSobre } from './authority.ts';

/** What the authority has of a CFE, as far as it can be asked. */
export type AuthorityRecord =
  /** By our own records, and the authority does not say otherwise. */
  | { kind: 'neverSent' }
  /** `idemisor`: of the sobre by which the number is there, where that was told. */
  | ({ kind: 'received'; idemisor?: string } & SobreTicket)
  /** An earlier sobre of ours has the verdict that counts. */
  | { kind: 'original'; idReceptor: string; token: string }
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

/** A CFE that is asked about, with its place in the sobre that it goes in, and what that one is asked about with. */
export interface Recorded extends PlacedCfe {
  readonly ticket: { readonly idReceptor: string | null; readonly token: string | null };
}

/** Asks the authority about a CFE by every way there is; sends nothing. `sobres`: all that it was put into. */
export async function askForRecord(
  authority: Authority,
  cfe: Recorded,
  sobres: readonly SobreOfCfe[],
): Promise<AuthorityRecord> {
  if (sobres.every(({ sendingAt }) => sendingAt === null)) {
    // Another system of the company may have used the number, or we ourselves, before our database was restored.
    const receipt = await authority.findReceipt(cfe);
    return receipt.kind === 'received' || receipt.kind === 'others' ? receipt : { kind: 'neverSent' };
  }
  const underWay = sobres.find(({ state }) => state === 'SENDING' || state === 'RECEIVED');
  if (underWay?.state === 'RECEIVED') return verdictOn(authority, cfe, writtenOf(underWay));
  const listed = underWay
    ? await authority.findSobre(cfe, writtenOf(underWay))
    : ({ kind: 'refused' } as const);
  if (listed.kind !== 'refused' && listed.kind !== 'absent') return listed;
  const receipt = await authority.findReceipt(cfe);
  return receipt.kind === 'absent' ? { kind: listed.kind } : receipt;
}

/** A sobre that was sent, and so has its number. */
function writtenOf(sobre: SobreOfCfe): WrittenSobre {
  const { idemisor, environment, createdAt, sendingAt } = sobre;
  if (idemisor === null) throw new TypeError(`sobre ${sobre.id} was sent without a number`);
  return { idemisor, environment, createdAt, sendingAt };
}

/** The authority signed for the sobre: it counts as there, whatever a list may say. */
async function verdictOn(authority: Authority, cfe: Recorded, sobre: WrittenSobre): Promise<AuthorityRecord> {
  const answers = await authority.askVerdicts([cfe], cfe.ticket);
  const answer = answers.kind === 'answered' ? answers.outcomes[0] : answers;
  switch (answer?.kind) {
    case undefined:
      throw new TypeError('no outcome for the CFE that was asked about');
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
      const isSame = receipt.kind === 'received' && receipt.idReceptor === cfe.ticket.idReceptor;
      // Our sobre was taken for an older one of its number, from before the database was restored.
      if (isSame && answer.reason === 'verdict.other_cfe') return { kind: 'others' };
      // The very sobre that was asked about says no more than it said.
      return receipt.kind === 'absent' || isSame ? answer : receipt;
    }
    case 'original':
    case 'verdict':
    case 'repeat':
      return answer;
  }
}
