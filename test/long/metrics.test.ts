import { randomUUID } from 'node:crypto';
import { afterAll, describe, expect, test } from '@jest/globals';
import { Client, Connection } from '@temporalio/client';
import got from 'got';
import { DEMO_RUT as RUT } from '../../local/demo/onboarding.ts';
import { LOCAL_DEVELOPER } from '../../local/stack/prepareStack.ts';
import { montevideoDate } from '../../src/domain/values/montevideo.ts';
import { METRICS, type MetricName, rowOf } from '../../src/metrics/table.ts';
import { TASK_QUEUES } from '../../src/temporal.ts';
import { alertRules, dashboardPanels, metricsOf } from '../support/ops.ts';
import { type Sample, samplesOf, valueOf } from '../support/processes/scrape.ts';
import { freePort } from '../support/processes/services.ts';
import { startTcpProxy } from '../support/processes/tcpProxy.ts';
import {
  databaseUrlAs,
  type ExtraProgram,
  issue,
  startBeside,
  startTestStack,
  type TestStack,
  verdictOf,
} from '../support/stacks.ts';
import { until } from '../support/until.ts';
import { useStack } from '../support/useStack.ts';

/** What a process tells on its port for those who watch it. */
const ask = async (url: string): Promise<{ status: number; body: string }> => {
  const { statusCode, body } = await got.get(url, { throwHttpErrors: false, retry: { limit: 0 } });
  return { status: statusCode, body };
};
const scrape = async (url: string): Promise<Sample[]> => {
  const { status, body } = await ask(`${url}/metrics`);
  expect(status).toBe(200);
  return samplesOf(body);
};
/** A port on which nobody listens. */
const NOWHERE = '127.0.0.1:1';

