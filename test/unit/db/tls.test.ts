import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { ConfigurationError } from '../../../src/config.ts';
import { databaseTls } from '../../../src/db/tls.ts';
import { testAuthority } from '../../support/enterprises/certificates.ts';

const folder = mkdtempSync(join(tmpdir(), 'cfe-tls-'));
afterAll(() => rmSync(folder, { recursive: true }));
const authority = testAuthority(folder, 'Test authority');
const { ca } = authority;
const [one, other] = [authority.issue('one'), authority.issue('other')];
const nothing = join(folder, 'nothing.pem');
writeFileSync(nothing, 'no certificate');

const MODES = 'it must be disable, require, verify-ca or verify-full';

test.each([
  ['sslmode=prefer', `DATABASE_URL has sslmode=prefer, which this service does not offer; ${MODES}`],
  ['sslmode=no-verify', `DATABASE_URL has sslmode=no-verify, which this service does not offer; ${MODES}`],
  ['sslmode=require&sslmode=disable', 'DATABASE_URL has sslmode twice'],
  ['sslmode=', 'DATABASE_URL has sslmode with nothing in it'],
  ['ssl=true', 'has the parameter ssl, which this service does not know'],
  ['sslMode=verify-full', 'has the parameter sslMode, which this service does not know'],
  ['application_name=x', 'has the parameter application_name, which this service does not know'],
  [`sslrootcert=${ca}`, 'has sslrootcert without sslmode'],
  [`sslmode=disable&sslrootcert=${ca}`, 'has sslrootcert, which means nothing with sslmode=disable'],
  ['sslmode=verify-full', 'has sslmode=verify-full without sslrootcert'],
  ['sslmode=verify-ca', 'has sslmode=verify-ca without sslrootcert'],
  ['sslmode=verify-ca&sslrootcert=system', 'means something with sslmode=verify-full only'],
  [
    'sslmode=verify-full&sslrootcert=/nowhere',
    'has sslrootcert=/nowhere, a file that cannot be read (ENOENT)',
  ],
  [`sslmode=verify-full&sslrootcert=${nothing}`, 'has sslrootcert, which holds no certificate in PEM'],
  [`sslmode=require&sslcert=${one.cert}`, 'has one of sslcert and sslkey, which belong together'],
  [`sslmode=require&sslkey=${one.key}`, 'has one of sslcert and sslkey, which belong together'],
  [`sslmode=require&sslcert=${one.cert}&sslkey=${other.key}`, 'has sslcert and sslkey, which cannot be used'],
])('%s is refused, in words', (parameters, words) => {
  const read = () => databaseTls(`postgres://cfe:hush@db.example/cfe?${parameters}`);

  expect(read).toThrow(ConfigurationError);
  expect(read).toThrow(words);
  expect(read).not.toThrow(/hush/);
});

test('without a word about TLS there is none', () => {
  expect(databaseTls('postgres://cfe:p@db.example/cfe')).toBeUndefined();
  expect(databaseTls('postgres://cfe:p@db.example/cfe?sslmode=disable')).toBe(false);
});

test('the host whose name is checked is the one of the address, digits too', () => {
  const tls = databaseTls(`postgres://cfe:p@[::1]:5432/cfe?sslmode=verify-full&sslrootcert=${ca}`);

  expect(tls).toMatchObject({ host: '::1', rejectUnauthorized: true });
});
