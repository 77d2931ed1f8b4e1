import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { variablesWithStack } from '../../local/stack/stackVariables.ts';
import type { Variables } from '../../src/config.ts';
import type { Refusal } from '../../src/errors.ts';
import { aPepper, pepperVariable } from './database/pepper.ts';
import { type Outcome, runToEnd } from './processes/processes.ts';

/** The command line over one database. */
export interface Cli {
  /** Calls it in this process with these arguments. */
  readonly call: (...args: string[]) => Promise<Outcome>;
  /** The same as a process of its own: for what only that can show, since each takes more than a second of a core. */
  readonly callProcess: (...args: string[]) => Promise<Outcome>;
  /** Calls it with --json; what it answered. Throws unless it was done, and said nothing else. */
  json<T = Record<string, unknown>>(...args: string[]): Promise<T>;
  /** Calls it with --json; code and message of the refusal. Throws unless it was refused, with nothing answered. */
  refusal(...args: string[]): Promise<Pick<Refusal, 'code' | 'message'>>;
  readonly environment: Record<string, string | undefined>;
}

/** Called in this process; loaded by the first call, since many files start a stack and never call its command line. */
async function callHere(variables: Variables, args: readonly string[]): Promise<Outcome> {
  const { callCli } = await import('../../src/wiring/cliDeps.ts');
  let [stdout, stderr] = ['', ''];
  const code = await callCli(args, variablesWithStack(variables), {
    writeOut: (text) => void (stdout += text),
    writeError: (text) => void (stderr += text),
  });
  return { code, stdout, stderr };
}

/** The command line over a database, with a pepper of its own, away from any local stack. */
export function cliOn(databaseUrl: string, more: Record<string, string | undefined> = {}): Cli {
  const { NODE_OPTIONS: _jests, ...inherited } = process.env;
  const environment = {
    ...inherited,
    DATABASE_URL: databaseUrl,
    CFE_PEPPER: pepperVariable(aPepper()),
    CFE_DATA_DIR: join(tmpdir(), 'cfe-no-stack'),
    CFE_PUBLIC_URL: 'https://cfe.example.com',
    CFE_CONSOLE_URL: 'https://console.example.com',
    ...more,
  };
  const call = (...args: string[]) => callHere(environment, args);
  return {
    call,
    callProcess: (...args) => runToEnd(['local/main/cfe.ts', ...args], { env: environment }),
    environment,
    async json<T>(...args: string[]) {
      const { code, stdout, stderr } = await call(...args, '--json');
      if (code !== 0 || stderr !== '') throw new Error(`${args.join(' ')}: ${code} ${stderr}`);
      return JSON.parse(stdout) as T;
    },
    async refusal(...args) {
      const { code, stdout, stderr } = await call(...args, '--json');
      if (code !== 1 || stdout !== '') throw new Error(`${args.join(' ')}: ${code} ${stdout}${stderr}`);
      const { error } = JSON.parse(stderr) as { error: Pick<Refusal, 'code' | 'message'> };
      return { code: error.code, message: error.message };
    },
  };
}
