/** PostgreSQL and Temporal as parts of the stack; those that run elsewhere are only probed. */

import { embeddedPostgres } from './postgres/postgres.ts';
import type { Server } from './processes/part.ts';
import type { StackPorts } from './processes/ports.ts';
import { postgresAccepts } from './processes/probes.ts';
import type { Watchdog } from './processes/watchdog.ts';
import { StackError } from './stackError.ts';
import type { StackOptions } from './stackOptions.ts';
import { obtainTemporal } from './temporal/obtainTemporal.ts';
import { temporalServer, temporalServes } from './temporal/temporal.ts';

const POSTGRES_PORT = 5432;
const ELSEWHERE_ANSWERS_WITHIN_MS = 5_000;

/**
 * The embedded PostgreSQL, its cluster made if need be; undefined when DATABASE_URL names another. Throws StackError
 * when that one does not answer.
 */
export async function postgresPart(
  { dataDir, databaseUrl, say }: StackOptions,
  port: number,
  password: string,
): Promise<Server | undefined> {
  if (databaseUrl !== undefined) {
    const { hostname, port: given } = new URL(databaseUrl('owner'));
    const elsewhere = Number(given || POSTGRES_PORT);
    if (await postgresAccepts(hostname, elsewhere, ELSEWHERE_ANSWERS_WITHIN_MS)) return undefined;
    throw new StackError(`DATABASE_URL names a PostgreSQL at ${hostname}:${elsewhere} that does not answer.`);
  }
  return embeddedPostgres({ dataDir, port, password, say });
}

/**
 * The Temporal server, obtained if need be; undefined when TEMPORAL_ADDRESS names another. Throws StackError when that
 * one does not answer, or when none can be had.
 */
export async function temporalPart(
  { dataDir, variables, say, signal, temporal, temporalNamespace: namespace }: StackOptions,
  ports: StackPorts,
  watchdog: Watchdog,
): Promise<Server | undefined> {
  if (temporal !== undefined) {
    if (await temporalServes(temporal, namespace)) return undefined;
    throw new StackError(
      `TEMPORAL_ADDRESS names a Temporal server at ${temporal.address} that does not answer for the namespace ${namespace}.`,
    );
  }
  const { path, from } = await obtainTemporal({ variables, say, watchdog, ...(signal ? { signal } : {}) });
  if (from !== 'cache') say(`Temporal server: ${path}`);
  return temporalServer({ path, dataDir, port: ports.temporal, uiPort: ports.temporalUi, namespace });
}
