import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { WorkflowHandle } from '@temporalio/client';
import type { Activities } from '../../src/activities/activities.ts';
import type {
  AskReportResult,
  PrepareReportResult,
  Stuck,
  SubmitReportResult,
  SupportResult,
} from '../../src/domain/authority/activityResults.ts';
import { eventsOf, openTemporal, recordHistory, type TestTemporal } from '../support/temporal/temporal.ts';
import { until } from '../support/until.ts';

const KEY = { rut: '219999830019', environment: 'production', date: '2026-03-10' } as const;
const READY: PrepareReportResult = { kind: 'ready' };
const ASK: PrepareReportResult = {
  kind: 'ask',
  status: 'RECEIVED',
  isComplete: true,
  askAfterMilliseconds: 50,
};
const waits = (mostMilliseconds: number): PrepareReportResult => ({
  kind: 'waits',
  status: 'OPEN',
  what: 'It waits for verdicts (1).',
  mostMilliseconds,
});
const ended = (status: 'CONSISTENT' | 'SUPERSEDED' | 'DIFFERS'): PrepareReportResult => ({
  kind: 'ended',
  status,
});
const RECEIVED: SubmitReportResult = { kind: 'answered', status: 'RECEIVED' };
const CONSISTENT: AskReportResult = { kind: 'asked', status: 'CONSISTENT' };
const REFUSED: Stuck = {
  kind: 'stuck',
  reason: 'report.content',
  explanation: 'A branch is not registered.',
};
const DIFFERS: Stuck = { kind: 'stuck', reason: 'report.differs', explanation: 'It differs.' };

/** Answers of the steps, one after the other; the last one stays. */
interface Script {
  prepare: PrepareReportResult[];
  submit?: SubmitReportResult[];
  ask?: AskReportResult[];
  support?: SupportResult;
}

