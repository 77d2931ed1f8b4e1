import { describe, expect, test } from '@jest/globals';
import { GROUPS } from '../../../src/cli/groups/index.ts';
import { runCli } from '../../../src/cli/run.ts';
import { actingVerb, type CliDeps, type Group, verbGroup } from '../../../src/cli/verb.ts';
import { ConfigurationError } from '../../../src/config.ts';
import { exactNumber } from '../../../src/domain/values/exactNumber.ts';
import { invalidInput, Refusal } from '../../../src/errors.ts';

/** Runs the command line in this process, without a database. */
async function call(args: string[], groups: readonly Group[] = GROUPS) {
  let [stdout, stderr, opened] = ['', '', false];
  const code = await runCli(args, groups, {
    writeOut: (text) => void (stdout += text),
    writeError: (text) => void (stderr += text),
    withDeps(_who, work) {
      opened = true;
      return work({} as CliDeps);
    },
    refusalFor: (error) =>
      error instanceof RangeError ? new Refusal('UNAVAILABLE', 'It is away.') : undefined,
  });
  return { code, stdout, stderr, opened };
}

const plain = (text: string) => text.replace(/\s+/g, ' ');
const verbs = GROUPS.flatMap(({ name, verbs: ofGroup }) =>
  ofGroup.map((verb) => [`${name} ${verb.name}`, verb] as const),
);

describe('help', () => {
  test('of the whole names every group, the exit codes and examples', async () => {
    const { code, stdout, opened } = await call(['--help']);

    expect([code, opened]).toEqual([0, false]);
    for (const { name, summary } of GROUPS) expect(plain(stdout)).toContain(`${name} ${summary}`);
    expect(plain(stdout)).toContain('Exit codes: 0 done, 1 refused');
    expect(stdout).toMatch(/Examples:\n {2}npm run -s cfe -- account create/);
  });

  test.each(GROUPS.map((group) => [group.name, group] as const))(
    'of %s names its verbs, with examples',
    async (_, group) => {
      const { code, stdout } = await call([group.name, '--help']);

      expect(code).toBe(0);
      for (const { summary } of group.verbs) expect(plain(stdout)).toContain(summary);
      expect(stdout).toContain(`Examples:\n  npm run -s cfe -- ${group.name} `);
    },
  );

  test.each(verbs)('of %s names its arguments and options, with examples', async (path, verb) => {
    const { code, stdout } = await call([...path.split(' '), '--help']);

    expect(code).toBe(0);
    for (const name of verb.args) expect(verb.takes.shape).toHaveProperty(name);
    for (const [name, { description }] of Object.entries(verb.takes.shape)) {
      const dashed = name.replace(/_|(?=[A-Z])/g, '-').toLowerCase();
      expect(stdout).toMatch(verb.args.includes(name) ? name.toUpperCase() : `  --${dashed}`);
      expect(description).toBeTruthy();
      expect(plain(stdout)).toContain(description);
    }
    expect(stdout).toContain('--json');
    expect(stdout).toContain(`Examples:\n  npm run -s cfe -- ${path}`);
  });

  test.each(verbs)('the examples of %s are right usage', async (path, verb) => {
    for (const example of verb.examples) {
      const words = [...example.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, word]) => quoted ?? word ?? '');
      const { code, opened } = await call([...path.split(' '), ...words]);

      // Without a database the verb itself fails, which is not what is asked here.
      expect([code === 2, opened]).toEqual([false, true]);
    }
  });
});

describe('wrong usage is 2, says what is wrong, and answers nothing', () => {
  test.each<[string[], RegExp]>([
    [['acount', 'list'], /unknown command 'acount'\n\(Did you mean account\?\)/],
    [['account', 'lits'], /unknown command 'lits'\n\(Did you mean list\?\)/],
    [['account', 'list', '--jsn'], /unknown option '--jsn'\n\(Did you mean --json\?\)/],
    [['account', 'create', '--name', 'x'], /required option '--email <email>' not specified/],
    [['account', 'show'], /missing required argument 'ACCOUNT'/],
    [['account', 'show', 'one', 'two'], /too many arguments/],
    [['key', 'create', 'x', '--environment', 'prod'], /Allowed choices are production, sandbox/],
    [['grant', 'set', 'x', '219999830019', '--role', 'OWNER'], /Allowed choices are VIEWER, MEMBER/],
    [['limit', 'set', 'x', '--environment', 'sandbox', '--per-hour', '0'], /whole number from 1 to/],
    [['limit', 'set', 'x', '--environment', 'sandbox', '--per-hour', '1.5'], /whole number from 1 to/],
    [['limit', 'set', 'x', '--environment', 'sandbox', '--per-hour', '1000000001'], /whole number from/],
    [['limit', 'set', 'x', '--environment', 'sandbox', '--per-hour', 'many'], /whole number from 1 to/],
    [['cfe', 'retry', '--reason', 'x'], /give RUT and CFE_ID, or at least one filter/],
    [['cfe', 'retry', '--reason', 'x', '--dry-run'], /or at least one filter/],
    [['cfe', 'retry', '219999830019', '101-1'], /required option '--reason <text>' not specified/],
    [
      ['cfe', 'retry', '219999830019', '101-1', '--reason', 'x', '--status', 'PENDING'],
      /CFE_ID cannot be combined with filters/,
    ],
    [
      ['cfe', 'retry', '219999830019', '--rut', '219999830019', '--reason', 'x'],
      /RUT must not be given twice/,
    ],
    [
      ['cfe', 'retry', '--rut', '219999830019', '--action', 'abandon', '--reason', 'x'],
      /to abandon several CFEs, give their --stuck-reason/,
    ],
    [['cfe', 'retry', '--status', 'STUCK', '--reason', 'x'], /Allowed choices are PENDING/],
    [['cfe', 'retry', '--rut', '219999830019', '--action', 'resend', '--reason', 'x'], /Allowed choices/],
    [['account'], /Usage: /],
    [[], /Usage: /],
  ])('%j', async (args, words) => {
    const { code, stdout, stderr, opened } = await call(args);

    expect([code, stdout, opened]).toEqual([2, '', false]);
    expect(stderr).toMatch(words);
  });
});

