import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { WorkflowHandle } from '@temporalio/client';
import type { Activities as AllActivities, SupportAct } from '../../src/activities/activities.ts';
import type { Stuck, SupportResult } from '../../src/domain/activityResults.ts';
import type { SupportAnswer } from '../../src/domain/supportAction.ts';
import { openTemporal, recordHistory, startIssueCfe, type TestTemporal } from '../support/temporal.ts';
import { until } from '../support/until.ts';

type Activities = Pick<AllActivities, StepName | 'supportCfe'>;
type StepName = 'signCfe' | 'submitCfe' | 'awaitVerdict';

const STUCK: Stuck = { kind: 'stuck', reason: 'signing', explanation: 'The key cannot be opened.' };
const REQUEST = { action: 'retry' };
/** What somebody may add in the Temporal UI. */
const SAID = { ...REQUEST, by: 'eva', reason: 'the key is configured' };
const PENDING: SupportResult = { kind: 'refused', message: 'The authority may find it yet.' };

/**
 * A CFE whose `step` is stuck until `mended`; support's acts are noted, and answered by `answers` one after the other.
 */
function stuckAt(step: StepName, answers: (SupportResult | (() => Promise<SupportResult>))[] = []) {
  const diary: string[] = [];
  const acts: SupportAct[] = [];
  const state = { mended: false, status: 'ACCEPTED' as 'ACCEPTED' | 'REJECTED' };
  const usual = {
    async signCfe() {
      diary.push('signed');
      return { kind: 'signed' } as const;
    },
    async submitCfe() {
      diary.push('submitted');
      return state.status === 'REJECTED'
        ? ({ kind: 'decided', status: 'REJECTED', codes: [] } as const)
        : ({ kind: 'received' } as const);
    },
    async awaitVerdict() {
      diary.push('asked');
      return { kind: 'decided', status: state.status, codes: [] } as const;
    },
  };
  const activities: Activities = {
    ...usual,
    [step]: async () => (state.mended ? usual[step]() : STUCK),
    async supportCfe(act) {
      acts.push(act);
      const next = answers.shift() ?? { kind: 'retried', message: 'It is tried again now.' };
      const answer = typeof next === 'function' ? await next() : next;
      if (answer.kind !== 'refused') state.mended = true;
      if (answer.kind === 'abandoned') state.status = 'REJECTED';
      return answer;
    },
  };
  return { activities, diary, acts, state };
}

