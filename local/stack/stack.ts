/** The local stack as a whole: prepared, started in order, kept running, ended (docs/local.md). */
import { isDeepStrictEqual } from 'node:util';
import { openAuthority } from './localAuthority.ts';
import { needDiskSpace } from './postgres/diskSpace.ts';
import { embeddedDatabaseUrl } from './postgres/postgres.ts';
import { endInOrder, ORDINARY_END } from './processes/ending.ts';
import { keepRunning, type Part, type Server } from './processes/part.ts';
import type { StackPorts } from './processes/ports.ts';
import { httpOk } from './processes/probes.ts';
import { secondsSince } from './processes/progress.ts';
import { openRun, type Run } from './processes/run.ts';
import { untilAborted } from './processes/untilAborted.ts';
import { type ProgramSettings, programCommand } from './programs.ts';
import { keepSecrets, openSecrets, type StackSecrets } from './secrets.ts';
import { postgresPart, temporalPart } from './servers.ts';
import { StackError } from './stackError.ts';
import { PARTS, type PartName, type StackInfo, writeStackFile } from './stackFile.ts';
import type { Entrances, ProgramName, StackOptions, StartStage } from './stackOptions.ts';

/** A running stack. */
export interface Stack {
  readonly info: StackInfo;
  /** Ends all parts, the API first and PostgreSQL last; safe to call again. */
  stop(): Promise<void>;
}

const BYTES_OF_DATA = 500e6;

/**
 * Starts the stack and waits until every part answers. Throws StackError, with a message for a person, when it already
 * runs in this folder or something is missing; nothing is left running then.
 */
export async function startStack(options: StackOptions): Promise<Stack> {
  needDiskSpace(options.dataDir, BYTES_OF_DATA, 'The local stack');
  const run = await openRun(options.dataDir, options.say);
  const stack = new RunningStack(options, run);
  try {
    await untilAborted(stack.start(), options.signal);
    return stack;
  } catch (error) {
    await stack.stop();
    throw error;
  }
}

class RunningStack implements Stack {
  readonly #options: StackOptions;
  readonly #run: Run;
  readonly #parts = new Map<PartName, Part>();
  #info: StackInfo | undefined;
  #stopping: Promise<void> | undefined;

  constructor(options: StackOptions, run: Run) {
    this.#options = options;
    this.#run = run;
  }

  get info(): StackInfo {
    if (!this.#info) throw new Error('the stack is not ready yet');
    return this.#info;
  }

  async start(): Promise<void> {
    const { dataDir, say } = this.#options;
    const startedAt = performance.now();
    say(`Starting the local stack of ${dataDir} (usually 3 to 6 s) …`);
    const { secrets, made } = openSecrets(dataDir);
    const settings = settingsOf(this.#options, secrets, await this.#options.choosePorts());
    const authority = openAuthority(dataDir);
    const keys = await this.#startParts(settings, made, authority);
    this.#publish({
      ...addressesOf(this.#options, settings),
      ...keys,
      ca_file: (await authority).certificate,
      ca_key_file: (await authority).key,
      pids: this.#pids(),
    });
    say(`Ready after ${secondsSince(startedAt)}.`);
  }

  /** Starts each part as soon as what it needs is there; waits until all answer. */
  async #startParts(
    settings: ProgramSettings,
    secretsAreNew: boolean,
    authority: Promise<unknown>,
  ): Promise<Entrances> {
    const { ports, secrets } = settings;
    const { programs } = this.#options;
    const postgres = postgresPart(this.#options, ports.postgres, secrets.database_password).then(
      (server) => server && this.#keep('postgres', server),
    );
    const temporal = temporalPart(this.#options, ports, this.#run.watchdog).then(
      (server) => server && this.#keep('temporal', server),
    );
    const migrated = postgres.then(() => this.#migrate(settings));
    const prepared = migrated.then(() => this.#prepare(settings, secretsAreNew));
    const stages: Record<StartStage, Promise<unknown>> = { postgres, migrated, temporal, prepared };
    const program = async (name: ProgramName, probe: string): Promise<void> => {
      for (const stage of programs[name].needs) await stages[stage];
      // The worker reads it (CFE_WEBHOOK_LOCAL_CA_FILE).
      await authority;
      await this.#keep(name, {
        command: programCommand(name, programs[name].program, settings),
        plan: ORDINARY_END,
        answers: () => httpOk(probe),
      });
    };
    const host = hostInAddress(this.#options.host);
    const [keys] = await Promise.all([
      prepared,
      authority,
      temporal,
      program('simulator', `${settings.simulatorUrl}/livez`),
      program('worker', `http://${host}:${ports.workerMetrics}/readyz`),
      program('api', `${settings.apiUrl}/readyz`),
      program('console', `http://${host}:${ports.consoleMetrics}/readyz`),
    ]);
    return keys;
  }

  /** Calls `migrate` as the owner: of a server of ours the superuser, elsewhere whoever DATABASE_URL names. */
  #migrate({ databaseUrl, secrets }: ProgramSettings): Promise<void> {
    const { migrate, databaseUrl: elsewhere } = this.#options;
    return migrate({
      databaseUrl: databaseUrl('owner'),
      rolePasswords: elsewhere === undefined ? secrets.role_passwords : undefined,
    });
  }

