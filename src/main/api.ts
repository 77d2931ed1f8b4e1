/**
 * `npm run api`: the HTTP API. It needs PostgreSQL only: CFEs are accepted while Temporal or the authority is
 * unavailable.
 */
import { createApp } from '../api/app.ts';
import { createMetrics } from '../api/metrics.ts';
import { createVerdictWatch } from '../api/receipts/verdictWatch.ts';
import { readConfig } from '../config.ts';
import { createLogger } from '../logger.ts';
import { measureDatabase } from '../metrics/database.ts';
import { gauge } from '../metrics/instruments.ts';
import { measureAuthority } from '../metrics/work.ts';
import { API_VARIABLES, createApiDeps } from '../wiring/apiDeps.ts';
import { businessClock } from '../wiring/businessClock.ts';
import { DATABASE_VARIABLES, openCounters, openDatabase } from '../wiring/database.ts';
import { configOrExit, runProcess } from '../wiring/process.ts';
import { createReadinessCheck } from '../wiring/readiness.ts';
import { serveProgram } from '../wiring/serveProgram.ts';
import { openOutbox, TEMPORAL_VARIABLES } from '../wiring/temporal/outbox.ts';
import { watchUiValues } from '../wiring/uiValueNotice.ts';

const config = configOrExit(() =>
  readConfig([
    'CFE_HOST',
    'CFE_API_PORT',
    'CFE_METRICS_PORT',
    'CFE_LOG_LEVEL',
    'CFE_CORS_ORIGINS',
    'CFE_TRUSTED_PROXIES',
    'CFE_DATABASE_COUNTER_POOL',
    ...DATABASE_VARIABLES,
    ...TEMPORAL_VARIABLES,
    ...API_VARIABLES,
  ]),
);
const logger = createLogger({ name: 'api', level: config.CFE_LOG_LEVEL });

await runProcess(logger, async (closers) => {
  const orm = await openDatabase(config, closers);
  const counters = await openCounters(config, closers);
  const outbox = openOutbox(config, { orm, logger, closers });

  const metrics = createMetrics();
  const { registry } = metrics;
  await measureDatabase(registry, orm);
  await watchUiValues({ orm, registry, logger, clock: businessClock(config) });
  const ready = createReadinessCheck(orm);
  gauge(registry, 'cfe_api_ready', async (own) => own.set((await ready()) ? 1 : 0));

  const verdicts = createVerdictWatch({ orm, logger });
  const onCall = measureAuthority(registry);
  const app = createApp({
    deps: await createApiDeps(config, { orm, counters, outbox, logger, verdicts, onCall }),
    metrics,
    ready,
    documentsAtStart: true,
    corsOrigins: config.CFE_CORS_ORIGINS,
    trustedProxies: config.CFE_TRUSTED_PROXIES,
  });
  const handle = app.callback();
  const { port, metricsPort } = await serveProgram({
    handle: (request, response) => void handle(request, response),
    host: config.CFE_HOST,
    port: config.CFE_API_PORT,
    metricsPort: config.CFE_METRICS_PORT,
    ready,
    registry,
    waiting: verdicts,
    closers,
  });
  logger.info({ address: `http://${config.CFE_HOST}:${port}`, metricsPort }, 'ready');
});
