import type { SobreOfCfe } from '../../db/authority/sobres.ts';
import type { SobreTicket } from '../../dgi/client.ts';
import { classifyUnclear, type Unclear } from '../../dgi/outcomes.ts';
import type { StuckReason } from '../../domain/authority/stuckReason.ts';
import type { FinalStatus } from '../../domain/receipts/cfeStatus.ts';
import type { RejectionReason } from '../../domain/receipts/rejection.ts';
import type { Authority, PlacedCfe, WrittenSobre } from './authority.ts';

/** The authority's record of a CFE, as far as queries show. */
export type AuthorityRecord =
  /** According to our rows, and the authority knows nothing else. */
  | { kind: 'neverSent' }
  /** `idemisor`: the number of the sobre with the CFE, if the authority gave it. */
  | ({ kind: 'received'; idemisor?: string } & SobreTicket)
  /** An earlier sobre of ours has the verdict. */
  | { kind: 'original'; idReceptor: string; token: string }
  | { kind: 'verdict'; status: FinalStatus; reasons: RejectionReason[] }
  | { kind: 'undecided' }
  /** The authority has the number from another system's sobre. */
  | { kind: 'others' }
  /** The authority refused the sobre and does not have the number. */
  | { kind: 'refused' }
  /** The authority has neither the sobre nor the number. */
  | { kind: 'absent' }
  | Unclear;

/** Reasons that may mean: the authority has the number from another system's sobre. */
const NUMBER_OF_OTHERS: readonly StuckReason[] = ['duplicate.not_ours', 'verdict.other_cfe'];

/** A CFE with its position in its sobre and the ticket for queries. */
export interface RecordedCfe extends PlacedCfe {
  readonly ticket: { readonly idReceptor: string | null; readonly token: string | null };
}

/** Asks the authority about a CFE in every possible way; sends nothing. `sobres`: all sobres that ever contained the CFE. */
export async function askForRecord(
  authority: Authority,
  cfe: RecordedCfe,
  sobres: readonly SobreOfCfe[],
): Promise<AuthorityRecord> {
  if (sobres.every(({ sendingAt }) => sendingAt === null)) {
    // Another system of the company may have used the number, or we may have before our database was restored.
    const receipt = await authority.findReceipt(cfe);
    return receipt.kind === 'received' || receipt.kind === 'others' ? receipt : { kind: 'neverSent' };
  }
  const underWay = sobres.find(({ state }) => state === 'SENDING' || state === 'RECEIVED');
  if (underWay?.state === 'RECEIVED') return recordOfVerdict(authority, cfe, toWrittenSobre(underWay));
  const listed = underWay
    ? await authority.findSobre(cfe, toWrittenSobre(underWay))
    : ({ kind: 'refused' } as const);
  if (listed.kind !== 'refused' && listed.kind !== 'absent') return listed;
  const receipt = await authority.findReceipt(cfe);
  return receipt.kind === 'absent' ? { kind: listed.kind } : receipt;
}

/** Converts a sent sobre, which always has a number. */
function toWrittenSobre(sobre: SobreOfCfe): WrittenSobre {
  const { idemisor, environment, createdAt, sendingAt } = sobre;
  if (idemisor === null) throw new TypeError(`sobre ${sobre.id} was sent without a number`);
  return { idemisor, environment, createdAt, sendingAt };
}

/** Returns the record of a CFE in an acknowledged sobre, which counts as received even if the list omits it. */
async function recordOfVerdict(
  authority: Authority,
  cfe: RecordedCfe,
  sobre: WrittenSobre,
): Promise<AuthorityRecord> {
  const answers = await authority.askVerdicts([cfe], cfe.ticket);
  const answer = answers.kind === 'answered' ? answers.outcomes[0] : answers;
  switch (answer?.kind) {
    case undefined:
      throw new TypeError('no outcome for the CFE that was asked about');
    case 'notYet':
      return { kind: 'undecided' };
    case 'recover': {
      const sobreAnswer = await authority.findSobre(cfe, sobre);
      return sobreAnswer.kind === 'absent' || sobreAnswer.kind === 'refused'
        ? classifyUnclear(
            'find',
            'signed for and not listed',
            'it signed for the sobre and does not find it now',
          )
        : sobreAnswer;
    }
    case 'stuck': {
      if (!NUMBER_OF_OTHERS.includes(answer.reason)) return answer;
      const receipt = await authority.findReceipt(cfe);
      const isSame = receipt.kind === 'received' && receipt.idReceptor === cfe.ticket.idReceptor;
      // The authority mistook our sobre for an older sobre with its number, from before a restore.
      if (isSame && answer.reason === 'verdict.other_cfe') return { kind: 'others' };
      // The number is in the same sobre, so the first answer counts.
      return receipt.kind === 'absent' || isSame ? answer : receipt;
    }
    case 'original':
    case 'verdict':
    case 'repeat':
      return answer;
  }
}