/** A group whose verb answers, or throws, what it is given. */
const thing = (outcome: unknown): Group[] => [
  verbGroup('thing', 'Things', {
    do: actingVerb({
      summary: 'Do it',
      examples: [''],
      run: async () => {
        if (outcome instanceof Error) throw outcome;
        return outcome as Record<string, unknown>;
      },
    }),
  }),
];

describe('an answer', () => {
  const rows = [
    { id: 'a', amount: exactNumber('990.50'), of: null, more: { deep: [1] } },
    { id: 'longer', amount: exactNumber('12345678901234.56'), of: 'x\u001b[31m', more: {} },
  ];

  test('is one JSON document with --json, its amounts exact', async () => {
    const { code, stdout, stderr } = await call(['thing', 'do', '--json'], thing(rows));

    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toContain('"amount": 12345678901234.56');
    expect(JSON.parse(stdout)).toMatchObject([{ id: 'a', amount: 990.5, of: null }, { id: 'longer' }]);
  });

  test('is a table for people, in which nothing writes to the terminal', async () => {
    expect((await call(['thing', 'do'], thing(rows))).stdout).toBe(
      'id      amount             of      more\n' +
        'a       990.5              -       {"deep":[1]}\n' +
        'longer  12345678901234.56  x [31m  {}\n',
    );
    expect((await call(['thing', 'do'], thing(rows[0]))).stdout).toBe(
      'id      a\namount  990.5\nof      -\nmore    {"deep":[1]}\n',
    );
    expect((await call(['thing', 'do'], thing([]))).stdout).toBe('(none)\n');
  });
});

describe('a refusal is 1, on standard error alone', () => {
  const faults = [
    { path: '/a', code: 'x', message: 'a: is wrong.' },
    { path: '/b', code: 'y', message: 'b: is wrong.' },
  ];

  test.each<[string, Error, string, unknown]>([
    [
      'one of ours',
      new Refusal('NOT_FOUND', 'There is none.'),
      'NOT_FOUND: There is none.\n',
      { code: 'NOT_FOUND', message: 'There is none.' },
    ],
    [
      'one with faults',
      invalidInput(faults),
      'INVALID_INPUT: a: is wrong. (2 faults; see details.fields.)\n  a: is wrong.\n  b: is wrong.\n',
      {
        code: 'INVALID_INPUT',
        message: 'a: is wrong. (2 faults; see details.fields.)',
        details: { fields: faults },
      },
    ],
    [
      'a wrong configuration',
      new ConfigurationError('X is not set'),
      'UNAVAILABLE: X is not set\n',
      { code: 'UNAVAILABLE', message: 'X is not set' },
    ],
    [
      'what the ports know',
      new RangeError('secret'),
      'UNAVAILABLE: It is away.\n',
      { code: 'UNAVAILABLE', message: 'It is away.' },
    ],
  ])('%s', async (_, error, text, json) => {
    expect(await call(['thing', 'do'], thing(error))).toMatchObject({ code: 1, stdout: '', stderr: text });
    const asked = await call(['thing', 'do', '--json'], thing(error));
    expect([asked.code, asked.stdout, JSON.parse(asked.stderr)]).toEqual([1, '', { error: json }]);
  });

  test('a bug says where it happened, not what was in its hands', async () => {
    const { code, stdout, stderr } = await call(['thing', 'do'], thing(new TypeError('hunter2')));

    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(/^INTERNAL_ERROR: Something went wrong \(TypeError\)\.\n {4}at /);
    expect(
      stderr
        .split('\n')
        .filter((line) => !line.startsWith('    at '))
        .join(),
    ).not.toContain('hunter2');
  });
});