describe('reportDay', () => {
  let temporal: TestTemporal;
  beforeAll(async () => {
    temporal = await openTemporal('cfe', 'calls', 'reports');
  });
  afterAll(() => temporal[Symbol.asyncDispose]());

  let runs = 0;
  /** Runs the workflow over a script; `meanwhile` acts on it from outside. */
  async function run(
    { prepare, submit = [RECEIVED], ask = [CONSISTENT], support }: Script,
    name: string,
    meanwhile: (handle: WorkflowHandle, diary: string[]) => Promise<unknown> = async () => {},
  ): Promise<{ diary: string[]; result: unknown }> {
    const diary: string[] = [];
    const step =
      <T>(word: string, answers: T[]) =>
      async (): Promise<T> => {
        diary.push(word);
        return (answers.length > 1 ? answers.shift() : answers[0]) as T;
      };
    const activities: Pick<Activities, 'prepareReport' | 'submitReport' | 'askReport' | 'supportReport'> = {
      prepareReport: step('prepare', prepare),
      submitReport: step('submit', submit),
      askReport: step('ask', ask),
      supportReport: step('support', [support ?? { kind: 'retried', message: 'It is looked at again.' }]),
    };
    return temporal.withWorkers(activities, async () => {
      runs += 1;
      const handle = await temporal.client.workflow.start('reportDay', {
        workflowId: `report:${KEY.rut}:2026-03-${10 + runs}`,
        taskQueue: 'reports',
        args: [KEY],
      });
      await meanwhile(handle, diary);
      const result: unknown = await handle.result();
      await recordHistory(handle, `reportDay.${name}`);
      return { diary, result };
    });
  }
  const needsSupport = (handle: WorkflowHandle) =>
    until('NeedsSupport', 30, async () => {
      const { searchAttributes } = await handle.describe();
      return searchAttributes['NeedsSupport']?.[0] === true || undefined;
    });
  const support = async (handle: WorkflowHandle, action: 'retry' | 'settle') => {
    await needsSupport(handle);
    return handle.executeUpdate('support', { args: [{ action }] });
  };

  test('sends, asks until the authority has compared it, and ends', async () => {
    const { diary, result } = await run(
      {
        prepare: [READY, ASK, ASK, ended('CONSISTENT')],
        ask: [{ kind: 'asked', status: 'RECEIVED' }, CONSISTENT],
      },
      'consistent',
    );
    expect(result).toEqual({ status: 'CONSISTENT' });
    expect(diary).toEqual(['prepare', 'submit', 'prepare', 'ask', 'prepare', 'ask', 'prepare']);
  });

  test('waits for verdicts by itself', async () => {
    const { diary } = await run(
      { prepare: [waits(50), waits(50), READY, ASK, ended('CONSISTENT')] },
      'waitedForVerdicts',
    );
    expect(diary).toEqual(['prepare', 'prepare', 'prepare', 'submit', 'prepare', 'ask', 'prepare']);
  });

  test('a signal wakes it before its time', async () => {
    const { diary } = await run(
      { prepare: [waits(3_600_000), READY, ASK, ended('CONSISTENT')] },
      'woken',
      async (handle, diary) => {
        await until('the first look', 30, async () => diary.length === 1 || undefined);
        await handle.signal('lookAgain');
      },
    );
    expect(diary.slice(0, 3)).toEqual(['prepare', 'prepare', 'submit']);
  });

  test('a correction follows what it sent before', async () => {
    const { diary, result } = await run(
      { prepare: [READY, waits(50), READY, ASK, ended('CONSISTENT')] },
      'corrected',
    );
    expect(result).toEqual({ status: 'CONSISTENT' });
    expect(diary.filter((word) => word === 'submit')).toHaveLength(2);
  });

  test('where another sequence is free, or the day has not begun, it sends again', async () => {
    const { diary } = await run(
      {
        prepare: [READY, READY, READY, ASK, ended('CONSISTENT')],
        submit: [{ kind: 'again', milliseconds: 0 }, { kind: 'again', milliseconds: 50 }, RECEIVED],
      },
      'sentAgain',
    );
    expect(diary.slice(0, 6)).toEqual(['prepare', 'submit', 'prepare', 'submit', 'prepare', 'submit']);
  });

  test('refused, it waits for support, and goes on when retried', async () => {
    let details = '';
    const { diary } = await run(
      {
        prepare: [READY, READY, ASK, ended('CONSISTENT')],
        submit: [REFUSED, { kind: 'answered', status: 'REFUSED' }, RECEIVED],
      },
      'refusedThenRetried',
      async (handle) => {
        await needsSupport(handle);
        const shown = await handle.query<{ currentDetails?: string }>('__temporal_workflow_metadata');
        details = shown.currentDetails ?? '';
        await support(handle, 'retry');
      },
    );
    expect(diary.slice(0, 6)).toEqual(['prepare', 'submit', 'support', 'submit', 'prepare', 'submit']);
    expect(details).toContain('report.content');
    expect(details).toContain('report retry');
    expect(details).not.toContain('abandon');
  });

  test('what differs is left as the authority has it, when settled', async () => {
    const { result } = await run(
      {
        prepare: [READY, ASK, ended('DIFFERS')],
        ask: [DIFFERS, { kind: 'asked', status: 'DIFFERS' }],
        support: { kind: 'settled', message: 'Left as it is.' },
      },
      'settledThoughItDiffers',
      (handle) => support(handle, 'settle'),
    );
    expect(result).toEqual({ status: 'DIFFERS' });
  });

  test('superseded by another system, it ends', async () => {
    const { result } = await run({ prepare: [ended('SUPERSEDED')] }, 'superseded');
    expect(result).toEqual({ status: 'SUPERSEDED' });
  });

  test('asked for while it ends, it looks once more', async () => {
    let looks = 0;
    const { diary } = await run(
      { prepare: [waits(3_600_000), ended('CONSISTENT')] },
      'lookedOnceMore',
      async (handle, diary) => {
        await until('the first look', 30, async () => (looks = diary.length) === 1 || undefined);
        await handle.signal('lookAgain');
        await handle.signal('lookAgain');
      },
    );
    expect(looks).toBe(1);
    expect(diary.length).toBeGreaterThanOrEqual(2);
  });

  test('a history that has become long is continued as a new one, which looks at the day and goes on', async () => {
    const prepare = [waits(3_600_000)];
    const { diary, result } = await run({ prepare }, 'wentOnAsNew', async (handle, done) => {
      await until('the first look', 30, async () => done.length > 0 || undefined);
      const { runId } = await handle.describe();
      const first = temporal.client.workflow.getHandle(handle.workflowId, runId);
      // The server thinks four megabytes long.
      for (let i = 0; i < 4; i += 1) await handle.signal('unknown', 'x'.repeat(1_400_000));
      await handle.signal('lookAgain');
      await until('the continuation', 20, async () =>
        (await eventsOf(first)).some((event) => event.workflowExecutionContinuedAsNewEventAttributes != null),
      );
      await recordHistory(first, 'reportDay.continuedAsNew');
      prepare.splice(0, 1, READY, ASK, ended('CONSISTENT'));
      await handle.signal('lookAgain');
    });

    expect(result).toEqual({ status: 'CONSISTENT' });
    expect(diary.filter((word) => word !== 'prepare')).toEqual(['submit', 'ask']);
  });

  test('the night’s run starts page after page, no faster than they can be sent', async () => {
    const pages: string[] = [];
    const startReports: Activities['startReports'] = async (after) => {
      pages.push(after);
      return {
        kind: 'started',
        reports: 2,
        after: after === '' ? '210000000012' : null,
        pauseMilliseconds: 50,
      };
    };
    await temporal.withWorkers({ startReports }, async () => {
      const handle = await temporal.client.workflow.start('startDailyReports', {
        workflowId: 'daily-reports-test',
        taskQueue: 'cfe',
        args: [],
      });
      expect(await handle.result()).toEqual({ reports: 4 });
      await recordHistory(handle, 'startDailyReports.started');
    });
    expect(pages).toEqual(['', '210000000012']);
  });
});
