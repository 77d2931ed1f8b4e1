import { createApp } from '../api/app.ts';
import { readJson } from '../api/json.ts';
import { createMetrics } from '../api/metrics.ts';
import { closeServer, createHttpServer, listen } from '../api/server.ts';
import { createVerdictWatch } from '../api/verdictWatch.ts';
import type { AuthorityTestKit } from '../commands/equipSandbox.ts';
import { purgeExpired } from '../commands/purgeExpired.ts';
import { createApiKeys } from '../crypto/apiKeys.ts';
import { createRequestHash } from '../crypto/requestHash.ts';
import { createSealer } from '../crypto/sealed.ts';
import { createTokens } from '../crypto/tokens.ts';
import { isReachable, openOrm } from '../db/orm.ts';
import { createFolderTestKit, createPortalTestKit } from '../dgi/testKit.ts';
import { createLogger } from '../logger.ts';
import { measureDatabase } from '../metrics/database.ts';
import { gauge } from '../metrics/instruments.ts';
import { measureAuthority } from '../metrics/work.ts';
import { createDispatcher } from '../outbox/dispatcher.ts';
import { serveHealth } from './health.ts';
import { LOOK_UP_VARIABLES, openRutLookUp } from './rutLookUp.ts';
import { ensureSchema } from './schema.ts';
import { noticeUiValues } from './uiValueNotice.ts';
import { configOrExit, runProcess } from './wire.ts';

/** Requests under way get this long to finish once the process is told to end. */
const GRACE_MILLISECONDS = 20_000;

/** Pause between two purges of what has had its time; every API process does it, whoever comes first. */
const PURGE_MILLISECONDS = 600_000;

const config = configOrExit([
  'CFE_HOST',
  'CFE_API_PORT',
  'CFE_METRICS_PORT',
  'CFE_LOG_LEVEL',
  'CFE_KEY_ENCRYPTION_KEYS',
  'CFE_PEPPER',
  'CFE_TOKEN_KEYS',
  'CFE_DATABASE_POOL',
  'CFE_MIGRATE',
  'DATABASE_URL',
  'TEMPORAL_ADDRESS',
  'TEMPORAL_NAMESPACE',
  'CFE_CORS_ORIGINS',
  'CFE_SANDBOX_PORTAL_URL',
  'CFE_SANDBOX_PAPERS_DIR',
  'CFE_CHECKOUT_URL',
  ...LOOK_UP_VARIABLES,
]);
const logger = createLogger({ name: 'api', level: config.CFE_LOG_LEVEL });

await runProcess(logger, async (closers) => {
  const tokens = await createTokens(config.CFE_TOKEN_KEYS);
  const orm = await openOrm({ databaseUrl: config.DATABASE_URL, pool: config.CFE_DATABASE_POOL });
  closers.add('database', () => orm.close(true));
  await ensureSchema(orm, config);

  const outbox = createDispatcher({
    orm,
    temporalAddress: config.TEMPORAL_ADDRESS,
    namespace: config.TEMPORAL_NAMESPACE,
    logger,
  });
  closers.add('outbox', () => outbox.close());

  const metrics = createMetrics();
  await measureDatabase(metrics.registry, orm);
  await noticeUiValues({ orm, registry: metrics.registry, logger, clock: () => new Date() });
  // PostgreSQL and nothing else: CFEs are taken while Temporal or the authority is away.
  const ready = () => isReachable(orm);
  gauge(metrics.registry, 'cfe_api_ready', async (own) => own.set((await ready()) ? 1 : 0));
  const clock = (): Date => new Date();
  const purging = setInterval(() => {
    purgeExpired({ orm, clock }).catch((err: unknown) =>
      logger.warn({ err }, 'purging failed; tried again later'),
    );
  }, PURGE_MILLISECONDS);
  closers.add('purging', () => clearInterval(purging));

  const verdicts = createVerdictWatch({ orm, logger });
  const app = createApp({
    deps: {
      orm,
      outbox,
      logger,
      tokens,
      readJson,
      clock,
      verdicts,
      sealer: createSealer(config.CFE_KEY_ENCRYPTION_KEYS),
      apiKeys: createApiKeys(config.CFE_PEPPER),
      requestHash: createRequestHash(config.CFE_PEPPER),
      testKit: testKit(),
      checkoutUrl: config.CFE_CHECKOUT_URL,
      lookUpRut: await openRutLookUp(config, orm, measureAuthority(metrics.registry)),
    },
    metrics,
    ready,
    corsOrigins: config.CFE_CORS_ORIGINS,
  });
  const handle = app.callback();
  const server = createHttpServer((request, response) => void handle(request, response));
  closers.add('http', () => closeServer(server, GRACE_MILLISECONDS));
  // Before the server: whoever waits for a verdict is answered at once, and the server need not wait for them.
  closers.add('verdicts', () => verdicts.close());
  const port = await listen(server, { host: config.CFE_HOST, port: config.CFE_API_PORT });
  // After the server: whoever is told here that we are ready finds it listening.
  const health = await serveHealth({
    host: config.CFE_HOST,
    port: config.CFE_METRICS_PORT,
    ready,
    metrics: () => metrics.registry.metrics(),
  });
  closers.add('metrics', () => health.close());
  logger.info({ address: `http://${config.CFE_HOST}:${port}`, metricsPort: health.port }, 'ready');
});

/** Where the sandbox gets its papers: the portal of a simulator, or an operator's files; null without either. */
function testKit(): AuthorityTestKit | null {
  const { CFE_SANDBOX_PORTAL_URL: portal, CFE_SANDBOX_PAPERS_DIR: folder } = config;
  if (portal !== '') return createPortalTestKit(portal);
  return folder === '' ? null : createFolderTestKit(folder);
}