describe('support of a CFE that is stuck', () => {
  let temporal: TestTemporal;
  beforeAll(async () => {
    temporal = await openTemporal('cfe', 'dgi');
  });
  afterAll(() => temporal[Symbol.asyncDispose]());

  const start = (): Promise<WorkflowHandle> => startIssueCfe(temporal);
  /** Runs `work` with a CFE that waits for support. */
  const withStuck = <T>(activities: Activities, work: (handle: WorkflowHandle) => Promise<T>): Promise<T> =>
    temporal.withWorkers(activities, async () => {
      const handle = await start();
      await waiting(handle);
      return work(handle);
    });
  const waiting = (handle: WorkflowHandle) =>
    until('NeedsSupport', 20, async () => {
      const { searchAttributes } = await handle.describe();
      return searchAttributes['NeedsSupport']?.[0] === true ? searchAttributes : undefined;
    });
  const ask = (handle: WorkflowHandle, request: unknown, updateId?: string): Promise<SupportAnswer> =>
    handle.executeUpdate('support', { args: [request], ...(updateId ? { updateId } : {}) });
  const detailsOf = async (handle: WorkflowHandle): Promise<string> =>
    (await handle.query<{ currentDetails?: string }>('__temporal_workflow_metadata')).currentDetails ?? '';

  test.each<StepName>(['signCfe', 'submitCfe', 'awaitVerdict'])(
    '%s that is stuck says why, and goes on from there when support asks for another try',
    async (step) => {
      const { activities, diary, acts } = stuckAt(step);

      await withStuck(activities, async (handle) => {
        expect((await waiting(handle))['StuckReason']).toEqual(['signing']);
        expect(await ask(handle, REQUEST, 'request-1')).toEqual({
          outcome: 'retried',
          message: 'It is tried again now.',
        });
        expect(await handle.result()).toEqual({ status: 'ACCEPTED' });
        const { searchAttributes } = await handle.describe();
        expect(searchAttributes).toMatchObject({ NeedsSupport: [false], CfeStatus: ['ACCEPTED'] });
        expect(searchAttributes['StuckReason']?.[0] ?? null).toBeNull();
        const cfeUuid = acts[0]?.cfeUuid ?? '';
        expect(handle.workflowId).toMatch(new RegExp(`:${cfeUuid.slice(0, 8)}$`));
        expect(acts).toEqual([{ ...REQUEST, cfeUuid, requestId: 'request-1' }]);
        await recordHistory(handle, `issueCfe.${step}Retried`);
      });

      expect(diary).toEqual(['signed', 'submitted', 'asked']);
    },
  );

  test('settled by asking: the step is taken once more and finds what the authority has', async () => {
    const { activities, diary } = stuckAt('submitCfe', [{ kind: 'settled', message: 'It has it.' }]);

    await withStuck(activities, async (handle) => {
      expect(await ask(handle, { ...REQUEST, action: 'settle' })).toEqual({
        outcome: 'settled',
        message: 'It has it.',
      });
      expect(await handle.result()).toEqual({ status: 'ACCEPTED' });
      await recordHistory(handle, 'issueCfe.settledByAsking');
    });

    expect(diary).toEqual(['signed', 'submitted', 'asked']);
  });

  test.each<[StepName, string]>([
    ['signCfe', 'issueCfe.abandonedUnsigned'],
    ['submitCfe', 'issueCfe.abandoned'],
    ['awaitVerdict', 'issueCfe.abandonedToOthers'],
  ])('abandoned at %s: whoever asked has the answer, and the CFE ends REJECTED', async (step, name) => {
    const { activities, state } = stuckAt(step, [{ kind: 'abandoned', message: 'It is given up.' }]);

    await withStuck(activities, async (handle) => {
      expect(await ask(handle, { ...REQUEST, action: 'abandon' })).toEqual({
        outcome: 'abandoned',
        message: 'It is given up.',
      });
      expect(await handle.result()).toEqual({ status: 'REJECTED' });
      await recordHistory(handle, name);
    });

    expect(state.mended).toBe(true);
  });

  test('refused: it stays stuck and says what was asked; then it can be retried', async () => {
    const { activities, acts } = stuckAt('submitCfe', [PENDING, PENDING]);

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
      expect(await handle.result()).toEqual({ status: 'ACCEPTED' });
      await recordHistory(handle, 'issueCfe.abandonRefusedThenRetried');
    });

    expect(acts.map(({ action }) => action)).toEqual(['abandon', 'settle', 'retry']);
  });

  test('a try that is stuck again waits again, for its own reason', async () => {
    const { activities, state } = stuckAt('submitCfe');
    let tries = 0;
    const submitCfe = async () => {
      tries += 1;
      return tries === 2
        ? ({ kind: 'stuck', reason: 'undecided', explanation: 'Nothing yet.' } as const)
        : activities.submitCfe('');
    };

    await withStuck({ ...activities, submitCfe }, async (handle) => {
      await ask(handle, REQUEST);
      await until('the next reason', 20, async () =>
        (await waiting(handle))['StuckReason']?.[0] === 'undecided' ? true : undefined,
      );
      expect(state.mended).toBe(true);
      await ask(handle, REQUEST);
      expect(await handle.result()).toEqual({ status: 'ACCEPTED' });
    });
  });

  test('the details name reason, what was tried and said, and inputs that the update takes as they stand', async () => {
    const { activities } = stuckAt('awaitVerdict', [PENDING, PENDING]);

    await withStuck(activities, async (handle) => {
      const details = await detailsOf(handle);
      for (const words of [
        '### Waiting for support',
        '**Reason:** `signing`',
        '**Tried:** asking the authority for its verdict',
        STUCK.explanation,
      ]) {
        expect(details).toContain(words);
      }
      const inputs = [...details.matchAll(/```json\n\s*(.+)\n/g)].map(
        ([, json = '']) => JSON.parse(json) as Record<string, string>,
      );
      expect(inputs.map(({ action }) => action)).toEqual(['retry', 'settle', 'abandon']);
      for (const input of inputs.toReversed()) expect(await ask(handle, input)).toMatchObject({});
      await handle.result();
    });
  });

  test('what somebody says in the Temporal UI reaches the act as they typed it', async () => {
    const { activities, acts } = stuckAt('submitCfe');

    await withStuck(activities, async (handle) => {
      await ask(handle, SAID);
      await handle.result();
    });

    expect(acts).toMatchObject([SAID]);
  });

  test('two at once: one is done, the other is told so and leaves nothing in the history', async () => {
    let release = (): void => {};
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    const { activities, acts } = stuckAt('submitCfe', [
      async () => {
        await gate;
        return { kind: 'abandoned', message: 'It is given up.' };
      },
    ]);

    await withStuck(activities, async (handle) => {
      const requests = ['a', 'b', 'c'].map((id) => ask(handle, { ...REQUEST, action: 'abandon' }, id));
      const outcomes = Promise.allSettled(requests);
      await until('the act', 20, async () => acts.length > 0 || undefined);
      await expect(ask(handle, REQUEST)).rejects.toMatchObject({ cause: { type: 'UnderWay' } });
      release();

      const settled = await outcomes;
      expect(settled.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      for (const one of settled) {
        if (one.status === 'rejected') expect(one.reason).toMatchObject({ cause: { type: 'UnderWay' } });
      }
      expect(await handle.result()).toEqual({ status: 'REJECTED' });
      const { events = [] } = await handle.fetchHistory();
      const accepted = (events ?? []).filter(
        (event) => event.workflowExecutionUpdateAcceptedEventAttributes != null,
      );
      expect(accepted).toHaveLength(1);
    });

    expect(acts).toHaveLength(1);
  });

  test.each<[string, unknown, RegExp]>([
    ['no object', 'retry', /Send a JSON object/],
    ['a list', [REQUEST], /Send a JSON object/],
    ['nothing', null, /Send a JSON object/],
    ['an unknown action', { ...REQUEST, action: 'resend' }, /must be one of retry, settle, abandon/],
    ['an unknown field', { ...REQUEST, force: true }, /"force" is not a field/],
    ['nobody', { ...SAID, by: ' ' }, /by: must be a string that says who/],
    ['no reason', { ...SAID, reason: '' }, /reason: must be a string that says why/],
    ['a reason in two lines', { ...SAID, reason: 'a\nb' }, /reason: must not have control characters/],
    ['a long reason', { ...SAID, reason: 'x'.repeat(501) }, /reason: must have at most 500/],
    ['a long name', { ...SAID, by: 'x'.repeat(101) }, /by: must have at most 100/],
  ])('%s is refused in words, and leaves nothing in the history', async (_, request, words) => {
    const { activities, acts } = stuckAt('signCfe');

    await withStuck(activities, async (handle) => {
      await expect(ask(handle, request)).rejects.toMatchObject({
        cause: { type: 'InvalidInput', message: expect.stringMatching(words) },
      });
      expect(acts).toEqual([]);
      await ask(handle, REQUEST);
      await handle.result();
      const { events = [] } = await handle.fetchHistory();
      expect(
        (events ?? []).filter((event) => event.workflowExecutionUpdateAcceptedEventAttributes != null),
      ).toHaveLength(1);
    });
  });

  test('a CFE that goes on by itself refuses it, and so does one that has ended', async () => {
    let release = (): void => {};
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    const { activities, acts, state } = stuckAt('submitCfe');
    state.mended = true;
    const awaitVerdict = async () => {
      await gate;
      return { kind: 'decided', status: 'ACCEPTED', codes: [] } as const;
    };

    await temporal.withWorkers({ ...activities, awaitVerdict }, async () => {
      const handle = await start();
      for (const action of ['retry', 'settle', 'abandon']) {
        await expect(ask(handle, { ...REQUEST, action })).rejects.toMatchObject({
          cause: { type: 'NothingToDo' },
        });
      }
      release();
      expect(await handle.result()).toEqual({ status: 'ACCEPTED' });
      await expect(ask(handle, REQUEST)).rejects.toMatchObject({ name: 'WorkflowNotFoundError' });
    });

    expect(acts).toEqual([]);
  });
});
