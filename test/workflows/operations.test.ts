import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { openWatchdog } from '../../local/stack/processes/watchdog.ts';
import { obtainTemporal } from '../../local/stack/temporal/obtainTemporal.ts';
import { startAttributePairs } from '../../src/searchAttributes.ts';
import { openTemporal, type TestTemporal } from '../support/temporal/temporal.ts';
import { until } from '../support/until.ts';

const PAGE = readFileSync(join(import.meta.dirname, '../../docs/operations.md'), 'utf8');
const RUT = '219999830019';

/** The queries of the page by their number, with a moment that is past or to come as the query wants it. */
const SAVED = new Map(
  [...PAGE.matchAll(/^\| (\d+) \| [^|]+ \| `([^`]+)` \|/gm)].map(([, number, query = '']) => [
    Number(number),
    query
      .replaceAll(/< "2026-[^"]+"/g, `< "${new Date(Date.now() + 3_600_000).toISOString()}"`)
      .replaceAll(/> "2026-[^"]+"/g, `> "${new Date(Date.now() - 3_600_000).toISOString()}"`),
  ]),
);

/** The lines of the page that call the `temporal` program. */
const COMMANDS = [...PAGE.matchAll(/^temporal (.+)$/gm)].map(([, line = '']) => line);

describe('docs/operations.md against a real server', () => {
  let temporal: TestTemporal;
  beforeAll(async () => {
    temporal = await openTemporal('cfe', 'dgi', 'webhooks');
  });
  afterAll(() => temporal[Symbol.asyncDispose]());

  function start(workflow: string, name: string, input: unknown, status = 'PENDING'): Promise<unknown> {
    const attributes = {
      EnterpriseRut: RUT,
      CfeId: [name],
      Environment: 'production',
      ...(workflow === 'issueCfes' ? { CfeStatus: status } : {}),
    };
    return temporal.client.workflow.start(workflow, {
      workflowId: name,
      taskQueue: 'cfe',
      args: [input],
      typedSearchAttributes: startAttributePairs(attributes),
    });
  }

  const listed = async (query: string): Promise<string[]> => {
    const names: string[] = [];
    for await (const { workflowId } of temporal.client.workflow.list({ query })) names.push(workflowId);
    return names.toSorted();
  };
  const lists = (query: string, names: string[]) =>
    until(`${query} to list ${names.join()}`, 30, async () =>
      (await listed(query)).join() === names.toSorted().join() ? true : undefined,
    );

  test('there are thirteen saved queries', () => {
    expect([...SAVED.keys()]).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13]);
  });

  test('each lists what it says, and the commands pause and resume', async () => {
    const stuck: Record<string, string> = { undecided: 'undecided', certificate: 'authority.certificate' };
    let away = true;
    const activities = {
      async takeToVerdict(name: string) {
        const reason = stuck[name];
        const why = { reason, explanation: 'Told by the test.', cfeIds: [name] };
        if (reason !== undefined) return { kind: 'stuck', step: 'send', stuck: [why], goesOn: false };
        if (name === 'away' && away) throw new Error('not there');
        if (name === 'received') throw new Error('not yet');
        const ending = name === 'refused' ? 'REJECTED' : 'ACCEPTED';
        return { kind: 'ended', endings: { [name]: ending }, codes: [] };
      },
      attemptDelivery: async () => ({ kind: 'failed' }),
      async actOnItems() {
        const counts = { total: 2, done: 1, unneeded: 0, refused: 0 };
        return { kind: 'goesOn', ...counts, pauseMilliseconds: 3_600_000 };
      },
    };
    await temporal.withWorkers(activities, async () => {
      for (const name of ['undecided', 'certificate', 'away', 'received', 'refused', 'ended']) {
        await start('issueCfes', name, { sobreId: name });
      }
      await temporal.client.workflow.getHandle('ended').terminate('by hand');
      await lists(SAVED.get(1) ?? '', ['undecided', 'certificate']);
      await lists(SAVED.get(2) ?? '', ['undecided']);
      await lists(SAVED.get(3) ?? '', ['certificate']);
      const withoutVerdict = ['undecided', 'certificate', 'away', 'received'];
      await lists(SAVED.get(4) ?? '', withoutVerdict);
      await lists(SAVED.get(5) ?? '', withoutVerdict);
      await lists((SAVED.get(6) ?? '').replace('101-1', 'away'), ['away']);
      await lists(SAVED.get(7) ?? '', ['refused']);
      await lists(SAVED.get(8) ?? '', []);
      await lists(SAVED.get(10) ?? '', ['ended']);
      await start('deliverWebhook', 'delivery', { deliveryId: 'delivery', delays: [] });
      await start('bulkRun', 'run', { runId: 'run' });
      await lists(SAVED.get(11) ?? '', ['delivery']);
      await lists(SAVED.get(12) ?? '', ['run']);
      await start('exportReceipts', 'export', { exportId: 'export' });
      await lists(SAVED.get(13) ?? '', ['export']);

      const [describing, pausing, resuming] = COMMANDS;
      expect(await told(describing, '')).toMatch(/Pending Activities/);
      const { raw } = await temporal.client.workflow.getHandle('away').describe();
      const activityId = raw.pendingActivities?.[0]?.activityId ?? '';
      await told(pausing, activityId);
      await lists(SAVED.get(9) ?? '', ['away']);
      away = false;
      await told(resuming, activityId);
      await lists(SAVED.get(9) ?? '', []);
      expect(await temporal.client.workflow.getHandle('away').result()).toEqual({ away: 'ACCEPTED' });
    });
  });

  /** What a command of the page answers, on the server of the run. */
  async function told(command: string | undefined, activityId: string): Promise<string> {
    const watchdog = openWatchdog();
    try {
      const { path } = await obtainTemporal({ variables: process.env, say: () => {}, watchdog });
      const words = (command ?? '')
        .replace(/\s+#.*/, '')
        .replace('WORKFLOW_ID', 'away')
        .replace('ACTIVITY_ID', activityId)
        .match(/"[^"]*"|\S+/g);
      const args = (words ?? []).map((word) => word.replaceAll('"', ''));
      const { stdout } = await promisify(execFile)(path, [
        ...args,
        '--address',
        temporal.address,
        '--namespace',
        temporal.namespace,
      ]);
      return stdout;
    } finally {
      watchdog.close();
    }
  }
});