describe('metrics and health of running processes', () => {
  let apiUrl: string;
  let workerUrl: string;
  const extras: ExtraProgram[] = [];
  afterAll(() => Promise.all(extras.map((one) => one.stop())));
  const stack = useStack(
    async () => {
      const port = String(await freePort());
      workerUrl = `http://127.0.0.1:${port}`;
      return startTestStack({ CFE_WORKER_METRICS_PORT: port });
    },
    async ({ info, onboard }) => {
      apiUrl = new URL(info().metrics_url).origin;
      await onboard([101]);
    },
  );

  const beside = async (
    program: 'api' | 'worker' | 'console',
    environment: Record<string, string>,
    sign: '/readyz' | '/livez' = '/readyz',
  ): Promise<ExtraProgram> => {
    const extra = await startBeside(stack, program, environment, sign);
    extras.push(extra);
    return extra;
  };

  test('every metric is exported as the table says, and every one that alerts and dashboard name is', async () => {
    await listenInVain(stack);
    for (let i = 0; i < 3; i += 1) {
      const { cfe_id } = await issue(stack.customer, RUT);
      await verdictOf(stack.customer, RUT, cfe_id);
      const emails = `enterprises/${RUT}/cfes/${cfe_id}/emails`;
      if (i === 0) await stack.customer.send('POST', emails, { destination: 'compras@example.com' });
    }
    // Before there is another worker that may send it.
    await until('the e-mail to be sent', 60, async () =>
      (await scrape(workerUrl)).some(({ name }) => name === 'cfe_mail_attempts_total'),
    );
    await stack.customer.find(`erut/${RUT}`);
    await breakTheKey(stack);
    await issue(stack.customer, RUT);
    // It cannot be signed either: it is due, and waits for a person.
    const today = montevideoDate(new Date());
    await stack.cli.json('report', 'send', RUT, today, '--reason', 'a metric of its own');
    await failByOurselves(stack);
    // Before there is another worker that may take it up.
    await until('a mistake of ours', 60, async () =>
      (await scrape(workerUrl)).some(({ name }) => name === 'cfe_own_faults_total'),
    );
    const cut = await startTcpProxy(databaseUrlAs(stack, 'worker'));
    const second = await beside('worker', { DATABASE_URL: cut.url });
    await cut.cut();
    await until('a failed activity', 60, async () => {
      await issue(stack.customer, RUT);
      const samples = await scrape(second.healthUrl);
      return samples.some(({ name }) => name === 'temporal_activity_execution_failed_total');
    });

    const { baseUrl: consoleUrl, healthUrl: consoleHealth } = await beside('console', {});
    await fetch(new URL('/sign-in', consoleUrl));
    let lacking = Object.keys(METRICS);
    const [api, worker, pages] = await until('every metric to have a value', 30, async () => {
      const all = [await scrape(apiUrl), await scrape(workerUrl), await scrape(consoleHealth)] as const;
      const there = new Set(all.flat().map(({ name }) => familyOf(name)));
      lacking = lacking.filter((name) => !there.has(name));
      return lacking.length === 0 && all;
    }).catch((cause: unknown) => {
      throw new Error(`metrics without a value: ${lacking.join(', ')}`, { cause });
    });

    for (const [process, samples] of [
      ['api', api],
      ['worker', worker],
      ['console', pages],
    ] as const) {
      const own = samples.filter(({ name }) => name.startsWith('cfe_'));
      const meant = Object.keys(METRICS).filter((name) => rowOf(name as MetricName).from.includes(process));
      expect([...new Set(own.map(({ name }) => familyOf(name)))].sort()).toEqual(meant.sort());
      for (const { name, labels } of own) {
        const expected = Object.keys(rowOf(familyOf(name) as MetricName).labels);
        if (name.endsWith('_bucket')) expected.push('le');
        expect([name, Object.keys(labels).sort()]).toEqual([name, expected.sort()]);
      }
    }

    const exported = [...api, ...worker, ...pages, ...(await scrape(second.healthUrl))];
    const expressions = [
      ...alertRules().map(({ alert, expr }) => [alert, expr] as const),
      ...dashboardPanels().flatMap(({ title, targets = [] }) =>
        targets.map(({ expr }) => [title, expr] as const),
      ),
    ];
    const missing = expressions.flatMap(([where, expression]) =>
      metricsOf(expression)
        .filter(({ metric, labels }) => {
          // Prometheus itself adds who was scraped.
          const wanted = labels.filter((label) => label !== 'instance');
          return !exported.some(
            (sample) => sample.name === metric && wanted.every((label) => label in sample.labels),
          );
        })
        .map(({ metric, labels }) => `${where}: ${metric} {${labels.join()}}`),
    );
    expect(missing).toEqual([]);
  });

  test('an API is ready by PostgreSQL alone, and tells what it knows without it', async () => {
    const cut = await startTcpProxy(databaseUrlAs(stack, 'api'));
    const api = await beside('api', {
      DATABASE_URL: cut.url,
      TEMPORAL_ADDRESS: NOWHERE,
      CFE_DGI_PRODUCTION_RECEPTION_URL: `http://${NOWHERE}/`,
      CFE_DGI_PRODUCTION_CONSULTATION_URL: `http://${NOWHERE}/`,
      CFE_DGI_PRODUCTION_REGISTRY_URL: `http://${NOWHERE}/`,
    });
    const open = new URL(api.baseUrl).origin;
    const statuses = async (): Promise<Record<string, number>> => {
      const urls = [open, api.healthUrl].flatMap((url) => [`${url}/livez`, `${url}/readyz`]);
      const answers = await Promise.all(urls.map(async (url) => (await ask(url)).status));
      return Object.fromEntries(
        ['livez', 'readyz', 'livez inside', 'readyz inside'].map((name, i) => [name, answers[i] ?? 0]),
      );
    };
    expect(await statuses()).toEqual({ livez: 200, readyz: 200, 'livez inside': 200, 'readyz inside': 200 });
    expect(valueOf(await scrape(api.healthUrl), 'cfe_api_ready')).toBe(1);

    await cut.cut();

    // One look at the database answers for a second.
    await until('503', 10, async () => (await statuses())['readyz'] === 503);
    expect(await statuses()).toEqual({ livez: 200, readyz: 503, 'livez inside': 200, 'readyz inside': 503 });
    const samples = await until('the database to be found away', 10, async () => {
      const now = await scrape(api.healthUrl);
      return valueOf(now, 'cfe_database_up') === 0 && now;
    });
    expect(valueOf(samples, 'cfe_api_ready')).toBe(0);
    const requests = { route: '/readyz', method: 'GET', status: '503' };
    expect(valueOf(samples, 'cfe_api_request_duration_seconds_count', requests)).toBeGreaterThan(0);
  });

  test('a worker is ready once it takes tasks, and as long as it reaches PostgreSQL', async () => {
    const early = await beside('worker', { TEMPORAL_ADDRESS: NOWHERE }, '/livez');
    expect((await ask(`${early.healthUrl}/readyz`)).status).toBe(503);
    expect(valueOf(await scrape(early.healthUrl), 'cfe_worker_ready')).toBe(0);
    expect(valueOf(await scrape(early.healthUrl), 'cfe_database_up')).toBe(1);

    const cut = await startTcpProxy(databaseUrlAs(stack, 'worker'));
    const worker = await beside('worker', { DATABASE_URL: cut.url });
    const ready = await scrape(worker.healthUrl);
    expect(valueOf(ready, 'cfe_worker_ready')).toBe(1);
    expect(valueOf(ready, 'cfe_outbox_messages')).toBeGreaterThanOrEqual(0);

    await cut.cut();

    expect((await ask(`${worker.healthUrl}/livez`)).status).toBe(200);
    // One look at the database answers for a second.
    await until('503', 5, async () => (await ask(`${worker.healthUrl}/readyz`)).status === 503);
    const samples = await until('the database to be found away', 20, async () => {
      const now = await scrape(worker.healthUrl);
      const found =
        valueOf(now, 'cfe_database_up') === 0 && valueOf(now, 'cfe_outbox_messages') === undefined;
      return found && now;
    });
    expect(valueOf(samples, 'cfe_worker_ready')).toBe(0);
    expect(samples.some(({ name }) => name.startsWith('temporal_'))).toBe(true);
  });
});

/** The metric that a sample belongs to: a histogram has several. */
function familyOf(sample: string): string {
  return sample in METRICS ? sample : sample.replace(/_(bucket|sum|count)$/, '');
}

/** A webhook whose receiver is not there. */
async function listenInVain(stack: TestStack): Promise<void> {
  const url = `https://127.0.0.1:${await freePort()}/`;
  await stack.cli.json('webhook', 'add', LOCAL_DEVELOPER, '--url', url, '--event', 'cfe.updated');
}

/** From now on nothing can be signed: the next CFE waits for support. */
async function breakTheKey(stack: TestStack): Promise<void> {
  await stack.orm.em.fork().execute(`update certificate set sealed_key = 'broken' where rut = ?`, [RUT]);
}

/** Starts a workflow that no worker has, whose first task fails, and one of a sobre that is not there. */
async function failByOurselves(stack: TestStack): Promise<void> {
  const { temporal_address: address, temporal_namespace: namespace } = stack.info();
  const connection = await Connection.connect({ address });
  const { workflow } = new Client({ connection, namespace });
  const taskQueue = TASK_QUEUES.cfe;
  await workflow.start('noSuchWorkflow', { taskQueue, workflowId: 'nobody', args: [] });
  await workflow.start('issueCfes', { taskQueue, workflowId: 'nothing', args: [{ sobreId: randomUUID() }] });
  await connection.close();
}
