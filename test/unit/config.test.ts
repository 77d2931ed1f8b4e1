import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { ConfigurationError, describeVariables, isSet, readConfig, VARIABLES } from '../../src/config.ts';
import { aPepper, pepperVariable } from '../support/database/pepper.ts';

const problemsOf = (work: () => unknown): string => {
  try {
    work();
  } catch (error) {
    if (error instanceof ConfigurationError) return error.message;
    throw error;
  }
  throw new Error('the configuration was taken');
};

describe('the configuration', () => {
  test('takes the default of what is not set, and of what is set to nothing', () => {
    expect(readConfig(['CFE_API_PORT', 'CFE_HOST'], { CFE_HOST: '' })).toEqual({
      CFE_API_PORT: 3000,
      CFE_HOST: '127.0.0.1',
    });
  });

  test('names the variable, what it holds and what it may hold', () => {
    expect(problemsOf(() => readConfig(['CFE_API_PORT'], { CFE_API_PORT: 'http' }))).toBe(
      'CFE_API_PORT holds "http"; it must be a port number, 0 to 65535 (0: any free port)',
    );
  });

  test('tells all that is wrong at once, what is missing too', () => {
    expect(
      problemsOf(() => readConfig(['CFE_PATIENCE', 'TEMPORAL_ADDRESS'], { CFE_PATIENCE: 'soon' })).split(
        '\n',
      ),
    ).toEqual([
      'CFE_PATIENCE holds "soon"; it must be a number with a unit s, m, h or d, such as 72h',
      'TEMPORAL_ADDRESS is not set; it must be host:port (the Temporal server; the local stack starts one of its own when this is not set)',
    ]);
  });

  test('never shows a secret', () => {
    const message = problemsOf(() => readConfig(['CFE_PEPPER'], { CFE_PEPPER: 'hunter2-hunter2' }));
    expect(message).toContain('CFE_PEPPER holds [a secret]');
    expect(message).not.toContain('hunter2');
  });

  test('reads keys with their ids', () => {
    const key = Buffer.alloc(32, 7).toString('base64');
    const { CFE_KEY_ENCRYPTION_KEYS: keys } = readConfig(['CFE_KEY_ENCRYPTION_KEYS'], {
      CFE_KEY_ENCRYPTION_KEYS: `new:x25519-private:${key}, old:x25519-private:${key}`,
    });
    expect(keys.map(({ id }) => id)).toEqual(['new', 'old']);
    expect(keys[0].key).toHaveLength(32);
  });

  test('does not take a private key where only the public one belongs, nor a symmetric one to seal by', () => {
    const key = Buffer.alloc(32, 7).toString('base64');
    for (const held of [
      `a:x25519-private:${key}`,
      `a:${key}`,
      `a:x25519-public:${key},b:x25519-public:${key}`,
    ]) {
      expect(problemsOf(() => readConfig(['CFE_SEALING_KEY'], { CFE_SEALING_KEY: held }))).toContain(
        'CFE_SEALING_KEY holds [a secret]; it must be id:x25519-public:key',
      );
    }
    for (const held of [`old:${key}`, `new:x25519-private:${key},old:${key}`, `a:x25519-public:${key}`]) {
      expect(
        problemsOf(() => readConfig(['CFE_KEY_ENCRYPTION_KEYS'], { CFE_KEY_ENCRYPTION_KEYS: held })),
      ).toContain('CFE_KEY_ENCRYPTION_KEYS holds [a secret]; it must be id:x25519-private:key');
    }
  });

  test.each([
    ['CFE_PATIENCE', '72h', 259_200],
    ['CFE_PATIENCE', '30s', 30],
    ['CFE_POLL_LONGEST_SECONDS', '2.5', 2.5],
  ] as const)('reads %s=%s as %s', (name, text, value) => {
    expect(readConfig([name], { [name]: text })[name]).toBe(value);
  });

  test('cannot be changed afterwards', () => {
    expect(Object.isFrozen(readConfig(['CFE_HOST'], {}))).toBe(true);
  });
});

