import {
  condition,
  continueAsNew,
  setCurrentDetails,
  setHandler,
  upsertSearchAttributes,
} from '@temporalio/workflow';
import type { CfeEnding, VerdictResult } from '../domain/authority/activityResults.ts';
import {
  AUTHORITY,
  activity,
  CfeStatusAttribute,
  SUPPORT_CALL,
  shouldContinueAsNew,
  slotGiven,
  withoutCancellation,
} from './common.ts';
import { createSupportDesk, type Step } from './supportDesk.ts';

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
    appliesToAll: true,
    actions: {
      retry:
        'Once corrected: continue where it stopped. The authority is asked about anything that may have been sent',
      settle: 'To ask the authority whether it has it, and send nothing',
      abandon: 'To give the CFE up: it ends REJECTED. Refused unless the authority surely does not have it',
    },
  },
  ask: {
    tries: 'asking the authority for its verdict',
    actions: {
      retry: 'Once corrected: ask again, as often as it takes',
      settle: 'To ask the authority once and show its answer',
      abandon:
        'Only if the number belongs to another (`duplicate.not_ours`, `verdict.other_cfe`): it ends REJECTED',
    },
  },
};
const TAKING: Step = { tries: 'taking the sobre to its verdicts', actions: {} };

export interface IssueCfesInput {
  sobreId: string;
}

/**
 * Takes the CFEs of one sobre to their verdicts. Ends with the ending of each CFE by cfe_id: its verdict, or LEFT if the CFE
 * continues in another sobre. A CFE that waits for support delays no other.
 */
export const issueCfes = withoutCancellation(
  async ({ sobreId }: IssueCfesInput): Promise<Record<string, CfeEnding>> => {
    let hasSlot = false;
    setHandler(slotGiven, () => {
      hasSlot = true;
    });
    const desk = createSupportDesk({
      subject: 'CFE',
      command: 'cfe retry',
      act: ({ cfe_id, ...request }) => supportCfe({ ...request, sobreId, cfe_id }),
    });
    for (;;) {
      // Cleared before the step starts, so that no signal during the step is lost.
      hasSlot = false;
      desk.showStep(
        'In progress: the pending activity shows its phase, and its last failure the state of the sobre.',
      );
      const result = await desk.runStep(TAKING, () => takeToVerdict(sobreId, desk.waiting()));
      switch (result.kind) {
        case 'ended':
          await desk.close();
          return showEnd(result);
        case 'waits':
          setCurrentDetails(
            'Waits for a slot: the authority cannot be reached, or others are before it. It continues automatically; nothing to do.',
          );
          await condition(() => hasSlot);
          break;
        case 'stuck':
          desk.addStuck(
            STEPS[result.step],
            result.stuck.map(({ cfeIds: ids, ...why }) => ({ ids, ...why })),
            { isAll: !result.goesOn },
          );
          if (!result.goesOn) await desk.untilHandled();
          break;
      }
      if (shouldContinueAsNew()) {
        await desk.untilAnswered();
        await continueAsNew<typeof issueCfes>({ sobreId });
      }
    }
  },
);

const WORST_FIRST = ['REJECTED', 'OBSERVED', 'ACCEPTED'] as const;

function showEnd({ endings, codes }: Extract<VerdictResult, { kind: 'ended' }>): Record<string, CfeEnding> {
  const values = Object.values(endings);
  const status = WORST_FIRST.find((ending) => values.includes(ending));
  if (status) upsertSearchAttributes([{ key: CfeStatusAttribute, value: status }]);
  const counts = [...WORST_FIRST, 'LEFT' as const].flatMap((ending) => {
    const count = values.filter((value) => value === ending).length;
    return count === 0 ? [] : [values.length === 1 ? ending : `${count} ${ending}`];
  });
  setCurrentDetails(`Ended: ${counts.join(', ')}${codes.length > 0 ? ` (${codes.join(', ')})` : ''}.`);
  return endings;
}
