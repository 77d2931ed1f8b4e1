/** `npm run console`: the pages for operators and customers. It needs PostgreSQL; Temporal for acts of support. */
import { readConfig } from '../config.ts';
import { createConsole } from '../console/app.ts';
import { createChangeWatch } from '../console/changes.ts';
import { createConsoleMetrics } from '../console/metrics.ts';
import { closeServer, createHttpServer, listen } from '../http/server.ts';
import { createLogger } from '../logger.ts';
import { measureDatabase } from '../metrics/database.ts';
import { CONSOLE_VARIABLES, createConsoleDeps } from '../wiring/consoleDeps.ts';
import { DATABASE_VARIABLES, openDatabase } from '../wiring/database.ts';
import { serveHealth } from '../wiring/health.ts';
import { openOutbox, TEMPORAL_VARIABLES } from '../wiring/outbox.ts';
import { configOrExit, runProcess } from '../wiring/process.ts';
import { readiness } from '../wiring/readiness.ts';

/** Requests under way get this long to finish once the process is told to end. */
const GRACE_MILLISECONDS = 20_000;

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
  const ready = readiness(orm);
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
  const server = createHttpServer((request, response) => void handle(request, response));
  closers.add('http', () => closeServer(server, GRACE_MILLISECONDS));
  // Closed before the server: open pages are let go at once.
  closers.add('changes', () => changes.close());
  const port = await listen(server, { host: config.CFE_HOST, port: config.CFE_CONSOLE_PORT });
  const health = await serveHealth({
    host: config.CFE_HOST,
    port: config.CFE_CONSOLE_METRICS_PORT,
    ready,
    metrics: () => registry.metrics(),
  });
  closers.add('health', () => health.close());
  logger.info({ address: config.CFE_CONSOLE_URL, port, metricsPort: health.port }, 'ready');
});
