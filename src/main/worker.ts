/** The worker: workflows, activities, and the relay of the outbox. */
import { createPrivateKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { collectDefaultMetrics, Registry } from 'prom-client';
import { createAuthority } from '../activities/authority.ts';
import { createCfeActivities } from '../activities/cfes.ts';
import { createCredentialActivities, type Login } from '../activities/credentials.ts';
import { createDgiActivities } from '../activities/dgi.ts';
import { createEnterpriseActivities } from '../activities/enterprises.ts';
import { createExpiryActivities } from '../activities/expiries.ts';
import { activityInterceptors } from '../activities/interceptors.ts';
import { createWebhookActivities } from '../activities/webhooks.ts';
import { createSealer } from '../crypto/sealed.ts';
import type { Certificate } from '../db/entities/Certificate.ts';
import { isReachable, migrate, openOrm } from '../db/orm.ts';
import { createCredentialsCheck } from '../dgi/credentials.ts';
import { createSigner } from '../dgi/sign.ts';
import { writeCfe } from '../dgi/xml/cfe.ts';
import { createLogger } from '../logger.ts';
import { createDispatcher } from '../outbox/dispatcher.ts';
import { ensureSearchAttributes } from '../searchAttributes.ts';
import { TASK_QUEUES } from '../temporal.ts';
import { createSender } from '../webhooks/send.ts';
import { createTurns } from '../webhooks/turns.ts';
import { DGI_VARIABLES, openDgiClient } from './dgiClient.ts';
import { ensureExpiriesSchedule } from './expiriesSchedule.ts';
import { serveHealth } from './health.ts';
import { sdkLogger } from './sdkLogger.ts';
import { configOrExit, runProcess } from './wire.ts';

/** How long running activities may finish after SIGTERM; SOAP calls cut off become unknown outcomes. */
const GRACE_MILLISECONDS = 20_000;
/** Deliveries that wait need no place in memory (a workflow in the cache takes some 1 MB): they are read anew when their time comes. */
const DELIVERIES_CACHED = 200;
const RECONNECT_MILLISECONDS = 500;
/** They wait for receivers and cost little else; no receiver holds more than a few of them (webhooks/turns.ts). */
const DELIVERIES_AT_ONCE = 200;

const config = configOrExit([
  'CFE_HOST',
  'CFE_LOG_LEVEL',
  'CFE_WORKER_METRICS_PORT',
  'DATABASE_URL',
  'CFE_DATABASE_POOL',
  'TEMPORAL_ADDRESS',
  'TEMPORAL_NAMESPACE',
  'CFE_KEY_ENCRYPTION_KEYS',
  ...DGI_VARIABLES,
  'CFE_DGI_CFE_HASH',
  'CFE_CREDENTIALS_URL',
  'CFE_POLL_LONGEST_SECONDS',
  'CFE_PATIENCE',
  'CFE_WEBHOOK_LOCAL_CA_FILE',
]);
const logger = createLogger({ name: 'worker', level: config.CFE_LOG_LEVEL });

await runProcess(logger, async (closers) => {
  const clock = (): Date => new Date();
  const orm = await openOrm({ databaseUrl: config.DATABASE_URL, pool: config.CFE_DATABASE_POOL });
  closers.add('database', () => orm.close(true));
  await migrate(orm);

  let working = false;
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const health = await serveHealth({
    host: config.CFE_HOST,
    port: config.CFE_WORKER_METRICS_PORT,
    ready: async () => working && (await isReachable(orm)),
    registry,
  });
  closers.add('health', () => health.close());

  // Signals are ours: the runtime would stop the workers on its own, and this process has more to close.
  Runtime.install({ shutdownSignals: [], logger: sdkLogger(logger) });
  const [connection, workflowBundle] = await Promise.all([
    connect(),
    bundleWorkflowCode({
      workflowsPath: fileURLToPath(new URL('../workflows/index.ts', import.meta.url)),
      logger: sdkLogger(logger.child({}, { level: 'warn' })),
    }),
  ]);
  closers.add('temporal', () => connection.close());
  await ensureSearchAttributes(config.TEMPORAL_ADDRESS, config.TEMPORAL_NAMESPACE);
  await ensureExpiriesSchedule(config.TEMPORAL_ADDRESS, config.TEMPORAL_NAMESPACE);

  const outbox = createDispatcher({
    orm,
    temporalAddress: config.TEMPORAL_ADDRESS,
    namespace: config.TEMPORAL_NAMESPACE,
    logger,
  });
  closers.add('outbox', () => outbox.close());

  const sealer = createSealer(config.CFE_KEY_ENCRYPTION_KEYS);
  const privateKeyOf = (certificate: Certificate) => {
    const { rut, id: rowId, sealedKey } = certificate;
    const der = sealer.open(sealedKey, { purpose: 'certificate-key', rut, rowId });
    const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
    der.fill(0);
    return key;
  };
  const authorityRut = { production: config.CFE_DGI_PRODUCTION_RUT, sandbox: config.CFE_DGI_SANDBOX_RUT };
  const dgi = openDgiClient(config, orm);
  const checkLogin = createCredentialsCheck({
    url: config.CFE_CREDENTIALS_URL,
    timeoutSeconds: config.CFE_DGI_ANSWER_SECONDS,
  });

  const own = {
    ...createCfeActivities({
      orm,
      signDocument: (document, certificate) =>
        createSigner({
          privateKey: privateKeyOf(certificate),
          certificateDer: certificate.certificate,
          hash: config.CFE_DGI_CFE_HASH,
        }).sign(writeCfe(document)),
    }),
    ...createEnterpriseActivities({ orm, clock }),
    ...createExpiryActivities({ orm, clock }),
  };
  const calls = {
    ...createDgiActivities({
      orm,
      clock,
      outbox,
      authority: createAuthority({ client: dgi, orm, privateKeyOf }),
      authorityRut,
      pollLongestSeconds: config.CFE_POLL_LONGEST_SECONDS,
      patienceSeconds: config.CFE_PATIENCE,
    }),
    ...createCredentialActivities({
      orm,
      clock,
      outbox,
      openLogin: ({ rut, sealedLogin }) =>
        sealedLogin === null
          ? null
          : (JSON.parse(
              sealer.open(sealedLogin, { purpose: 'efactura-login', rut, rowId: rut }).toString('utf8'),
            ) as Login),
      checkLogin,
    }),
  };
  const deliveries = createWebhookActivities({
    orm,
    clock,
    sealer,
    send: createSender({ localCa: localReceiversCa() }),
    turns: createTurns(),
  });
  const common = {
    connection,
    namespace: config.TEMPORAL_NAMESPACE,
    shutdownGraceTime: GRACE_MILLISECONDS,
    interceptors: { activity: activityInterceptors },
  };
  const workers = [
    await Worker.create({
      ...common,
      taskQueue: TASK_QUEUES.cfe,
      workflowBundle,
      activities: own,
      maxCachedWorkflows: 1_000,
    }),
    await Worker.create({ ...common, taskQueue: TASK_QUEUES.dgi, activities: calls }),
    await Worker.create({
      ...common,
      taskQueue: TASK_QUEUES.webhooks,
      workflowBundle,
      activities: deliveries,
      maxConcurrentActivityTaskExecutions: DELIVERIES_AT_ONCE,
      maxCachedWorkflows: DELIVERIES_CACHED,
    }),
  ];
  const runs = Promise.all(workers.map((worker) => worker.run()));
  closers.add('workers', async () => {
    working = false;
    for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
    await runs;
  });
  working = true;
  outbox.startRelay();
  outbox.dispatchSoon();
  logger.info({ health: health.port }, 'worker is ready');
});

/** In development: the authority whose certificates receivers on this machine may show. */
function localReceiversCa(): string | undefined {
  const file = config.CFE_WEBHOOK_LOCAL_CA_FILE;
  return file === '' ? undefined : readFileSync(file, 'utf8');
}

/** Temporal may come up later than we do, or be away for a while: it is waited for. */
async function connect(): Promise<NativeConnection> {
  for (;;) {
    try {
      return await NativeConnection.connect({ address: config.TEMPORAL_ADDRESS });
    } catch (err) {
      logger.warn({ err }, 'Temporal cannot be reached yet');
      await new Promise((resolve) => setTimeout(resolve, RECONNECT_MILLISECONDS));
    }
  }
}
