import {
  condition,
  continueAsNew,
  setCurrentDetails,
  setHandler,
  upsertSearchAttributes,
} from '@temporalio/workflow';
import type { CfeEnding, VerdictResult } from '../domain/activityResults.ts';
import {
  AUTHORITY,
  activity,
  CfeStatusAttribute,
  SUPPORT_CALL,
  shouldContinueAsNew,
  slotGiven,
  withoutCancellation,
} from './common.ts';
import { type Step, supportDesk } from './supportDesk.ts';

const takeToVerdict = activity('takeToVerdict', {
  ...AUTHORITY,
  summary: 'Sign, send, and ask for the verdicts',
});
const supportCfe = activity('supportCfe', { ...SUPPORT_CALL, summary: 'Do what support asks for' });

type StuckStep = Extract<VerdictResult, { kind: 'stuck' }>['step'];

const STEPS: Readonly<Record<StuckStep, Step>> = {
  sign: {
    tries: 'writing and signing the XML',
    actions: {
      retry: 'Once the key is configured, or a new certificate uploaded: sign it now',
      abandon: 'To give the CFE up (it was never sent): it ends REJECTED, its number is to be annulled',
    },
  },
  send: {
    tries: 'sending the sobre to the authority',
    isOfAll: true,
    actions: {
      retry: 'Once mended: go on where it stopped. The authority is asked about whatever may have been sent',
      settle: 'To ask the authority whether it has it, and send nothing',
      abandon: 'To give the CFE up: it ends REJECTED. Refused unless the authority surely does not have it',
    },
  },
  ask: {
    tries: 'asking the authority for its verdict',
    actions: {
      retry: 'Once mended: ask again, as often as it takes',
      settle: 'To ask the authority once, and be told what it says',
      abandon:
        'Only where the number belongs to another (`duplicate.not_ours`, `verdict.other_cfe`): it ends REJECTED',
    },
  },
};
const TAKING: Step = { tries: 'taking the sobre to its verdicts', actions: {} };

export interface IssueCfesInput {
  sobreId: string;
}

/**
 * Takes the CFEs of one sobre to their verdicts. Ends with how each ended, by its cfe_id; a rejection is a result, and one
 * that goes on in another sobre LEFT this. What needs a person waits for support, and holds up no other.
 */
export const issueCfes = withoutCancellation(
  async ({ sobreId }: IssueCfesInput): Promise<Record<string, CfeEnding>> => {
    let hasSlot = false;
    setHandler(slotGiven, () => {
      hasSlot = true;
    });
    const desk = supportDesk({
      thing: 'CFE',
      command: 'cfe retry',
      act: ({ cfe_id, ...request }) => supportCfe({ ...request, sobreId, cfe_id }),
    });
    for (;;) {
      // The flags fall before the step begins: what comes while it still runs is not lost.
      hasSlot = false;
      desk.takenUp(
        'Under way: the pending activity shows what it is at, and its last failure where the sobre stands.',
      );
      const result = await desk.during(TAKING, () => takeToVerdict(sobreId, desk.waiting()));
      switch (result.kind) {
        case 'ended':
          await desk.close();
          return end(result);
        case 'waits':
          setCurrentDetails(
            'Waits for a slot: the authority cannot be reached, or others are before it. Goes on by itself; nothing to do.',
          );
          await condition(() => hasSlot);
          break;
        case 'stuck':
          desk.open(
            STEPS[result.step],
            result.stuck.map(({ cfeIds: ids, ...why }) => ({ ids, ...why })),
            { isAll: !result.goesOn },
          );
          if (!result.goesOn) await desk.untilHelped();
          break;
      }
      if (shouldContinueAsNew()) {
        await desk.settled();
        await continueAsNew<typeof issueCfes>({ sobreId });
      }
    }
  },
);

/** From the worst on. */
const BY_GRAVITY = ['REJECTED', 'OBSERVED', 'ACCEPTED'] as const;

function end({ endings, codes }: Extract<VerdictResult, { kind: 'ended' }>): Record<string, CfeEnding> {
  const all = Object.values(endings);
  const status = BY_GRAVITY.find((one) => all.includes(one));
  if (status) upsertSearchAttributes([{ key: CfeStatusAttribute, value: status }]);
  const counted = [...BY_GRAVITY, 'LEFT' as const].flatMap((one) => {
    const count = all.filter((ending) => ending === one).length;
    return count === 0 ? [] : [all.length === 1 ? one : `${count} ${one}`];
  });
  setCurrentDetails(`Ended: ${counted.join(', ')}${codes.length > 0 ? ` (${codes.join(', ')})` : ''}.`);
  return endings;
}
