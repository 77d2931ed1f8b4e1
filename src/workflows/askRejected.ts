import { setCurrentDetails } from '@temporalio/workflow';
import type { SupportAct } from '../activities/activities.ts';
import type { RejectedResult } from '../domain/activityResults.ts';
import type { SupportAnswer } from '../domain/supportAction.ts';
import { activity } from './activities.ts';
import { AUTHORITY_LONG, SUPPORT } from './options.ts';

const askAboutAll = activity('askRejected', {
  ...AUTHORITY_LONG,
  summary: 'Ask whether the authority has accepted what it rejected for E06',
});
const supportCfe = activity('supportCfe', { ...SUPPORT, summary: 'Do what support asks for' });

/**
 * Asks about CFEs that were rejected for E06 alone (docs/contract.md#rejected-for-e06): about all of them, once a day, as
 * the schedule `rejected` starts it; or about one at once, as support asks. Ends with what came of it.
 */
export async function askRejected(act?: SupportAct): Promise<Omit<RejectedResult, 'kind'> | SupportAnswer> {
  if (act) {
    setCurrentDetails('Asking about one CFE that was rejected for E06, as support wants.');
    const { kind: outcome, ...said } = await supportCfe(act);
    setCurrentDetails(`Ended: ${said.message}`);
    return { outcome, ...said };
  }
  setCurrentDetails('Asking about the CFEs that were rejected for E06 alone.');
  const { kind: _, ...counts } = await askAboutAll();
  setCurrentDetails(
    `Ended: accepted: ${counts.accepted}, annulled: ${counts.annulled}, still undecided: ${counts.undecided}, without an answer: ${counts.unanswered}.`,
  );
  return counts;
}
