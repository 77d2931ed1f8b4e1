import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Logger } from '../../src/logger.ts';
import { BANK_PATH, serveBank } from './bank.ts';
import { openCalls } from './calls.ts';
import type { Clock } from './clock.ts';
import { isEnvironment } from './environments.ts';
import { openExchanges } from './exchanges.ts';
import { sendJson, TooLarge } from './http.ts';
import { openOutage } from './outage.ts';
import { servePortal } from './portal/portal.ts';
import { openQueryDelay } from './queryDelay.ts';
import { openAuthority } from './security/authority.ts';
import { type MailServer, startMailServer } from './smtp.ts';
import { SERVICE_NAMES, type Services, serveSoap } from './soap/endpoint.ts';
import { openState, type State } from './state/database.ts';
import { loadSchemas } from './xml/schemas.ts';

/** A running simulator. */
export interface Simulator {
  /** Without a trailing slash. */
  readonly url: string;
  /** Of the mail server, where one was asked for. */
  readonly smtpUrl: string | null;
  close(): Promise<void>;
}

/**
 * Starts the simulator of the authority and resolves once it listens. It keeps everything under
 * `<dataDir>/simulator/`; a port of 0 takes any free one. Rejects when a port is taken.
 */
export async function startSimulator(options: {
  readonly host: string;
  readonly port: number;
  /** Of the mail server; left out: there is none. */
  readonly smtpPort?: number;
  readonly dataDir: string;
  /** Folder with the official schemas; without them receipts are judged by the simulator's own rules alone. */
  readonly xsdDir: string;
  readonly logger: Logger;
  /** By which it judges, and verdicts become due. */
  readonly clock?: Clock;
  /** By which outages last; `clock` unless told. */
  readonly realClock?: Clock;
  /** Seconds from AS to the first allowed query (Fechahora); as it was set before, unless told. */
  readonly queryDelaySeconds?: number;
}): Promise<Simulator> {
  const clock = options.clock ?? (() => new Date());
  const folder = join(options.dataDir, 'simulator');
  const schemas = loadSchemas(options.xsdDir);
  if (!schemas)
    options.logger.warn({ xsd_dir: options.xsdDir }, 'no official schemas found; judging by own rules alone');
  const state = openState(folder);
  const authority = await openAuthority(join(folder, 'keys'), clock());
  const services: Services = {
    state,
    authority,
    trusts: authority.trusts,
    schemas,
    clock,
    exchanges: openExchanges(join(folder, 'exchanges'), clock),
    outage: openOutage(state, options.realClock ?? clock),
    queryDelay: openQueryDelay(state, options.queryDelaySeconds),
    calls: openCalls(),
  };

  const server = createServer((request, response) => {
    serve(request, response, services).catch((error: unknown) => {
      options.logger.error({ err: error, method: request.method }, 'a request could not be served');
      if (response.headersSent) response.destroy();
      else
        sendJson(response, 500, {
          error: { code: 'INTERNAL_ERROR', message: 'the simulator failed; see its log' },
        });
    });
  });
  // Longer than clients pause, or they would send on a connection that is just being closed.
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, options.host, resolve);
  });
  const { port } = server.address() as AddressInfo; // a TCP server's address is never a pipe's name
  const mail = await openMail(options, state, clock);
  return {
    smtpUrl: mail?.url ?? null,
    url: `http://${options.host.includes(':') ? `[${options.host}]` : options.host}:${port}`,
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
      await mail?.close();
      state.close();
      schemas?.[Symbol.dispose]();
    },
  };
}

async function openMail(
  { host, smtpPort, logger }: { host: string; smtpPort?: number; logger: Logger },
  state: State,
  clock: Clock,
): Promise<MailServer | null> {
  return smtpPort === undefined ? null : startMailServer({ host, port: smtpPort, state, clock, logger });
}

/** Routes a request: SOAP under `/{environment}/{service}`, `/livez`, and the portal for everything else. */
async function serve(request: IncomingMessage, response: ServerResponse, services: Services): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://simulator');
  const [environment, name, ...more] = url.pathname.slice(1).split('/');
  const service = SERVICE_NAMES.find((known) => known === name);
  if (isEnvironment(environment) && service && more.length === 0) {
    if (request.method !== 'POST') {
      response.setHeader('allow', 'POST');
      sendJson(response, 405, { error: { code: 'METHOD_NOT_ALLOWED', message: 'SOAP requires POST' } });
      return;
    }
    await serveSoap(request, response, { environment, service }, services).catch((error: unknown) => {
      if (!(error instanceof TooLarge)) throw error;
      response.setHeader('connection', 'close');
      sendJson(response, 413, { error: { code: 'PAYLOAD_TOO_LARGE', message: 'the request is too large' } });
    });
  } else if (url.pathname.startsWith(BANK_PATH)) await serveBank(request, response, url.pathname, services);
  else if (url.pathname === '/livez') sendJson(response, 200, { status: 'ok' });
  else await servePortal(request, response, url, services);
}
