import {
  condition,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  upsertSearchAttributes,
} from '@temporalio/workflow';
import type { CfeActivities } from '../activities/cfes.ts';
import type { DgiActivities } from '../activities/dgi.ts';
import type { Waits } from '../activities/submit.ts';
import type { CfeStatus, FinalStatus } from '../domain/cfeStatus.ts';
import { originalSettled, turnCame } from './messages.ts';
import { AUTHORITY, CfeStatusAttribute, OWN } from './options.ts';
import { type Step, supportDesk } from './supportDesk.ts';

const { signCfe } = proxyActivities<CfeActivities>({ ...OWN, summary: 'Write and sign the XML' });
const { submitCfe } = proxyActivities<DgiActivities>({
  ...AUTHORITY,
  summary: 'Send the sobre to the authority',
});
const { awaitVerdict } = proxyActivities<DgiActivities>({
  ...AUTHORITY,
  summary: 'Ask for the verdict until there is one',
});

const SIGNING: Step = {
  tries: 'writing and signing the XML',
  actions: {
    retry: 'Once the key is configured, or a new certificate uploaded: sign it now',
    abandon: 'To give the CFE up (it was never sent): it ends REJECTED, its number is to be annulled',
  },
};
const SUBMITTING: Step = {
  tries: 'sending the sobre to the authority',
  actions: {
    retry:
      'Once mended: go on where it stopped. What may have been sent is asked for before it is sent again',
    settle: 'To ask the authority whether it has it, and send nothing',
    abandon: 'To give the CFE up: it ends REJECTED. Refused, unless the authority surely does not have it',
  },
};
const AWAITING: Step = {
  tries: 'asking the authority for its verdict',
  actions: {
    retry: 'Once mended: ask again, as often as it takes',
    settle: 'To ask the authority once, and be told what it says',
    abandon:
      'Only where the number is another’s (`duplicate.not_ours`, `verdict.other_cfe`): it ends REJECTED',
  },
};

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
  const inTurn = turns();
  const desk = supportDesk(cfeId);

  setCurrentDetails(
    'Signing: the XML is written and signed once, with the moment fixed when the number was taken.',
  );
  const signed = await desk.untilDone(SIGNING, () => signCfe(cfeId));

  if (signed.waitsForOriginal) {
    setCurrentDetails('Waiting for the verdict on the CFE that this note corrects; nothing to do.');
    await condition(() => originalHasVerdict);
  }

  const submitted = await desk.untilDone(SUBMITTING, () => inTurn(() => submitCfe(cfeId)));
  if (submitted.status !== 'RECEIVED') return end(submitted.status);
  show('RECEIVED');

  setCurrentDetails(
    'Received by the authority: asking for its verdict. The pending activity shows the last answer.',
  );
  const { status } = await desk.untilDone(AWAITING, () => awaitVerdict(cfeId));
  return end(status);
}

/**
 * Takes a step again, each time its turn has come, until it need not wait for one. Register it before the first await.
 * The flag falls before the step begins: a call that comes while it still runs is not lost.
 */
function turns() {
  let called = false;
  setHandler(turnCame, () => {
    called = true;
  });
  return async <T extends object>(take: () => Promise<T | Waits>): Promise<T> => {
    for (;;) {
      called = false;
      setCurrentDetails(
        'Submitting: the sobre goes to the authority; an unclear outcome is settled by asking first.',
      );
      const outcome = await take();
      if (!isWaits(outcome)) return outcome;
      setCurrentDetails(
        'Waits for its turn: the authority cannot be reached, or others are before this one. Goes on by itself; nothing to do.',
      );
      await condition(() => called);
    }
  };
}

const isWaits = (outcome: object): outcome is Waits => 'status' in outcome && outcome.status === 'WAITS';

function show(status: CfeStatus): void {
  upsertSearchAttributes([{ key: CfeStatusAttribute, value: status }]);
}

function end(status: FinalStatus): { status: FinalStatus } {
  show(status);
  setCurrentDetails(`Ended: ${status}.`);
  return { status };
}
