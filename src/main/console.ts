/**
 * `npm run console`: the pages for operators and customers. It needs PostgreSQL; actions of support also need
 * Temporal.
 */
import { readConfig } from '../config.ts';
import { createConsole } from '../console/app.ts';
import { createChangeWatch } from '../console/changes.ts';
import { createConsoleMetrics } from '../console/metrics.ts';
import { createLogger } from '../logger.ts';
import { measureDatabase } from '../metrics/database.ts';
import { CONSOLE_VARIABLES, createConsoleDeps } from '../wiring/consoleDeps.ts';
import { DATABASE_VARIABLES, openDatabase } from '../wiring/database.ts';
import { configOrExit, runProcess } from '../wiring/process.ts';
import { createReadinessCheck } from '../wiring/readiness.ts';
import { serveProgram } from '../wiring/serveProgram.ts';
import { openOutbox, TEMPORAL_VARIABLES } from '../wiring/temporal/outbox.ts';

const config = configOrExit(() =>
  readConfig([
    'CFE_HOST',
    'CFE_CONSOLE_PORT',
    'CFE_CONSOLE_METRICS_PORT',
    'CFE_LOG_LEVEL',
    'CFE_TRUSTED_PROXIES',
    ...DATABASE_VARIABLES,
    ...TEMPORAL_VARIABLES,
    ...CONSOLE_VARIABLES,
  ]),
);
const logger = createLogger({ name: 'console', level: config.CFE_LOG_LEVEL });

await runProcess(logger, async (closers) => {
  const orm = await openDatabase(config, closers);
  const outbox = openOutbox(config, { orm, logger, closers });
  const ready = createReadinessCheck(orm);
  const changes = createChangeWatch({ orm, logger });
  const { registry, requestDuration, signIns } = createConsoleMetrics({ changes, ready });
  await measureDatabase(registry, orm);

  const app = createConsole({
    deps: createConsoleDeps(config, {
      orm,
      outbox,
      logger,
      changes,
      closers,
      onSignIn: (outcome) => signIns.inc({ outcome }),
    }),
    trustedProxies: config.CFE_TRUSTED_PROXIES,
    requestDuration,
  });
  const handle = app.callback();
  const { port, metricsPort } = await serveProgram({
    handle: (request, response) => void handle(request, response),
    host: config.CFE_HOST,
    port: config.CFE_CONSOLE_PORT,
    metricsPort: config.CFE_CONSOLE_METRICS_PORT,
    ready,
    registry,
    waiting: changes,
    closers,
  });
  logger.info({ address: config.CFE_CONSOLE_URL, port, metricsPort }, 'ready');
});
