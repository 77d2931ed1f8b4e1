import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Refusal } from '../../src/errors.ts';
import { type Outcome, runToEnd } from './processes.ts';

/** The command line as a process, over one database. */
export interface Cli {
  /** Calls it with these arguments, `input` written to its standard input. */
  call(...args: string[]): Promise<Outcome>;
  /** Calls it with --json; what it answered. Throws unless it was done, and said nothing else. */
  json<T = Record<string, unknown>>(...args: string[]): Promise<T>;
  /** Calls it with --json; code and message of the refusal. Throws unless it was refused, with nothing answered. */
  refusal(...args: string[]): Promise<Pick<Refusal, 'code' | 'message'>>;
  readonly environment: Record<string, string | undefined>;
}

/** The command line over a database, with a pepper of its own, away from any local stack. */
export function cliOn(databaseUrl: string, more: Record<string, string | undefined> = {}): Cli {
  const { NODE_OPTIONS: _jests, ...inherited } = process.env;
  const environment = {
    ...inherited,
    DATABASE_URL: databaseUrl,
    CFE_PEPPER: randomBytes(32).toString('base64'),
    CFE_DATA_DIR: join(tmpdir(), 'cfe-no-stack'),
    CFE_PUBLIC_URL: 'https://cfe.example.com',
    CFE_CONSOLE_URL: 'https://console.example.com',
    ...more,
  };
  const call = (...args: string[]) => runToEnd(['src/main/cli.ts', ...args], { env: environment });
  return {
    call,
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
