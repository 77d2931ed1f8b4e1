import { condition, setCurrentDetails, setHandler, upsertSearchAttributes } from '@temporalio/workflow';
import type { Decided, SubmitResult } from '../domain/activityResults.ts';
import type { FinalStatus } from '../domain/cfeStatus.ts';
import { activity, activityAtOnce } from './activities.ts';
import { originalDecided, slotGiven } from './messages.ts';
import { AUTHORITY, CfeStatusAttribute, OWN, OWN_AT_ONCE, SUPPORT } from './options.ts';
import { type Step, supportDesk } from './supportDesk.ts';

const SIGN = 'Write and sign the XML';
const signCfe = activity('signCfe', { ...OWN, summary: SIGN });
const signCfeAtOnce = activityAtOnce('signCfe', { ...OWN_AT_ONCE, summary: SIGN });
const submitCfe = activity('submitCfe', { ...AUTHORITY, summary: 'Send the sobre to the authority' });
const awaitVerdict = activity('awaitVerdict', {
  ...AUTHORITY,
  summary: 'Ask for the verdict until there is one',
});

const supportCfe = activity('supportCfe', { ...SUPPORT, summary: 'Do what support asks for' });

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
    retry: 'Once mended: go on where it stopped. The authority is asked about whatever may have been sent',
    settle: 'To ask the authority whether it has it, and send nothing',
    abandon: 'To give the CFE up: it ends REJECTED. Refused unless the authority surely does not have it',
  },
};
const AWAITING: Step = {
  tries: 'asking the authority for its verdict',
  actions: {
    retry: 'Once mended: ask again, as often as it takes',
    settle: 'To ask the authority once, and be told what it says',
    abandon:
      'Only where the number belongs to another (`duplicate.not_ours`, `verdict.other_cfe`): it ends REJECTED',
  },
};

export interface IssueCfeInput {
  cfeUuid: string;
}

/**
 * Takes one CFE from its number to its verdict: sign, submit, await. Ends with the final status; a rejection is a
 * result. A step that needs a person waits for support and is then taken again.
 */
export async function issueCfe({ cfeUuid }: IssueCfeInput): Promise<{ status: FinalStatus }> {
  let originalHasVerdict = false;
  setHandler(originalDecided, () => {
    originalHasVerdict = true;
  });
  const withSlot = slots();
  const desk = supportDesk({
    thing: 'CFE',
    command: 'cfe retry',
    act: (request) => supportCfe({ ...request, cfeUuid }),
  });

  setCurrentDetails(
    'Signing: the XML is written and signed once, with the moment fixed when the number was taken.',
  );
  const signed = await desk.untilDone(SIGNING, async () => {
    const atOnce = await signCfeAtOnce(cfeUuid);
    return atOnce === 'failed' ? signCfe(cfeUuid) : atOnce;
  });

  if (signed.kind === 'waitsForOriginal') {
    setCurrentDetails(
      `Waiting for the verdict on the CFE ${signed.original} that this note corrects; nothing to do.`,
    );
    await condition(() => originalHasVerdict);
  }

  const submitted = await desk.untilDone(SUBMITTING, () => withSlot(() => submitCfe(cfeUuid)));
  if (submitted.kind === 'decided') return end(submitted);

  setCurrentDetails(
    'Received by the authority: asking for its verdict. The pending activity shows the last answer.',
  );
  return end(await desk.untilDone(AWAITING, () => awaitVerdict(cfeUuid)));
}

type Sent = Exclude<SubmitResult, { kind: 'waits' }>;

/**
 * Repeats a step, each time the CFE has been given a slot, until it need not wait for one. Register it before the first
 * await. The flag falls before the step begins: a signal that comes while it still runs is not lost.
 */
function slots() {
  let given = false;
  setHandler(slotGiven, () => {
    given = true;
  });
  return async (send: () => Promise<SubmitResult>): Promise<Sent> => {
    for (;;) {
      given = false;
      setCurrentDetails(
        'Submitting: the sobre goes to the authority. After an unclear outcome the authority is asked before anything is sent again.',
      );
      const result = await send();
      if (result.kind !== 'waits') return result;
      setCurrentDetails(
        'Waits for a slot: the authority cannot be reached, or others are before this one. Goes on by itself; nothing to do.',
      );
      await condition(() => given);
    }
  };
}

function end({ status, codes }: Decided): { status: FinalStatus } {
  upsertSearchAttributes([{ key: CfeStatusAttribute, value: status }]);
  setCurrentDetails(`Ended: ${status}${codes.length > 0 ? ` (${codes.join(', ')})` : ''}.`);
  return { status };
}
