import {
  condition,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  upsertSearchAttributes,
} from '@temporalio/workflow';
import type { CfeActivities } from '../activities/cfes.ts';
import type { DgiActivities } from '../activities/dgi.ts';
import type { CfeStatus, FinalStatus } from '../domain/cfeStatus.ts';
import { originalSettled } from './messages.ts';
import { AUTHORITY, CfeStatusAttribute, OWN } from './options.ts';
import { supportDesk } from './supportDesk.ts';

const { signCfe } = proxyActivities<CfeActivities>({ ...OWN, summary: 'Write and sign the XML' });
const { submitCfe } = proxyActivities<DgiActivities>({
  ...AUTHORITY,
  summary: 'Send the sobre to the authority',
});
const { awaitVerdict } = proxyActivities<DgiActivities>({
  ...AUTHORITY,
  summary: 'Ask for the verdict until there is one',
});

export interface IssueCfeInput {
  cfeId: string;
}

/**
 * Takes one CFE from its number to its verdict: sign, submit, await. Ends with the final status; a rejection is a
 * result. What needs a person waits for support and is tried again from the same step.
 */
export async function issueCfe({ cfeId }: IssueCfeInput): Promise<{ status: FinalStatus }> {
  let originalHasVerdict = false;
  setHandler(originalSettled, () => {
    originalHasVerdict = true;
  });
  const desk = supportDesk();

  setCurrentDetails(
    'Signing: the XML is written and signed once, with the moment fixed when the number was taken.',
  );
  const signed = await desk.untilDone(() => signCfe(cfeId));

  if (signed.waitsForOriginal) {
    setCurrentDetails('Waiting for the verdict on the CFE that this note corrects; nothing to do.');
    await condition(() => originalHasVerdict);
  }

  setCurrentDetails(
    'Submitting: the sobre goes to the authority; an unclear outcome is settled by asking first.',
  );
  const submitted = await desk.untilDone(() => submitCfe(cfeId));
  if (submitted.status !== 'RECEIVED') return end(submitted.status);
  show('RECEIVED');

  setCurrentDetails(
    'Received by the authority: asking for its verdict. The pending activity shows the last answer.',
  );
  const { status } = await desk.untilDone(() => awaitVerdict(cfeId));
  return end(status);
}

function show(status: CfeStatus): void {
  upsertSearchAttributes([{ key: CfeStatusAttribute, value: status }]);
}

function end(status: FinalStatus): { status: FinalStatus } {
  show(status);
  setCurrentDetails(`Ended: ${status}.`);
  return { status };
}
