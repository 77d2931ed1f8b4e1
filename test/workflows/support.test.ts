import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { WorkflowHandle } from '@temporalio/client';
import type {
  Activities as AllActivities,
  SobreSupportAct,
  SupportAct,
} from '../../src/activities/activities.ts';
import type {
  CfeEnding,
  StuckCfes,
  SupportResult,
  VerdictResult,
} from '../../src/domain/authority/activityResults.ts';
import type { SupportAnswer } from '../../src/domain/operations/supportAction.ts';
import {
  detailsOf,
  eventsOf,
  openTemporal,
  recordHistory,
  startIssueCfes,
  type TestTemporal,
  timersOf,
} from '../support/temporal/temporal.ts';
import { until } from '../support/until.ts';

type Activities = Pick<AllActivities, 'takeToVerdict' | 'supportCfe'>;
type Step = Extract<VerdictResult, { kind: 'stuck' }>['step'];

const EXPLANATION = 'The key cannot be opened.';
const REQUEST = { action: 'retry' };
/** What somebody may add in the Temporal UI. */
const SAID = { ...REQUEST, by: 'eva', reason: 'the key is configured' };
const PENDING: SupportResult = { kind: 'refused', message: 'The authority may find it yet.' };
const [ONE, TWO, THREE] = ['101-1', '101-2', '101-3'];

const why = (...cfeIds: string[]): StuckCfes => ({ reason: 'signing', explanation: EXPLANATION, cfeIds });
const ended = (endings: Record<string, CfeEnding>): VerdictResult => ({ kind: 'ended', endings, codes: [] });

/**
 * A CFE, alone in its sobre, which is stuck at `step` until `mended`; support's acts are noted, and answered by `answers`
 * one after the other.
 */
function stuckAt(step: Step, answers: (SupportResult | (() => Promise<SupportResult>))[] = []) {
  const acts: (SupportAct | SobreSupportAct)[] = [];
  const state = { mended: false, ending: 'ACCEPTED' as CfeEnding, tries: 0 };
  const activities: Activities = {
    async takeToVerdict() {
      state.tries += 1;
      return state.mended
        ? ended({ [ONE]: state.ending })
        : { kind: 'stuck', step, stuck: [why(ONE)], goesOn: false };
    },
    async supportCfe(act) {
      acts.push(act);
      const next = answers.shift() ?? { kind: 'retried', message: 'It is tried again now.' };
      const answer = typeof next === 'function' ? await next() : next;
      if (answer.kind !== 'refused') state.mended = true;
      if (answer.kind === 'abandoned') state.ending = 'REJECTED';
      return answer;
    },
  };
  return { activities, acts, state };
}

/** The step of a sobre, one result for each time that it is taken; each waits until the test lets it end. */
function steps(...results: VerdictResult[]) {
  const turns = results.map((result) => ({ result, ...Promise.withResolvers<void>() }));
  const acts: string[] = [];
  const told: (readonly string[] | undefined)[] = [];
  let begun = 0;
  const activities: Activities = {
    async takeToVerdict(_, known) {
      told.push(known);
      const turn = turns[begun];
      begun += 1;
      if (!turn) throw new Error('nothing more was expected');
      await turn.promise;
      return turn.result;
    },
    async supportCfe(act) {
      acts.push('cfe_id' in act ? act.cfe_id : act.cfeUuid);
      return { kind: 'retried', message: 'It is tried again now.' };
    },
  };
  return {
    activities,
    acts,
    told,
    begun: (count: number) => until(`step ${count}`, 20, async () => begun >= count),
    end: (count: number) => turns[count - 1]?.resolve(),
  };
}

