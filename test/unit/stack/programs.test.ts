import { expect, test } from '@jest/globals';
import { type ProgramSettings, programVariables } from '../../../local/stack/programs.ts';
import { isSet, readConfig } from '../../../src/config.ts';
import { newKeyEncryptionKey } from '../../../src/crypto/newSecrets.mjs';

const SETTINGS: Omit<ProgramSettings, 'variables'> = {
  dataDir: '/data',
  secrets: {
    key_encryption_keys: newKeyEncryptionKey('local'),
    pepper: `local:${Buffer.alloc(32).toString('base64')}`,
    console_pepper: `local:${Buffer.alloc(32, 1).toString('base64')}`,
    token_keys: [],
    database_password: 'p',
    role_passwords: { api: 'a', console: 'c', worker: 'w', operator: 'o' },
  },
  ports: {
    api: 1,
    metrics: 2,
    workerMetrics: 3,
    console: 8,
    consoleMetrics: 9,
    postgres: 4,
    temporal: 5,
    temporalUi: 6,
    simulator: 7,
    smtp: 8,
  },
  databaseUrl: (login: string) => `postgres://cfe_${login}:p@127.0.0.1:4/cfe`,
  temporalAddress: '127.0.0.1:5',
  temporalNamespace: 'default',
  simulatorUrl: 'http://127.0.0.1:7',
  smtpUrl: 'smtp://127.0.0.1:8',
  apiUrl: 'http://127.0.0.1:1',
  consoleUrl: 'http://127.0.0.1:8',
};

test('the secrets of the local stack stand alone, whatever files a person’s variables name', () => {
  const variables = {
    CFE_PEPPER_FILE: '/run/secrets/pepper',
    DATABASE_URL_FILE: '/run/secrets/database_url',
    CFE_SERVICE_CERTIFICATE_FILE: '/papers/own.p12',
    CFE_SERVICE_CERTIFICATE_PASSWORD_FILE: '/run/secrets/password',
  };

  const given = programVariables('api', { ...SETTINGS, variables });

  expect(readConfig(['CFE_PEPPER', 'DATABASE_URL'], given)).toMatchObject({
    DATABASE_URL: 'postgres://cfe_api:p@127.0.0.1:4/cfe',
  });
  expect(isSet('CFE_SERVICE_CERTIFICATE_PASSWORD', given)).toBe(true);
  expect(given).toMatchObject({
    CFE_SERVICE_CERTIFICATE_FILE: '/papers/own.p12',
    CFE_SERVICE_CERTIFICATE_PASSWORD_FILE: '/run/secrets/password',
  });
});

test('each program holds the secrets that it needs, and no other, even where a person’s variables have them', () => {
  const all = [
    'CFE_PEPPER',
    'CFE_CONSOLE_PEPPER',
    'CFE_TOKEN_KEYS',
    'CFE_KEY_ENCRYPTION_KEYS',
    'CFE_SEALING_KEY',
    'DATABASE_URL',
  ] as const;
  const variables = Object.fromEntries(
    all.flatMap((name) => [
      [name, 'x'],
      [`${name}_FILE`, '/x'],
    ]),
  );
  const held = (program: 'api' | 'worker' | 'simulator' | 'console') => {
    const given = programVariables(program, { ...SETTINGS, variables });
    return all.filter((name) => isSet(name, given));
  };

  expect(held('api')).toEqual(['CFE_PEPPER', 'CFE_TOKEN_KEYS', 'CFE_SEALING_KEY', 'DATABASE_URL']);
  expect(held('worker')).toEqual(['CFE_KEY_ENCRYPTION_KEYS', 'DATABASE_URL']);
  expect(held('simulator')).toEqual([]);
  expect(held('console')).toEqual(['CFE_PEPPER', 'CFE_CONSOLE_PEPPER', 'CFE_SEALING_KEY', 'DATABASE_URL']);
});
