// @ts-check
/**
 * `npm run secrets -- FOLDER [--new-key] [--new-pepper]`: makes the missing secrets of
 * docker-compose.temporal.yml in a folder, one file each. Refuses a folder that other users can read.
 * Existing files stay: a lost pepper or key-encryption key cannot be recreated. With `--new-key` a new pair
 * of keys seals from now on, and with `--new-pepper` new peppers hash; the previous ones still open and
 * verify. Runs on Node 20 or later, with nothing installed.
 */
import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import {
  newKeyEncryptionKey,
  newPassword,
  newPepper,
  newTokenKey,
  sealingKeyFor,
} from '../crypto/newSecrets.mjs';

/**
 * Only the owner can read the folder; the files are readable, because each is mounted into containers with
 * other users.
 */
const FOLDER_MODE = 0o700;
const FILE_MODE = 0o444;

/** The programs that log in to the database, each with the role cfe_<program> (src/db/rights.ts). */
const PROGRAMS = ['api', 'console', 'worker', 'operator'];
const PEPPERS = ['cfe_pepper', 'cfe_console_pepper'];
const KEYS = 'cfe_key_encryption_keys';
const SEALING_KEY = 'cfe_sealing_key';

/**
 * Each file with its initial content, in the order of their creation.
 * @type {Readonly<Record<string, (folder: string) => string>>}
 */
const SECRETS = {
  postgres_password: newPassword,
  temporal_database_password: newPassword,
  cfe_database_password: newPassword,
  cfe_database_url: databaseUrlOf('cfe'),
  ...Object.fromEntries(
    PROGRAMS.flatMap((program) => [
      [`cfe_${program}_database_password`, newPassword],
      [`cfe_${program}_database_url`, databaseUrlOf(`cfe_${program}`)],
    ]),
  ),
  cfe_key_encryption_keys: newPair,
  cfe_sealing_key: (folder) => sealingKeyFor(contentOf(folder, KEYS)),
  ...Object.fromEntries(PEPPERS.map((name) => [name, () => newPepper(newId('p'))])),
  cfe_token_keys: () => JSON.stringify([newTokenKey('t')]),
  // The operator's certificate comes from outside, if any, with its password.
  cfe_service_certificate_password: () => '',
  // So do the mail server and the key that signs e-mails.
  cfe_smtp_url: () => '',
  cfe_mail_dkim_key: () => '',
};

/** @type {(folder: string, name: string) => string} */
const contentOf = (folder, name) => readFileSync(join(folder, name), 'utf8').trim();

/** @type {(role: string) => (folder: string) => string} */
function databaseUrlOf(role) {
  return (folder) => `postgres://${role}:${contentOf(folder, `${role}_database_password`)}@postgres:5432/cfe`;
}

/**
 * Returns a unique id.
 * @type {(prefix: string) => string}
 */
function newId(prefix) {
  const day = new Date().toISOString().slice(0, 10).replaceAll('-', '');
  return `${prefix}${day}-${randomBytes(2).toString('hex')}`;
}

/** Returns the private half of a new pair with a unique id. */
function newPair() {
  return newKeyEncryptionKey(newId('k'));
}

/**
 * Renames the file only once it is complete: programs that start meanwhile read the old or the new one.
 * @type {(path: string, content: string) => void}
 */
function write(path, content) {
  const written = `${path}.new`;
  writeFileSync(written, `${content}\n`, { mode: 0o600 });
  chmodSync(written, FILE_MODE);
  renameSync(written, path);
}

/**
 * @param {string} folder
 * @param {{ newKey: boolean, newPepper: boolean }} options
 */
function makeSecrets(folder, options) {
  mkdirSync(folder, { recursive: true, mode: FOLDER_MODE });
  // The files are readable, so only the folder's mode keeps other users out.
  if ((statSync(folder).mode & 0o077) !== 0) {
    console.error(`Other users can read ${folder}. Close it first: chmod 700 ${folder}`);
    process.exitCode = 1;
    return;
  }
  const path = (/** @type {string} */ name) => join(folder, name);
  const remade = new Set();
  if (options.newKey && existsSync(path(KEYS))) {
    write(path(KEYS), `${newPair()},${contentOf(folder, KEYS)}`);
    for (const name of [KEYS, SEALING_KEY]) remade.add(name);
  }
  for (const name of PEPPERS.filter((one) => options.newPepper && existsSync(path(one)))) {
    write(path(name), `${newPepper(newId('p'))},${contentOf(folder, name)}`);
    remade.add(name);
  }
  for (const [name, content] of Object.entries(SECRETS)) {
    const there = existsSync(path(name));
    if (!there || (name === SEALING_KEY && remade.has(name))) write(path(name), content(folder));
    console.log(`${remade.has(name) ? 'changed' : there ? 'kept' : 'made'} ${path(name)}`);
  }
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  strict: false,
  options: { 'new-key': { type: 'boolean' }, 'new-pepper': { type: 'boolean' } },
});
const [folder, ...others] = positionals;
const unknown = Object.keys(values).filter((name) => !['new-key', 'new-pepper'].includes(name));
if (folder === undefined || others.length + unknown.length > 0) {
  console.error(
    'Which folder? For example: npm run secrets -- secrets (with --new-key: a new key seals; with --new-pepper: new peppers hash)',
  );
  process.exitCode = 2;
} else {
  makeSecrets(resolve(folder), {
    newKey: values['new-key'] === true,
    newPepper: values['new-pepper'] === true,
  });
}
