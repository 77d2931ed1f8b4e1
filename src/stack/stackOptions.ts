/** What the local stack is told by whoever starts it. */
import type { StackPorts } from './ports.ts';
import type { Say } from './progress.ts';
import type { StackSecrets } from './secrets.ts';

/** What has to be there before a program is started. */
export type Gate = 'postgres' | 'temporal' | 'simulator' | 'prepared';

/** One of our own programs. */
interface Program {
  /** Absolute path of its TypeScript file. */
  readonly program: string;
  readonly needs: readonly Gate[];
}

/** Makes the database ready: migrations, the account *Local developer* and its keys. Called at every start. */
export type Prepare = (input: {
  /** Absolute. */
  dataDir: string;
  databaseUrl: string;
  /** With the API keys of earlier starts, which must stay the same. */
  secrets: StackSecrets;
  /** The secrets were made just now: a database that holds data already was not made with them. */
  secretsAreNew: boolean;
  simulatorUrl: string;
}) => Promise<{ live_api_key: string; test_api_key: string }>;

export interface StackOptions {
  /** Absolute. */
  readonly dataDir: string;
  /** The whole environment of this process; handed on to the programs. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Finds a free port for each part; called once the data folder is ours. */
  readonly choosePorts: () => Promise<StackPorts>;
  /** The address that the API listens on. */
  readonly host: string;
  readonly temporalNamespace: string;
  /** A PostgreSQL that runs already; an embedded one is started without it. */
  readonly databaseUrl?: string | undefined;
  /** A Temporal server that runs already, host:port; one is started without it. */
  readonly temporalAddress?: string | undefined;
  readonly programs: Readonly<Record<'simulator' | 'worker' | 'api', Program>>;
  readonly prepare: Prepare;
  readonly say: Say;
  /** Ends a start that is under way. */
  readonly signal?: AbortSignal | undefined;
}