describe('support of CFEs that are stuck', () => {
  let temporal: TestTemporal;
  beforeAll(async () => {
    temporal = await openTemporal('cfe', 'dgi');
  });
  afterAll(() => temporal[Symbol.asyncDispose]());

  /** Runs `work` with a CFE that waits for support. */
  const withStuck = <T>(activities: Activities, work: (handle: WorkflowHandle) => Promise<T>): Promise<T> =>
    temporal.withWorkers(activities, async () => {
      const handle = await startIssueCfes(temporal);
      await waiting(handle);
      return work(handle);
    });
  const shown = (handle: WorkflowHandle, needsSupport: boolean) =>
    until(`NeedsSupport ${needsSupport}`, 20, async () => {
      const { searchAttributes } = await handle.describe();
      return searchAttributes['NeedsSupport']?.[0] === needsSupport ? searchAttributes : undefined;
    });
  const waiting = (handle: WorkflowHandle) => shown(handle, true);
  const ask = (handle: WorkflowHandle, request: unknown, updateId?: string): Promise<SupportAnswer> =>
    handle.executeUpdate('support', { args: [request], ...(updateId ? { updateId } : {}) });
  const accepted = async (handle: WorkflowHandle) =>
    (await eventsOf(handle)).filter((event) => event.workflowExecutionUpdateAcceptedEventAttributes != null);
  const inputsOf = (details: string) =>
    [...details.matchAll(/```json\n\s*(.+)\n/g)].map(
      ([, json = '']) => JSON.parse(json) as Record<string, string>,
    );

  test.each<Step>(['sign', 'send', 'ask'])(
    '%s that is stuck says why in list, timeline and details, and goes on when support asks for another try',
    async (step) => {
      const { activities, acts, state } = stuckAt(step);

      await withStuck(activities, async (handle) => {
        expect((await waiting(handle))['StuckReason']).toEqual(['signing']);
        expect(await timersOf(handle)).toEqual([`Waits for support: ${ONE}: signing`]);
        expect(await ask(handle, REQUEST, 'request-1')).toEqual({
          outcome: 'retried',
          message: 'It is tried again now.',
        });
        expect(await handle.result()).toEqual({ [ONE]: 'ACCEPTED' });
        const { searchAttributes } = await handle.describe();
        expect(searchAttributes).toMatchObject({ NeedsSupport: [false], CfeStatus: ['ACCEPTED'] });
        expect(searchAttributes['StuckReason']?.[0] ?? null).toBeNull();
        expect(await timersOf(handle)).toEqual([]);
        const [act] = acts;
        const sobreId = act && 'sobreId' in act ? act.sobreId : '';
        expect(handle.workflowId).toMatch(new RegExp(`:${sobreId.slice(0, 8)}$`));
        expect(acts).toEqual([{ ...REQUEST, sobreId, cfe_id: ONE, requestId: 'request-1' }]);
        await recordHistory(handle, `issueCfes.${step}Retried`);
      });

      expect(state.tries).toBe(2);
    },
  );

  test('settled by asking: the step is taken once more and finds what the authority has', async () => {
    const { activities, state } = stuckAt('send', [{ kind: 'settled', message: 'It has it.' }]);

    await withStuck(activities, async (handle) => {
      expect(await ask(handle, { ...REQUEST, action: 'settle' })).toEqual({
        outcome: 'settled',
        message: 'It has it.',
      });
      expect(await handle.result()).toEqual({ [ONE]: 'ACCEPTED' });
      await recordHistory(handle, 'issueCfes.settledByAsking');
    });

    expect(state.tries).toBe(2);
  });

  test.each<[Step, string]>([
    ['sign', 'issueCfes.abandonedUnsigned'],
    ['send', 'issueCfes.abandoned'],
    ['ask', 'issueCfes.abandonedToOthers'],
  ])('abandoned at %s: whoever asked has the answer, and the CFE ends REJECTED', async (step, name) => {
    const { activities, state } = stuckAt(step, [{ kind: 'abandoned', message: 'It is given up.' }]);

    await withStuck(activities, async (handle) => {
      expect(await ask(handle, { ...REQUEST, action: 'abandon' })).toEqual({
        outcome: 'abandoned',
        message: 'It is given up.',
      });
      expect(await handle.result()).toEqual({ [ONE]: 'REJECTED' });
      await recordHistory(handle, name);
    });

    expect(state.mended).toBe(true);
  });

  test('refused: it stays stuck and says what was asked; then it can be retried', async () => {
    const { activities, acts } = stuckAt('send', [PENDING, PENDING]);

    await withStuck(activities, async (handle) => {
      for (const action of ['abandon', 'settle']) {
        expect(await ask(handle, { ...REQUEST, action })).toEqual({
          outcome: 'refused',
          message: PENDING.message,
        });
        expect((await waiting(handle))['StuckReason']).toEqual(['signing']);
        expect(await detailsOf(handle)).toContain(`\`${action}\`, refused: ${PENDING.message}`);
      }
      await ask(handle, REQUEST);
      expect(await handle.result()).toEqual({ [ONE]: 'ACCEPTED' });
      await recordHistory(handle, 'issueCfes.abandonRefusedThenRetried');
    });

    expect(acts.map(({ action }) => action)).toEqual(['abandon', 'settle', 'retry']);
  });

  test('a try that is stuck again waits again, for its own reason', async () => {
    const { activities, state } = stuckAt('send');
    const takeToVerdict: Activities['takeToVerdict'] = (sobreId) =>
      state.tries === 1
        ? ((state.tries = 2),
          Promise.resolve({
            kind: 'stuck',
            step: 'ask',
            stuck: [{ reason: 'undecided', explanation: 'Nothing yet.', cfeIds: [ONE] }],
            goesOn: false,
          }))
        : activities.takeToVerdict(sobreId);

    await withStuck({ ...activities, takeToVerdict }, async (handle) => {
      await ask(handle, REQUEST);
      await until(
        'the next reason',
        20,
        async () => (await waiting(handle))['StuckReason']?.[0] === 'undecided',
      );
      expect(await timersOf(handle)).toEqual([`Waits for support: ${ONE}: undecided`]);
      await ask(handle, REQUEST);
      expect(await handle.result()).toEqual({ [ONE]: 'ACCEPTED' });
    });
  });

  test('the details name reason, what was tried and said, and inputs that the update takes as they stand', async () => {
    const { activities } = stuckAt('ask', [PENDING, PENDING]);

    await withStuck(activities, async (handle) => {
      const details = await detailsOf(handle);
      for (const words of [
        '### Waiting for support',
        `**CFEs:** ${ONE}`,
        '**Reason:** `signing`',
        '**Tried:** asking the authority for its verdict',
        EXPLANATION,
      ]) {
        expect(details).toContain(words);
      }
      const inputs = inputsOf(details);
      expect(inputs.map(({ action }) => action)).toEqual(['retry', 'settle', 'abandon']);
      const outcomes: string[] = [];
      for (const input of inputs.toReversed()) outcomes.push((await ask(handle, input)).outcome);
      expect(outcomes).toEqual(['refused', 'refused', 'retried']);
      await handle.result();
    });
  });

  test('what somebody says in the Temporal UI reaches the act as they typed it', async () => {
    const { activities, acts } = stuckAt('send');

    await withStuck(activities, async (handle) => {
      await ask(handle, SAID);
      await handle.result();
    });

    expect(acts).toMatchObject([SAID]);
  });

  test('two at once: one is done, the other is told so and leaves nothing in the history', async () => {
    const gate = Promise.withResolvers<void>();
    const { activities, acts } = stuckAt('send', [
      async () => {
        await gate.promise;
        return { kind: 'abandoned', message: 'It is given up.' };
      },
    ]);

    await withStuck(activities, async (handle) => {
      const requests = ['a', 'b', 'c'].map((id) => ask(handle, { ...REQUEST, action: 'abandon' }, id));
      const outcomes = Promise.allSettled(requests);
      await until('the act', 20, async () => acts.length > 0);
      await expect(ask(handle, REQUEST)).rejects.toMatchObject({ cause: { type: 'UnderWay' } });
      gate.resolve();

      const settled = await outcomes;
      expect(settled.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      for (const one of settled) {
        if (one.status === 'rejected') expect(one.reason).toMatchObject({ cause: { type: 'UnderWay' } });
      }
      expect(await handle.result()).toEqual({ [ONE]: 'REJECTED' });
      expect(await accepted(handle)).toHaveLength(1);
    });

    expect(acts).toHaveLength(1);
  });

  test.each<[string, unknown, RegExp]>([
    ['no object', 'retry', /Send a JSON object/],
    ['a list', [REQUEST], /Send a JSON object/],
    ['nothing', null, /Send a JSON object/],
    ['an unknown action', { ...REQUEST, action: 'resend' }, /must be one of retry, settle, abandon/],
    ['an unknown field', { ...REQUEST, force: true }, /"force" is not a field/],
    ['a number of no type', { ...REQUEST, cfe_id: '1' }, /cfe_id: must be a type code/],
    ['a CFE that is no text', { ...REQUEST, cfe_id: 7 }, /cfe_id: must be a type code/],
    ['nobody', { ...SAID, by: ' ' }, /by: must be a string that says who/],
    ['no reason', { ...SAID, reason: '' }, /reason: must be a string that says why/],
    ['a reason in two lines', { ...SAID, reason: 'a\nb' }, /reason: must not have control characters/],
    ['a long reason', { ...SAID, reason: 'x'.repeat(501) }, /reason: must have at most 500/],
    ['a long name', { ...SAID, by: 'x'.repeat(101) }, /by: must have at most 100/],
  ])('%s is refused in words, and leaves nothing in the history', async (_, request, words) => {
    const { activities, acts } = stuckAt('sign');

    await withStuck(activities, async (handle) => {
      await expect(ask(handle, request)).rejects.toMatchObject({
        cause: { type: 'InvalidInput', message: expect.stringMatching(words) },
      });
      expect(acts).toEqual([]);
      await ask(handle, REQUEST);
      await handle.result();
      expect(await accepted(handle)).toHaveLength(1);
    });
  });

  test('a CFE that goes on by itself refuses it, and so does one that has ended', async () => {
    const { activities, acts, begun, end } = steps(ended({ [ONE]: 'ACCEPTED' }));

    await temporal.withWorkers(activities, async () => {
      const handle = await startIssueCfes(temporal);
      await begun(1);
      for (const action of ['retry', 'settle', 'abandon']) {
        await expect(ask(handle, { ...REQUEST, action })).rejects.toMatchObject({
          cause: { type: 'NothingToDo' },
        });
      }
      end(1);
      expect(await handle.result()).toEqual({ [ONE]: 'ACCEPTED' });
      await expect(ask(handle, REQUEST)).rejects.toMatchObject({ name: 'WorkflowNotFoundError' });
    });

    expect(acts).toEqual([]);
  });

  test('some wait for a person while others go on: each is asked for by its id, and the list shows it all the while', async () => {
    const { activities, acts, told, begun, end } = steps(
      { kind: 'stuck', step: 'ask', stuck: [why(ONE, TWO)], goesOn: true },
      // By itself, of the other two; support asks about the first meanwhile, of which the step has not heard.
      { kind: 'stuck', step: 'ask', stuck: [why(ONE, TWO)], goesOn: false },
      ended({ [ONE]: 'ACCEPTED', [TWO]: 'ACCEPTED', [THREE]: 'ACCEPTED' }),
    );

    await temporal.withWorkers(activities, async () => {
      const handle = await startIssueCfes(temporal, [ONE, TWO, THREE]);
      end(1);
      await begun(2);
      await waiting(handle);
      expect(await timersOf(handle)).toEqual([`Waits for support: ${ONE} and 1 more: signing`]);
      expect(await detailsOf(handle)).toContain(`**CFEs:** ${ONE}, ${TWO}\n`);

      await expect(ask(handle, REQUEST)).rejects.toMatchObject({
        cause: { type: 'InvalidInput', message: 'cfe_id: say which of the waiting CFEs.' },
      });
      await expect(ask(handle, { ...REQUEST, cfe_id: THREE })).rejects.toMatchObject({
        cause: { type: 'NothingToDo' },
      });
      expect(await ask(handle, { ...REQUEST, cfe_id: ONE })).toMatchObject({ outcome: 'retried' });
      await expect(ask(handle, { ...REQUEST, cfe_id: ONE })).rejects.toMatchObject({
        cause: { type: 'NothingToDo' },
      });
      end(2);
      await begun(3);
      expect(await detailsOf(handle)).toContain(`**CFEs:** ${TWO}\n`);
      expect(await timersOf(handle)).toEqual([`Waits for support: ${TWO}: signing`]);
      // The only one that waits need not be named.
      expect(await ask(handle, REQUEST)).toMatchObject({ outcome: 'retried' });
      await shown(handle, false);
      expect(await timersOf(handle)).toEqual([]);
      end(3);
      expect(Object.values((await handle.result()) as object)).toEqual(['ACCEPTED', 'ACCEPTED', 'ACCEPTED']);
      await recordHistory(handle, 'issueCfes.someStuck');
    });

    expect(told).toEqual([[], [ONE, TWO], [TWO]]);
    expect(acts).toEqual([ONE, TWO]);
  });

  test('a step of the whole sobre goes on once one of its CFEs is helped; at the end all are told apart', async () => {
    const endings = { [ONE]: 'LEFT', [TWO]: 'LEFT', [THREE]: 'REJECTED' } as const;
    const { activities, acts, begun, end } = steps(
      { kind: 'stuck', step: 'send', stuck: [why(ONE, TWO, THREE)], goesOn: false },
      ended(endings),
    );

    await temporal.withWorkers(activities, async () => {
      const handle = await startIssueCfes(temporal, [ONE, TWO, THREE]);
      end(1);
      await waiting(handle);
      expect(await ask(handle, { action: 'abandon', cfe_id: THREE })).toMatchObject({ outcome: 'retried' });
      await begun(2);
      await shown(handle, false);
      await expect(ask(handle, { ...REQUEST, cfe_id: ONE })).rejects.toMatchObject({
        cause: { type: 'NothingToDo' },
      });
      end(2);
      expect(await handle.result()).toEqual(endings);
      await recordHistory(handle, 'issueCfes.allStuck');
    });

    expect(acts).toEqual([THREE]);
  });

  test('of many that wait the details name twenty', async () => {
    const many = Array.from({ length: 100 }, (_, i) => `101-${i + 1}`);
    const { activities, begun, end } = steps(
      { kind: 'stuck', step: 'send', stuck: [why(...many)], goesOn: false },
      ended({}),
    );

    await temporal.withWorkers(activities, async () => {
      const handle = await startIssueCfes(temporal, many);
      end(1);
      await waiting(handle);
      const details = await detailsOf(handle);
      expect(details).toContain('101-20 and 80 more');
      expect(details).not.toContain('101-21');
      await ask(handle, { ...REQUEST, cfe_id: '101-100' });
      await begun(2);
      end(2);
      await handle.result();
    });
  });

  test('Cancel does nothing to one that waits, nor to what support asks for afterwards', async () => {
    const { activities, acts } = stuckAt('ask');

    await withStuck(activities, async (handle) => {
      await handle.cancel();
      await until('the request', 10, async () =>
        (await eventsOf(handle)).some(
          (event) => event.workflowExecutionCancelRequestedEventAttributes != null,
        ),
      );
      expect(await timersOf(handle)).toHaveLength(1);
      expect(await ask(handle, REQUEST)).toMatchObject({ outcome: 'retried' });
      expect(await handle.result()).toEqual({ [ONE]: 'ACCEPTED' });
      await recordHistory(handle, 'issueCfes.cancelledWhileStuck');
    });

    expect(acts).toHaveLength(1);
  });
});