  /** Calls `prepare`; the API keys and logins that it returns are kept with the secrets. */
  async #prepare(settings: ProgramSettings, secretsAreNew: boolean): Promise<Entrances> {
    const { dataDir, secrets, simulatorUrl } = settings;
    const databaseUrl = settings.databaseUrl('owner');
    const keys = await this.#options.prepare({ dataDir, databaseUrl, secrets, secretsAreNew, simulatorUrl });
    if (!isDeepStrictEqual({ ...secrets, ...keys }, secrets)) keepSecrets(dataDir, { ...secrets, ...keys });
    return keys;
  }

  /** Starts a part and waits until it answers. Throws StackError when the stack is already ending. */
  async #keep(name: PartName, server: Server): Promise<void> {
    if (this.#stopping) throw new StackError('The start was cancelled.');
    const { say } = this.#options;
    const startedAt = performance.now();
    const part = keepRunning(
      { ...server, name, order: PARTS.indexOf(name) },
      {
        say,
        onProcess: (running, before) => {
          this.#run.replace(running, before);
          if (this.#info && !this.#stopping) this.#publish({ ...this.#info, pids: this.#pids() });
        },
      },
    );
    this.#parts.set(name, part);
    await part.ready;
    say(`  ${name.padEnd(9)} is up after ${secondsSince(startedAt)}`);
  }

  #pids(): StackInfo['pids'] {
    const pids = PARTS.map((name) => [name, this.#parts.get(name)?.running()?.mark.pid ?? null]);
    return { supervisor: process.pid, ...(Object.fromEntries(pids) as Record<PartName, number | null>) };
  }

  #publish(info: StackInfo): void {
    this.#info = info;
    writeStackFile(this.#options.dataDir, info);
  }

  stop(): Promise<void> {
    this.#stopping ??= this.#end();
    return this.#stopping;
  }

  async #end(): Promise<void> {
    for (const part of this.#parts.values()) part.halt();
    await endInOrder([...this.#parts.values()].flatMap((part) => part.running() ?? []));
    this.#run.close();
  }
}

/** What the programs are told; servers that run elsewhere take precedence over ours. */
function settingsOf(options: StackOptions, secrets: StackSecrets, ports: StackPorts): ProgramSettings {
  const { variables, dataDir, temporalNamespace } = options;
  return {
    variables,
    dataDir,
    secrets,
    ports,
    databaseUrl:
      options.databaseUrl ??
      ((login) =>
        login === 'owner'
          ? embeddedDatabaseUrl(ports.postgres, secrets.database_password)
          : embeddedDatabaseUrl(ports.postgres, secrets.role_passwords[login], `cfe_${login}`)),
    temporalAddress: options.temporal?.address ?? `127.0.0.1:${ports.temporal}`,
    temporalNamespace,
    simulatorUrl: `http://127.0.0.1:${ports.simulator}`,
    smtpUrl: `smtp://127.0.0.1:${ports.smtp}`,
    apiUrl: `http://${hostInAddress(options.host)}:${ports.api}`,
    // Without https only on this machine, whatever the others listen on.
    consoleUrl: `http://127.0.0.1:${ports.console}`,
  };
}

/** The part of `stack.json` that follows from the settings. */
function addressesOf(options: StackOptions, settings: ProgramSettings) {
  const { ports, apiUrl } = settings;
  return {
    base_url: `${apiUrl}/v1`,
    docs_url: `${apiUrl}/v1/docs`,
    temporal_address: settings.temporalAddress,
    temporal_namespace: settings.temporalNamespace,
    temporal_ui_url: options.temporal === undefined ? `http://127.0.0.1:${ports.temporalUi}` : null,
    database_url: settings.databaseUrl('operator'),
    simulator_url: settings.simulatorUrl,
    smtp_url: settings.smtpUrl,
    console_url: settings.consoleUrl,
    metrics_url: `http://${hostInAddress(options.host)}:${ports.metrics}/metrics`,
  };
}

/** The host part of a URL by which this machine reaches a server that listens on `host`. */
function hostInAddress(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1';
  return host.includes(':') ? `[${host}]` : host;
}