describe('addresses to which logins, papers and receipts go', () => {
  const ADDRESSES = [
    'CFE_DGI_PRODUCTION_RECEPTION_URL',
    'CFE_DGI_PRODUCTION_CONSULTATION_URL',
    'CFE_DGI_PRODUCTION_REGISTRY_URL',
    'CFE_DGI_SANDBOX_RECEPTION_URL',
    'CFE_DGI_SANDBOX_CONSULTATION_URL',
    'CFE_RATES_URL',
    'CFE_CREDENTIALS_URL',
    'CFE_SANDBOX_PORTAL_URL',
    'CFE_PUBLIC_URL',
  ] as const;

  test.each(ADDRESSES)('%s takes http in development only', (name) => {
    const plain = { [name]: 'HTTP://authority.example/x' };

    for (const mode of [{}, { CFE_DEVELOPMENT: 'false' }, { CFE_DEVELOPMENT: 'yes' }]) {
      expect(problemsOf(() => readConfig([name], { ...plain, ...mode }))).toBe(
        `${name} holds "HTTP://authority.example/x"; it must be an https address: http is for development, which CFE_DEVELOPMENT=true declares`,
      );
    }
    expect(readConfig([name], { ...plain, CFE_DEVELOPMENT: 'true' })[name]).toBe(plain[name]);
    expect(readConfig([name], { [name]: 'https://authority.example/x' })[name]).toMatch(/^https:/);
  });

  test('are all of them: no other part of the authority has an address of its own', () => {
    const named = [
      ...describeVariables(VARIABLES).matchAll(/^# (CFE_(?:DGI|RATES|CREDENTIALS|SANDBOX|PUBLIC)_\w*URL)=/gm),
    ];

    expect(named.map(([, name]) => name)).toEqual([...ADDRESSES]);
  });
});

describe('a secret from a file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'cfe-secrets-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const pepper = aPepper('p1');

  function aFile(content: string): string {
    const path = join(folder, `${Math.random()}`);
    writeFileSync(path, content);
    return path;
  }

  const PEPPERS =
    'id:key[,…], each key 32 bytes in base64, each id unique; the first makes new values, all verify existing ones';

  test.each(['', '\n', '\r\n'])('counts without the newline at its end: %j', (end) => {
    const file = aFile(`${pepperVariable(pepper)}${end}`);

    expect(readConfig(['CFE_PEPPER'], { CFE_PEPPER_FILE: file })).toEqual({ CFE_PEPPER: [pepper] });
  });

  test('loses nothing else: a password may begin and end with blanks', () => {
    const file = aFile(' pass word \n\n');

    expect(
      readConfig(['CFE_SERVICE_CERTIFICATE_PASSWORD'], { CFE_SERVICE_CERTIFICATE_PASSWORD_FILE: file }),
    ).toEqual({ CFE_SERVICE_CERTIFICATE_PASSWORD: ' pass word \n' });
  });

  test('counts as set', () => {
    expect(isSet('DATABASE_URL', { DATABASE_URL_FILE: '/run/secrets/database_url' })).toBe(true);
    expect(isSet('DATABASE_URL', {})).toBe(false);
  });

  test('beside the secret itself is refused: which one counts, nobody could tell', () => {
    const both = { CFE_PEPPER: pepperVariable(pepper), CFE_PEPPER_FILE: aFile('x') };

    expect(problemsOf(() => readConfig(['CFE_PEPPER'], both))).toBe(
      'CFE_PEPPER and CFE_PEPPER_FILE are both set; set one of them',
    );
  });

  test('that cannot be read is named with its variable', () => {
    const path = join(folder, 'nowhere');

    expect(problemsOf(() => readConfig(['CFE_PEPPER'], { CFE_PEPPER_FILE: path }))).toBe(
      `CFE_PEPPER_FILE names ${path}, which cannot be read (ENOENT)`,
    );
    expect(problemsOf(() => readConfig(['CFE_PEPPER'], { CFE_PEPPER_FILE: folder }))).toBe(
      `CFE_PEPPER_FILE names ${folder}, which cannot be read (EISDIR)`,
    );
  });

  test.each([
    ['what is no pepper', 'hunter2-hunter2', `[a secret]; it must be ${PEPPERS}`],
    ['two peppers of one id', pepperVariable(pepper, pepper), `[a secret]; it must be ${PEPPERS}`],
    [
      'nothing',
      '\n',
      `nothing; it must be ${PEPPERS} (keys of the hashes of API keys and of idempotent request bodies)`,
    ],
  ])('that holds %s is named, its content is not', (_, content, told) => {
    const file = aFile(content);

    const problem = problemsOf(() => readConfig(['CFE_PEPPER'], { CFE_PEPPER_FILE: file }));

    expect(problem).toBe(`CFE_PEPPER_FILE names ${file}, which holds ${told}`);
    expect(problem).not.toContain('hunter2');
  });

  test('is for secrets only: a port in a file is no port', () => {
    expect(readConfig(['CFE_API_PORT'], { CFE_API_PORT_FILE: aFile('3999') })).toEqual({
      CFE_API_PORT: 3000,
    });
  });
});
