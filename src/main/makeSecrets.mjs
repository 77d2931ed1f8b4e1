// @ts-check
/**
 * `npm run secrets -- FOLDER [--new-key]`: makes the secrets of docker-compose.temporal.yml that a folder lacks, one file
 * each. A folder that others may look into is refused. What is there stays as it is: a lost pepper or key-encryption key cannot be made anew. With `--new-key` a new
 * pair of keys seals from now on; the keys before it still open. Runs on any Node from 20 on, with nothing installed.
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

/** Only its owner looks into the folder; the files are open, for each is mounted into containers with other users. */
const FOLDER_MODE = 0o700;
const FILE_MODE = 0o444;

const KEYS = 'cfe_key_encryption_keys';
const SEALING_KEY = 'cfe_sealing_key';

/**
 * Each file with what it holds at first, in the order in which they are made.
 * @type {Readonly<Record<string, (folder: string) => string>>}
 */
const SECRETS = {
  postgres_password: newPassword,
  temporal_database_password: newPassword,
  cfe_database_password: newPassword,
  cfe_database_url: (folder) =>
    `postgres://cfe:${contentOf(folder, 'cfe_database_password')}@postgres:5432/cfe`,
  cfe_app_database_password: newPassword,
  cfe_app_database_url: (folder) =>
    `postgres://cfe_app:${contentOf(folder, 'cfe_app_database_password')}@postgres:5432/cfe`,
  cfe_key_encryption_keys: newPair,
  cfe_sealing_key: (folder) => String(sealingKeyFor(contentOf(folder, KEYS))),
  cfe_pepper: newPepper,
  cfe_token_keys: () => JSON.stringify([newTokenKey('t')]),
  // The operator's own certificate comes from outside, if there is one, and its password with it.
  cfe_service_certificate_password: () => '',
  // So do the mail server and the key that signs e-mails.
  cfe_smtp_url: () => '',
  cfe_mail_dkim_key: () => '',
};

/** @type {(folder: string, name: string) => string} */
const contentOf = (folder, name) => readFileSync(join(folder, name), 'utf8').trim();

/** A pair under an id that no other has: its private half. */
function newPair() {
  const day = new Date().toISOString().slice(0, 10).replaceAll('-', '');
  return newKeyEncryptionKey(`k${day}-${randomBytes(2).toString('hex')}`);
}

/**
 * Under its name only once it is whole: programs that start meanwhile read the old or the new.
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
 * @param {{ newKey: boolean }} wishes
 */
function makeSecrets(folder, { newKey }) {
  mkdirSync(folder, { recursive: true, mode: FOLDER_MODE });
  // The files are open, so the folder alone keeps others out: one that was there may not.
  if ((statSync(folder).mode & 0o077) !== 0) {
    console.error(`Others than its owner may look into ${folder}. Close it first: chmod 700 ${folder}`);
    process.exitCode = 1;
    return;
  }
  const path = (/** @type {string} */ name) => join(folder, name);
  const remade = new Set();
  // Versions before had a symmetric key there: no public half of it could be given away.
  const noPair = existsSync(path(KEYS)) && sealingKeyFor(contentOf(folder, KEYS)) === undefined;
  if (noPair || (newKey && existsSync(path(KEYS)))) {
    write(path(KEYS), `${newPair()},${contentOf(folder, KEYS)}`);
    for (const name of [KEYS, SEALING_KEY]) remade.add(name);
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
  options: { 'new-key': { type: 'boolean' } },
});
const [folder, ...others] = positionals;
const unknown = Object.keys(values).filter((name) => name !== 'new-key');
if (folder === undefined || others.length + unknown.length > 0) {
  console.error(
    'Which folder? For example: npm run secrets -- secrets (with --new-key: and a new key seals)',
  );
  process.exitCode = 2;
} else {
  makeSecrets(resolve(folder), { newKey: values['new-key'] === true });
}
