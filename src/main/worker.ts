/** The worker: workflows, activities, and the relay of the outbox. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import {
  bundleWorkflowCode,
  GracefulShutdownPeriodExpiredError,
  NativeConnection,
  Worker,
} from '@temporalio/worker';
import { collectDefaultMetrics, Registry } from 'prom-client';
import { createAuthority } from '../activities/authority.ts';
import { createCfeActivities } from '../activities/cfes.ts';
import { createCredentialActivities, type Login } from '../activities/credentials.ts';
import { createDgiActivities } from '../activities/dgi.ts';
import { createEnterpriseActivities } from '../activities/enterprises.ts';
import { createExpiryActivities } from '../activities/expiries.ts';
import { activityInterceptors } from '../activities/interceptors.ts';
import { createSupportActivities } from '../activities/support.ts';
import { createWebhookActivities } from '../activities/webhooks.ts';
import { createSealer } from '../crypto/sealed.ts';
import { isReachable, openOrm } from '../db/orm.ts';
import { createCredentialsCheck } from '../dgi/credentials.ts';
import { createSigner } from '../dgi/sign.ts';
import { writeCfe } from '../dgi/xml/cfe.ts';
import { createBreakers } from '../gate/breakers.ts';
import { createGate } from '../gate/gate.ts';
import { createGatekeeper } from '../gate/gatekeeper.ts';
import { createLogger } from '../logger.ts';
import { measureDatabase, measureWorkAndPapers } from '../metrics/database.ts';
import { gauge } from '../metrics/instruments.ts';
import { measureAuthority, measured, measureVerdicts, measureWebhooks } from '../metrics/work.ts';
import { createDispatcher } from '../outbox/dispatcher.ts';
import { ensureSearchAttributes } from '../searchAttributes.ts';
import { TASK_QUEUES } from '../temporal.ts';
import { createSender } from '../webhooks/send.ts';
import { createTurns } from '../webhooks/turns.ts';
import { DGI_VARIABLES, openDgiClient } from './dgiClient.ts';
import { ensureExpiriesSchedule } from './expiriesSchedule.ts';
import { serveHealth } from './health.ts';
import { privateKeysUnder } from './privateKeys.ts';
import { ensureSchema } from './schema.ts';
import { sdkLogger } from './sdkLogger.ts';
import { installRuntime } from './sdkMetrics.ts';
import { configOrExit, runProcess } from './wire.ts';

/** How long activities under way may go on after SIGTERM. */
const GRACE_MILLISECONDS = 20_000;
/** Then they are cut off and go on in another worker; a SOAP call becomes an unknown outcome, settled by asking. */
const CUT_MILLISECONDS = 24_000;
/** Deliveries that wait need no place in memory (a workflow in the cache takes some 1 MB): they are read anew when their time comes. */
const DELIVERIES_CACHED = 200;
const RECONNECT_MILLISECONDS = 500;
/** They wait for receivers and cost little else; no receiver holds more than a few of them (webhooks/turns.ts). */
const DELIVERIES_AT_ONCE = 200;
/** They wait for the authority, or for their slot of the next seconds. */
const CALLS_AT_ONCE = 200;

const config = configOrExit([
  'CFE_HOST',
  'CFE_LOG_LEVEL',
  'CFE_WORKER_METRICS_PORT',
  'DATABASE_URL',
  'CFE_DATABASE_POOL',
  'CFE_MIGRATE',
  'TEMPORAL_ADDRESS',
  'TEMPORAL_NAMESPACE',
  'CFE_KEY_ENCRYPTION_KEYS',
  ...DGI_VARIABLES,
  'CFE_DGI_CFE_HASH',
  'CFE_CREDENTIALS_URL',
  'CFE_DGI_SENDS_PER_SECOND',
  'CFE_POLL_LONGEST_SECONDS',
  'CFE_PATIENCE',
  'CFE_WEBHOOK_LOCAL_CA_FILE',
]);
const logger = createLogger({ name: 'worker', level: config.CFE_LOG_LEVEL });

await runProcess(logger, async (closers) => {
  const clock = (): Date => new Date();
  const orm = await openOrm({ databaseUrl: config.DATABASE_URL, pool: config.CFE_DATABASE_POOL });
  closers.add('database', () => orm.close(true));
  await ensureSchema(orm, config);

  let working = false;
  const ready = async (): Promise<boolean> => working && (await isReachable(orm));
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  await measureDatabase(registry, orm);
  gauge(registry, 'cfe_worker_ready', async (own) => own.set((await ready()) ? 1 : 0));
  measureWorkAndPapers({ registry, orm, clock });
  const onCall = measureAuthority(registry);
  // Signals are ours: the runtime would stop the workers on its own, and this process has more to close.
  const sdkMetrics = await installRuntime({ shutdownSignals: [], logger: sdkLogger(logger) });
  const health = await serveHealth({
    host: config.CFE_HOST,
    port: config.CFE_WORKER_METRICS_PORT,
    ready,
    metrics: async () => (await Promise.all([registry.metrics(), sdkMetrics()])).join('\n'),
  });
  closers.add('health', () => health.close());

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

  const sendsPerSecond = config.CFE_DGI_SENDS_PER_SECOND;
  const gatekeeper = createGatekeeper({ orm, clock, outbox, logger, sendsPerSecond });
  closers.add('gatekeeper', () => gatekeeper.close());

  const sealer = createSealer(config.CFE_KEY_ENCRYPTION_KEYS);
  const privateKeyOf = privateKeysUnder(sealer);
  const authorityRut = { production: config.CFE_DGI_PRODUCTION_RUT, sandbox: config.CFE_DGI_SANDBOX_RUT };
  const dgi = openDgiClient(config, orm, { onCall });
  const checkLogin = measured(
    onCall,
    { environment: 'production', service: 'credentials', operation: 'checkLogin' },
    createCredentialsCheck({
      url: config.CFE_CREDENTIALS_URL,
      timeoutSeconds: config.CFE_DGI_ANSWER_SECONDS,
      guard: createBreakers({ orm, clock }),
    }),
  );

  const own = {
    ...createCfeActivities({
      orm,
      clock,
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
  const settling = {
    orm,
    clock,
    outbox,
    authority: createAuthority({ client: dgi, orm, privateKeyOf }),
    onVerdict: measureVerdicts(registry),
  };
  const calls = {
    ...createSupportActivities(settling),
    ...createDgiActivities({
      ...settling,
      authorityRut,
      gate: createGate({ orm, clock, sendsPerSecond }),
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
    onAttempt: measureWebhooks(registry),
  });
  const common = {
    connection,
    namespace: config.TEMPORAL_NAMESPACE,
    shutdownGraceTime: GRACE_MILLISECONDS,
    shutdownForceTime: CUT_MILLISECONDS,
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
    await Worker.create({
      ...common,
      taskQueue: TASK_QUEUES.dgi,
      activities: calls,
      maxConcurrentActivityTaskExecutions: CALLS_AT_ONCE,
    }),
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
    await runs.catch((err: unknown) => {
      if (!(err instanceof GracefulShutdownPeriodExpiredError)) throw err;
      logger.warn('activities that were under way were cut off; they go on in another worker');
    });
  });
  working = true;
  gatekeeper.start();
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
