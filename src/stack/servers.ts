/** PostgreSQL and Temporal as parts of the stack; those that run elsewhere are only asked whether they answer. */
import { join } from 'node:path';
import { ORDINARY_END, POSTGRES_END } from './ending.ts';
import type { Guard } from './guard.ts';
import { obtainTemporal } from './obtainTemporal.ts';
import type { PartSpec } from './part.ts';
import type { StackPorts } from './ports.ts';
import { clearLeftovers, postgresCommand, preparePostgres } from './postgres.ts';
import { postgresAccepts } from './postgresProbe.ts';
import { StackError } from './stackError.ts';
import type { StackOptions } from './stackOptions.ts';
import { temporalCommand, temporalServes } from './temporal.ts';

/** A part, but for its name and place among the others. */
export type Startable = Omit<PartSpec, 'name' | 'order'>;

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
): Promise<Startable | undefined> {
  if (databaseUrl !== undefined) {
    const { hostname, port: given } = new URL(databaseUrl);
    const elsewhere = Number(given || POSTGRES_PORT);
    if (await postgresAccepts(hostname, elsewhere, ELSEWHERE_ANSWERS_WITHIN_MS)) return undefined;
    throw new StackError(`DATABASE_URL names a PostgreSQL at ${hostname}:${elsewhere} that does not answer.`);
  }
  const place = await preparePostgres({ dataDir, password, say });
  return {
    command: postgresCommand(place, port, join(dataDir, 'logs', 'postgres.log')),
    plan: POSTGRES_END,
    answers: () => postgresAccepts('127.0.0.1', port),
    beforeStart: () => clearLeftovers(place),
  };
}

/**
 * The Temporal server, obtained if need be; undefined when TEMPORAL_ADDRESS names another. Throws StackError when that
 * one does not answer, or when none can be had.
 */
export async function temporalPart(
  { dataDir, environment, say, signal, temporalAddress, temporalNamespace: namespace }: StackOptions,
  ports: StackPorts,
  guard: Guard,
): Promise<Startable | undefined> {
  if (temporalAddress !== undefined) {
    if (await temporalServes(temporalAddress, namespace)) return undefined;
    throw new StackError(
      `TEMPORAL_ADDRESS names a Temporal server at ${temporalAddress} that does not answer for the namespace ${namespace}.`,
    );
  }
  const { path, from } = await obtainTemporal({ environment, say, guard, ...(signal ? { signal } : {}) });
  if (from !== 'cache') say(`Temporal server: ${path}`);
  return {
    command: temporalCommand({ path, dataDir, port: ports.temporal, uiPort: ports.temporalUi, namespace }),
    plan: ORDINARY_END,
    answers: () => temporalServes(`127.0.0.1:${ports.temporal}`, namespace),
  };
}
