/** What the caller of `startStack` decides. */
import type { Variables } from '../config.ts';
import type { TemporalServer } from '../temporal.ts';
import type { StackPorts } from './ports.ts';
import type { Say } from './progress.ts';
import type { StackSecrets } from './secrets.ts';
import type { PartName } from './stackFile.ts';

/** What a program may have to wait for; `prepared`: `prepare` has been called. */
export type StartStage = 'postgres' | 'temporal' | 'prepared';

/** The parts that are our own programs. */
export type ProgramName = Exclude<PartName, 'postgres' | 'temporal'>;

interface Program {
  /** Absolute path of its TypeScript file. */
  readonly program: string;
  readonly needs: readonly StartStage[];
}

/** Makes the database ready: migrations, the account *Local developer* and its keys. Called at every start. */
export type Prepare = (input: {
  /** Absolute. */
  dataDir: string;
  databaseUrl: string;
  /** With the API keys of earlier starts, which must not change. */
  secrets: StackSecrets;
  /** They were made just now: a database that already holds data was not made with them. */
  secretsAreNew: boolean;
  simulatorUrl: string;
}) => Promise<ApiKeys>;

export interface ApiKeys {
  live_api_key: string;
  test_api_key: string;
}

export interface StackOptions {
  /** Absolute. */
  readonly dataDir: string;
  /** The variables of this process, handed on to the programs. */
  readonly variables: Variables;
  /** Finds a free port for each part; called once the data folder is ours. */
  readonly choosePorts: () => Promise<StackPorts>;
  /** The address on which the API listens. */
  readonly host: string;
  readonly temporalNamespace: string;
  /** A PostgreSQL that is already running; without it an embedded one is started. */
  readonly databaseUrl?: string | undefined;
  /** A Temporal server that is already running; without it one is started. */
  readonly temporal?: TemporalServer | undefined;
  readonly programs: Readonly<Record<ProgramName, Program>>;
  readonly prepare: Prepare;
  readonly say: Say;
  /** Cancels the start. */
  readonly signal?: AbortSignal | undefined;
}
