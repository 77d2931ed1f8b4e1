import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Cli, cliOn } from '../../support/cli.ts';
import { cloneDatabase, emptyDatabase, type TestDatabase } from '../../support/database/database.ts';
import { freePort } from '../../support/processes/services.ts';

const NOWHERE = 'postgres://cfe:geheim@127.0.0.1:1/cfe';

test('help needs no database', async () => {
  const { code, stdout, stderr } = await cliOn(NOWHERE).callProcess('--help');

  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toContain('Usage: npm run -s cfe -- ');
});

test('wrong usage is 2, says what is wrong, and answers nothing', async () => {
  const { code, stdout, stderr } = await cliOn(NOWHERE).callProcess('acount', 'list');

  expect([code, stdout]).toEqual([2, '']);
  expect(stderr).toBe("error: unknown command 'acount'\n(Did you mean account?)\n");
});

describe('the database', () => {
  let db: TestDatabase;
  let cli: Cli;
  const folder = mkdtempSync(join(tmpdir(), 'cfe-cli-'));
  beforeAll(async () => {
    db = await cloneDatabase();
    cli = cliOn(db.urlOf('operator'));
  });
  afterAll(async () => {
    rmSync(folder, { recursive: true });
    await db[Symbol.asyncDispose]();
  });

  test('an empty list is an empty document, and a word for people', async () => {
    expect((await cli.call('account', 'list', '--json')).stdout).toBe('[]\n');
    expect((await cli.call('account', 'list')).stdout).toBe('(none)\n');
  });

  test('one that is empty is made ready: the first account of a new service', async () => {
    await using empty = await emptyDatabase();
    const first = cliOn(empty.databaseUrl);

    const made = await first.json('account', 'create', '--name', 'Primera', '--email', 'p@example.com');

    expect(await first.json('account', 'list')).toMatchObject([made]);
  });

  test('its address may stand in a file; a file that cannot be read is a refusal', async () => {
    const file = join(folder, 'database_url');
    writeFileSync(file, `${db.databaseUrl}\n`);
    const named = (path: string) => cliOn('', { DATABASE_URL: undefined, DATABASE_URL_FILE: path });

    expect(await named(file).json('account', 'list')).toEqual([]);
    expect(await named(join(folder, 'nowhere')).refusal('account', 'list')).toEqual({
      code: 'UNAVAILABLE',
      message: `DATABASE_URL_FILE names ${join(folder, 'nowhere')}, which cannot be read (ENOENT)`,
    });
  });

  test('one that cannot be reached is a refusal without its address or password', async () => {
    const port = await freePort();
    const cli = cliOn(`postgres://cfe:geheim@127.0.0.1:${port}/cfe`);
    const { code, stdout, stderr } = await cli.callProcess('account', 'list');

    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toBe('UNAVAILABLE: The database cannot be reached.\n');
  });

  test('none at all is a refusal that says what to do', async () => {
    const { code, stderr } = await cliOn('').callProcess('account', 'list');

    expect(code).toBe(1);
    expect(stderr).toBe(
      'UNAVAILABLE: No database is configured: set DATABASE_URL, or start the local stack (npm start).\n',
    );
  });
});
