/** The secrets of the local stack, made at its first start and kept in `secrets.json` (mode 600). */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { newKeyEncryptionKey, newPassword, newPepper, newTokenKey } from '../../src/crypto/newSecrets.mjs';
import { hasCluster } from './postgres/postgres.ts';
import { StackError } from './stackError.ts';
import { writeAtOnce } from './writeAtOnce.ts';

const secretsSchema = z.object({
  /** As CFE_KEY_ENCRYPTION_KEYS holds it. */
  key_encryption_keys: z.string().min(1),
  /** As CFE_PEPPER and CFE_CONSOLE_PEPPER hold them. */
  pepper: z.string().min(1),
  console_pepper: z.string().min(1),
  /** As CFE_TOKEN_KEYS holds it, parsed. */
  token_keys: z.array(z.record(z.string(), z.string())).min(1),
  /** Of the owner of the database. */
  database_password: z.string().min(1),
  /** Of the programs' roles (db/rights.ts); `operator`: the command line. */
  role_passwords: z.object({
    api: z.string().min(1),
    console: z.string().min(1),
    worker: z.string().min(1),
    operator: z.string().min(1),
  }),
  /** The API keys of the account *Local developer*, once it exists. */
  live_api_key: z.string().min(1).optional(),
  test_api_key: z.string().min(1).optional(),
  /** Logins of the console, once they exist. */
  console_operator: z.object({ email: z.string(), password: z.string(), totp_secret: z.string() }).optional(),
  console_customer: z.object({ email: z.string(), password: z.string() }).optional(),
});

export type StackSecrets = z.infer<typeof secretsSchema>;

const fileOf = (dataDir: string): string => join(dataDir, 'secrets.json');

/**
 * The secrets of a data folder, made when it has neither secrets nor a database. Throws StackError when the file is
 * missing but the database is there (what the old keys sealed could never be opened), or when it cannot be read.
 */
export function openSecrets(dataDir: string): { secrets: StackSecrets; made: boolean } {
  const file = fileOf(dataDir);
  if (existsSync(file)) return { secrets: read(file), made: false };
  if (hasCluster(dataDir)) {
    throw new StackError(
      `${file} is missing, but the database in ${join(dataDir, 'postgres')} needs it: its keys and passwords cannot be read without it.\n` +
        `Restore the file from a copy, or remove ${dataDir} to start afresh.`,
    );
  }
  const secrets = makeSecrets();
  keepSecrets(dataDir, secrets);
  return { secrets, made: true };
}

/** Writes the secrets atomically. */
export function keepSecrets(dataDir: string, secrets: StackSecrets): void {
  writeAtOnce(fileOf(dataDir), `${JSON.stringify(secrets, null, 2)}\n`, 0o600);
}

function read(file: string): StackSecrets {
  try {
    return secretsSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    // The cause would quote the file.
    throw new StackError(`${file} is damaged. Restore it from a copy, or remove its folder to start afresh.`);
  }
}

const makeSecrets = (): StackSecrets => ({
  key_encryption_keys: newKeyEncryptionKey('local-pair'),
  pepper: newPepper('local'),
  console_pepper: newPepper('local'),
  token_keys: [newTokenKey('local')],
  database_password: newPassword(),
  role_passwords: {
    api: newPassword(),
    console: newPassword(),
    worker: newPassword(),
    operator: newPassword(),
  },
});
