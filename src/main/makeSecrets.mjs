// @ts-check
/**
 * `npm run secrets -- FOLDER`: makes the secrets of docker-compose.temporal.yml that a folder lacks, one file each. What
 * is there stays as it is: a lost pepper or key-encryption key cannot be made anew. Runs on any Node from 20 on, with
 * nothing installed.
 */
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { newKeyEncryptionKey, newPassword, newPepper, newTokenKey } from '../crypto/newSecrets.mjs';

/** Only its owner looks into the folder; the files are open, for each is mounted into containers with other users. */
const FOLDER_MODE = 0o700;
const FILE_MODE = 0o444;

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
  cfe_key_encryption_keys: () => newKeyEncryptionKey(`k-${new Date().toISOString().slice(0, 10)}`),
  cfe_pepper: newPepper,
  cfe_token_keys: () => JSON.stringify([newTokenKey('t')]),
  // The operator's own certificate comes from outside, if there is one, and its password with it.
  cfe_service_certificate_password: () => '',
};

/** @type {(folder: string, name: string) => string} */
const contentOf = (folder, name) => readFileSync(join(folder, name), 'utf8').trim();

/** @param {string} folder */
function makeSecrets(folder) {
  mkdirSync(folder, { recursive: true, mode: FOLDER_MODE });
  for (const [name, content] of Object.entries(SECRETS)) {
    const path = join(folder, name);
    const there = existsSync(path);
    if (!there) {
      writeFileSync(path, `${content(folder)}\n`, { flag: 'wx' });
      chmodSync(path, FILE_MODE);
    }
    console.log(`${there ? 'kept' : 'made'} ${path}`);
  }
}

const [folder, ...others] = process.argv.slice(2);
if (folder === undefined || others.length > 0) {
  console.error('Which folder? For example: npm run secrets -- secrets');
  process.exitCode = 2;
} else {
  makeSecrets(resolve(folder));
}
