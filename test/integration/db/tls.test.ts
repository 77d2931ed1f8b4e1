import { chownSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { embeddedPostgres } from '../../../local/stack/postgres/postgres.ts';
import { postgresPlace } from '../../../local/stack/postgres/postgresPrograms.ts';
import { openWatchdog } from '../../../local/stack/processes/watchdog.ts';
import { isDatabaseOutage, openOrm } from '../../../src/db/orm.ts';
import { cloneDatabase } from '../../support/database/database.ts';
import { testAuthority } from '../../support/enterprises/certificates.ts';
import { freePort } from '../../support/processes/services.ts';
import { type RunningServer, runServer } from '../../support/stack/servers.ts';

const folder = mkdtempSync(join(tmpdir(), 'cfe-tls-'));
const authority = testAuthority(join(folder, 'ca'), 'CFE test authority');
const stranger = testAuthority(join(folder, 'other-ca'), 'Another authority');
const client = authority.issue('cfe');
const strangersClient = stranger.issue('cfe');
const watchdog = openWatchdog();
/** Takes connections over TLS only; known as `localhost` and nothing else. */
let server: RunningServer;
let port: number;

beforeAll(async () => {
  port = await freePort();
  const pair = authority.issue('server', 'localhost');
  const options = { dataDir: join(folder, 'data'), port, password: 'p', say: () => undefined };
  const postgres = await embeddedPostgres(options);
  const place = postgresPlace(options.dataDir, () => undefined);
  const own = (name: string, content: string): string => {
    const path = join(place.data, name);
    writeFileSync(path, content, { mode: 0o600 });
    if (place.user) chownSync(path, place.user.uid, place.user.gid);
    return path;
  };
  const settings = {
    ssl: 'on',
    ssl_cert_file: own('server.crt', readFileSync(pair.cert, 'utf8')),
    ssl_key_file: own('server.key', readFileSync(pair.key, 'utf8')),
    ssl_ca_file: own('ca.crt', readFileSync(authority.ca, 'utf8')),
    // By its certificate the role `cfe` may also open the database `postgres`; everything else has a password.
    hba_file: own(
      'hba.conf',
      'hostssl postgres cfe all cert\nhostssl all all all scram-sha-256\nhostnossl all all all reject\n',
    ),
  };
  const args = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const command = { ...postgres.command, args: [...postgres.command.args, ...args] };
  server = await runServer({ ...postgres, command }, { name: 'PostgreSQL', withinSeconds: 30, watchdog });
});
afterAll(async () => {
  await server?.stop();
  watchdog.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Whether a statement is answered over TLS. */
async function encrypted(databaseUrl: string): Promise<boolean | undefined> {
  const orm = await openOrm({ databaseUrl, pool: 1 });
  try {
    const [row] = await orm.em
      .fork()
      .execute<{ ssl: boolean }[]>('select ssl from pg_stat_ssl where pid = pg_backend_pid()');
    return row?.ssl;
  } finally {
    await orm.close(true);
  }
}

const at = (host: string, parameters: string, database = 'cfe'): string =>
  `postgres://cfe:p@${host}:${port}/${database}${parameters}`;
const failureOf = (databaseUrl: string): Promise<unknown> =>
  encrypted(databaseUrl).catch((error: unknown) => error);

describe('a PostgreSQL that speaks TLS', () => {
  test.each([
    ['require, whoever it is', '127.0.0.1', () => '?sslmode=require'],
    ['require with an authority', '127.0.0.1', () => `?sslmode=require&sslrootcert=${authority.ca}`],
    ['verify-ca, under another name', '127.0.0.1', () => `?sslmode=verify-ca&sslrootcert=${authority.ca}`],
    ['verify-full, under its name', 'localhost', () => `?sslmode=verify-full&sslrootcert=${authority.ca}`],
  ])('is used encrypted with %s', async (_, host, parameters) => {
    expect(await encrypted(at(host, parameters()))).toBe(true);
  });

  test.each([
    ['verify-full under another name', '127.0.0.1', () => `?sslmode=verify-full&sslrootcert=${authority.ca}`],
    [
      'verify-full by another authority',
      'localhost',
      () => `?sslmode=verify-full&sslrootcert=${stranger.ca}`,
    ],
    [
      'verify-full by the authorities of the system',
      'localhost',
      () => '?sslmode=verify-full&sslrootcert=system',
    ],
    ['verify-ca by another authority', 'localhost', () => `?sslmode=verify-ca&sslrootcert=${stranger.ca}`],
    ['require by another authority', 'localhost', () => `?sslmode=require&sslrootcert=${stranger.ca}`],
  ])('is not used with %s', async (_, host, parameters) => {
    const error = await failureOf(at(host, parameters()));

    expect(error).toBeInstanceOf(Error);
    expect(isDatabaseOutage(error)).toBe(true);
  });

  test('is not used in the clear, which it refuses', async () => {
    expect(await failureOf(at('localhost', ''))).toBeInstanceOf(Error);
    expect(await failureOf(at('localhost', '?sslmode=disable'))).toBeInstanceOf(Error);
  });

  test('knows us by our certificate, where it asks for one', async () => {
    const verified = `?sslmode=verify-full&sslrootcert=${authority.ca}`;
    const as = ({ cert, key }: typeof client): string => `${verified}&sslcert=${cert}&sslkey=${key}`;

    expect(await encrypted(at('localhost', as(client), 'postgres'))).toBe(true);
    expect(await failureOf(at('localhost', verified, 'postgres'))).toBeInstanceOf(Error);
    expect(await failureOf(at('localhost', as(strangersClient), 'postgres'))).toBeInstanceOf(Error);
  });
});

test.each(['require', 'verify-ca', 'verify-full'])(
  'a PostgreSQL in the clear is not used with %s',
  async (mode) => {
    await using database = await cloneDatabase();
    const error = await failureOf(`${database.databaseUrl}?sslmode=${mode}&sslrootcert=${authority.ca}`);

    expect(error).toMatchObject({ message: expect.stringContaining('does not support SSL') });
    expect(isDatabaseOutage(error)).toBe(true);
  },
);
