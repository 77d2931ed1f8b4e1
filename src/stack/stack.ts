/** The local stack as a whole: obtained, prepared, started in its order, kept running, ended (decisions.md §10, §11). */
import { needDiskSpace } from './diskSpace.ts';
import { endInOrder, ORDINARY_END } from './ending.ts';
import { openAuthority } from './localAuthority.ts';
import { keepRunning, type Part } from './part.ts';
import { embeddedDatabaseUrl } from './postgres.ts';
import { httpOk } from './probes.ts';
import { type ProgramSettings, programCommand } from './programs.ts';
import { secondsSince } from './progress.ts';
import { openRun, type Run } from './run.ts';
import { keepSecrets, openSecrets } from './secrets.ts';
import { postgresPart, type Startable, temporalPart } from './servers.ts';
import { StackError } from './stackError.ts';
import { PARTS, type PartName, type StackInfo, writeStackFile } from './stackFile.ts';
import type { Gate, StackOptions } from './stackOptions.ts';
import { untilAborted } from './untilAborted.ts';

export type { Prepare } from './stackOptions.ts';

/** A stack that runs. */
export interface Stack {
  readonly info: StackInfo;
  /** Ends all parts, the API first and PostgreSQL last; safe to call again. */
  stop(): Promise<void>;
}

const BYTES_OF_DATA = 500e6;

/**
 * Starts the stack and waits until every part answers. Throws StackRuns when it runs already in this folder, StackError
 * with clear words when something cannot be had; nothing is left running then.
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
    const { dataDir, environment, say, temporalNamespace, programs } = this.#options;
    const startedAt = performance.now();
    say(`Starting the local stack of ${dataDir} (usually 3 to 6 s) …`);
    const { secrets, made: secretsAreNew } = openSecrets(dataDir);
    const ports = await this.#options.choosePorts();
    const simulatorUrl = `http://127.0.0.1:${ports.simulator}`;
    const databaseUrl =
      this.#options.databaseUrl ?? embeddedDatabaseUrl(ports.postgres, secrets.database_password);
    const temporalAddress = this.#options.temporalAddress ?? `127.0.0.1:${ports.temporal}`;
    const host = hostInAddress(this.#options.host);
    const apiUrl = `http://${host}:${ports.api}`;
    const settings: ProgramSettings = {
      environment,
      dataDir,
      secrets,
      ports,
      databaseUrl,
      temporalAddress,
      temporalNamespace,
      simulatorUrl,
      apiUrl,
    };
    const authority = openAuthority(dataDir);

    const { guard } = this.#run;
    const postgres = postgresPart(this.#options, ports.postgres, secrets.database_password).then(
      (part) => part && this.#keep('postgres', part),
    );
    const temporal = temporalPart(this.#options, ports, guard).then(
      (part) => part && this.#keep('temporal', part),
    );
    const prepared = postgres.then(async () => {
      const keys = await this.#options.prepare({
        dataDir,
        databaseUrl,
        secrets,
        secretsAreNew,
        simulatorUrl,
      });
      if (keys.live_api_key !== secrets.live_api_key || keys.test_api_key !== secrets.test_api_key) {
        keepSecrets(dataDir, { ...secrets, ...keys });
      }
      return keys;
    });
    const gates = new Map<Gate, Promise<unknown>>(
      Object.entries({ postgres, temporal, prepared }) as [Gate, Promise<unknown>][],
    );
    const program = async (name: 'simulator' | 'worker' | 'api', probe: string): Promise<void> => {
      for (const gate of programs[name].needs) await gates.get(gate);
      // Made at the first start only; the worker reads it (CFE_WEBHOOK_LOCAL_CA_FILE).
      await authority;
      await this.#keep(name, {
        command: programCommand(name, programs[name].program, settings),
        plan: ORDINARY_END,
        answers: () => httpOk(probe),
      });
    };
    const simulator = program('simulator', `${simulatorUrl}/livez`);
    gates.set('simulator', simulator);
    const worker = program('worker', `http://${host}:${ports.workerMetrics}/readyz`);
    const api = program('api', `${apiUrl}/readyz`);
    const [keys, { certificate, key }] = await Promise.all([
      prepared,
      authority,
      postgres,
      temporal,
      simulator,
      worker,
      api,
    ]);

    this.#publish({
      base_url: `${apiUrl}/v1`,
      docs_url: `${apiUrl}/v1/docs`,
      temporal_address: temporalAddress,
      temporal_namespace: temporalNamespace,
      temporal_ui_url:
        this.#options.temporalAddress === undefined ? `http://127.0.0.1:${ports.temporalUi}` : null,
      database_url: databaseUrl,
      simulator_url: simulatorUrl,
      metrics_url: `http://${host}:${ports.metrics}/metrics`,
      ...keys,
      ca_file: certificate,
      ca_key_file: key,
      pids: this.#pids(),
    });
    say(`Everything answers after ${secondsSince(startedAt)}.`);
  }

  /** Starts a part, unless the stack is ending already, and waits until it answers. */
  async #keep(name: PartName, spec: Startable): Promise<void> {
    if (this.#stopping) throw new StackError('The start was broken off.');
    const { say } = this.#options;
    const startedAt = performance.now();
    const part = keepRunning(
      { ...spec, name, order: PARTS.indexOf(name) },
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
    say(`  ${name.padEnd(9)} answers after ${secondsSince(startedAt)}`);
  }

  #pids(): StackInfo['pids'] {
    const pid = (name: PartName): number | null => this.#parts.get(name)?.running()?.mark.pid ?? null;
    return {
      supervisor: process.pid,
      api: pid('api'),
      worker: pid('worker'),
      simulator: pid('simulator'),
      temporal: pid('temporal'),
      postgres: pid('postgres'),
    };
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

/** How this machine reaches a server that listens on `host`, as it stands in an address. */
function hostInAddress(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1';
  return host.includes(':') ? `[${host}]` : host;
}
