/** `npm run worker`: workflows, activities, the relay of the outbox, and the gatekeeper. */
import { collectDefaultMetrics, Registry } from 'prom-client';
import { readConfig } from '../config.ts';
import type { Orm } from '../db/orm.ts';
import { createLogger } from '../logger.ts';
import { measureDatabase, measureNumbers, measureWorkAndExpiries } from '../metrics/database.ts';
import { gauge } from '../metrics/instruments.ts';
import { measureBugs } from '../metrics/work.ts';
import { ACTIVITY_VARIABLES, createWorkerActivities } from '../wiring/activities.ts';
import { businessClock, CLOCK_VARIABLES } from '../wiring/businessClock.ts';
import { DATABASE_VARIABLES, openDatabase } from '../wiring/database.ts';
import { serveHealth } from '../wiring/health.ts';
import { configOrExit, runProcess } from '../wiring/process.ts';
import { createReadinessCheck } from '../wiring/readiness.ts';
import { openSupport } from '../wiring/temporal/askSupport.ts';
import { openOutbox, TEMPORAL_VARIABLES } from '../wiring/temporal/outbox.ts';
import { createRunCheck } from '../wiring/temporal/runsAt.ts';
import { ensureSchedules } from '../wiring/temporal/schedules.ts';
import { sdkLogger } from '../wiring/temporal/sdkLogger.ts';
import { installRuntime } from '../wiring/temporal/sdkMetrics.ts';
import { createSearchAttributeCheck } from '../wiring/temporal/searchAttributes.ts';
import { temporalServerOf } from '../wiring/temporal/temporalServer.ts';
import { connectWorkers, startWorkers } from '../wiring/temporal/workers.ts';
import { workflowBundleOf } from '../wiring/temporal/workflowBundle.ts';

const config = configOrExit(() =>
  readConfig([
    'CFE_HOST',
    'CFE_LOG_LEVEL',
    'CFE_WORKER_METRICS_PORT',
    'CFE_WORKFLOW_BUNDLE',
    'CFE_REPORT_AT',
    ...DATABASE_VARIABLES,
    ...TEMPORAL_VARIABLES,
    ...ACTIVITY_VARIABLES,
    ...CLOCK_VARIABLES,
  ]),
);
const logger = createLogger({ name: 'worker', level: config.CFE_LOG_LEVEL });

/** Registers the worker's own metrics and those of the database. */
async function registerMetrics(
  orm: Orm,
  { clock, ready }: { clock: () => Date; ready: () => Promise<boolean> },
): Promise<Registry> {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  await measureDatabase(registry, orm);
  gauge(registry, 'cfe_worker_ready', async (own) => own.set((await ready()) ? 1 : 0));
  measureWorkAndExpiries({ registry, orm, clock });
  measureNumbers(registry, orm);
  return registry;
}

await runProcess(logger, async (closers) => {
  const clock = businessClock(config);
  const orm = await openDatabase(config, closers);

  let working = false;
  const attributes = createSearchAttributeCheck(logger);
  const reachable = createReadinessCheck(orm);
  const ready = async (): Promise<boolean> => working && (await reachable());
  const registry = await registerMetrics(orm, { clock, ready });
  // We handle signals: the runtime would stop the workers on its own, and this process has more to close.
  const sdkMetrics = await installRuntime({ shutdownSignals: [], logger: sdkLogger(logger) });
  const health = await serveHealth({
    host: config.CFE_HOST,
    port: config.CFE_WORKER_METRICS_PORT,
    ready,
    missing: attributes.missing,
    metrics: async () => (await Promise.all([registry.metrics(), sdkMetrics()])).join('\n'),
  });
  closers.add('health', () => health.close());

  const temporal = temporalServerOf(config);
  const { TEMPORAL_NAMESPACE: namespace } = config;
  const [connection, workflowBundle] = await Promise.all([
    connectWorkers(temporal, logger),
    workflowBundleOf(config.CFE_WORKFLOW_BUNDLE, logger),
  ]);
  closers.add('temporal', () => connection.close());
  await attributes.areThere(temporal, namespace);
  await ensureSchedules(temporal, namespace, { reportsAt: config.CFE_REPORT_AT });

  const outbox = openOutbox(config, { orm, logger, closers });
  const support = openSupport({ server: temporal, namespace });
  closers.add('support', () => support.close());
  const { activities, gatekeeper } = createWorkerActivities({
    config,
    orm,
    clock,
    outbox,
    logger,
    registry,
    askSupport: support.ask,
    hasRun: createRunCheck(connection, namespace),
  });
  closers.add('gatekeeper', () => gatekeeper.close());
  const workers = await startWorkers({
    connection,
    namespace,
    workflowBundle,
    activities,
    logger,
    onBug: measureBugs(registry),
  });
  closers.add('workers', () => {
    working = false;
    return workers.close();
  });
  working = true;
  gatekeeper.start();
  outbox.startRelay();
  outbox.scheduleDispatch();
  logger.info({ health: health.port }, 'worker is ready');
});
