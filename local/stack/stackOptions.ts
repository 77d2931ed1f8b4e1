/** What the caller of `startStack` decides. */
import type { Variables } from '../../src/config.ts';
import type { TemporalServer } from '../../src/temporal.ts';
import type { StackPorts } from './processes/ports.ts';
import type { Say } from './processes/progress.ts';
import type { StackSecrets } from './secrets.ts';
import type { PartName, StackInfo } from './stackFile.ts';

/** What a program may have to wait for; `migrated`, `prepared`: what is called so in the options is done. */
export type StartStage = 'postgres' | 'migrated' | 'temporal' | 'prepared';

/** Who logs in to the database: a program (`operator`: the command line), or the owner of the tables. */
export type DatabaseLogin = keyof StackSecrets['role_passwords'] | 'owner';

/** The parts that are our own programs. */
export type ProgramName = Exclude<PartName, 'postgres' | 'temporal'>;

interface Program {
  /** Absolute path of its TypeScript file. */
  readonly program: string;
  readonly needs: readonly StartStage[];
}

/** Brings the database up to date. Called at every start. */
export type Migrate = (database: {
  /** As the owner of its tables. */
  databaseUrl: string;
  /** The passwords that the programs' roles are to have; undefined where roles are not ours to make. */
  rolePasswords: StackSecrets['role_passwords'] | undefined;
}) => Promise<void>;

/** Makes the migrated database ready: the account *Local developer* and its keys. Called at every start. */
export type Prepare = (input: {
  /** Absolute. */
  dataDir: string;
  /** As the owner of its tables. */
  databaseUrl: string;
  /** With the API keys of earlier starts, which must not change. */
  secrets: StackSecrets;
  /** They were made just now: a database that already holds data was not made with them. */
  secretsAreNew: boolean;
  simulatorUrl: string;
}) => Promise<Entrances>;

/** What people and scripts enter the stack by. */
export type Entrances = Pick<
  StackInfo,
  'live_api_key' | 'test_api_key' | 'console_operator' | 'console_customer'
>;

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
  /** A PostgreSQL that is already running, by who logs in; without it an embedded one is started. */
  readonly databaseUrl?: ((login: DatabaseLogin) => string) | undefined;
  /** A Temporal server that is already running; without it one is started. */
  readonly temporal?: TemporalServer | undefined;
  readonly programs: Readonly<Record<ProgramName, Program>>;
  readonly migrate: Migrate;
  readonly prepare: Prepare;
  readonly say: Say;
  /** Cancels the start. */
  readonly signal?: AbortSignal | undefined;
}
