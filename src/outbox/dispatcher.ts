import { setTimeout as sleep } from 'node:timers/promises';
import {
  Client,
  Connection,
  isGrpcServiceError,
  WorkflowExecutionAlreadyStartedError,
} from '@temporalio/client';
import type { Priority } from '@temporalio/common';
import type { OutboxMessage } from '../db/entities/operations.ts';
import type { Orm } from '../db/orm.ts';
import { type KeptMessage, leaseWaiting, type Settled, settle, type Taken } from '../db/outbox.ts';
import { failpoint } from '../failpoints.ts';
import type { Logger } from '../logger.ts';
import { startAttributePairs } from '../searchAttributes.ts';
import { LANES, priorityKeyOf, type TemporalServer, WORKFLOWS, type WorkflowMessage } from '../temporal.ts';

/**
 * Messages taken at a time, which are all that is under way: few, so that the next batch, with what has come meanwhile, is
 * never far, and Temporal, which takes some hundred starts a second, is not given a heap of them to answer at once.
 */
const BATCH: Taken = { first: 12, bulk: 4 };
/** Longest wait for one start. The gRPC client itself would go on for some 30 s while Temporal is down. */
const START_MILLISECONDS = 3_000;
/** Pause of the relay between two looks at the table. */
const RELAY_MILLISECONDS = 1_000;
/** So long the marks of messages that were started from memory are collected: they cost one statement together. */
const MARK_MILLISECONDS = 50;
/** Longest pause before a message that Temporal itself refused is tried again. */
const LONGEST_PAUSE_SECONDS = 60;

/** gRPC: the server cannot be reached or does not answer in time; nothing is wrong with the message. */
const UNREACHABLE = new Set([4, 14]);

export interface Dispatcher {
  /** Dispatches what waits, in the background; called right after a commit. Never throws. */
  scheduleDispatch(): void;
  /** Starts in the background what the caller has just stored with the lease of its row; never throws. */
  dispatchStored(message: KeptMessage): void;
  /** Looks for waiting messages every second until closed: what a crash or an outage left behind. */
  startRelay(): void;
  /** Stops looking, lets what is under way finish, closes the connection. */
  close(): Promise<void>;
}

/**
 * The way from the outbox to Temporal, and the only code that starts or signals workflows. A message may be
 * dispatched twice (a crash between the start and its mark); the workflow ids make that harmless.
 */
export function createDispatcher(options: {
  orm: Orm;
  temporal: TemporalServer;
  namespace: string;
  /** By what name Temporal knows the process. */
  identity?: string;
  logger: Logger;
}): Dispatcher {
  const { orm, namespace, logger } = options;
  const connection = Connection.lazy({
    ...options.temporal,
    connectTimeout: START_MILLISECONDS,
  });
  const client = new Client({
    connection,
    namespace,
    ...(options.identity === undefined ? {} : { identity: options.identity }),
  });
  const state = { closed: false, again: false };
  let running: Promise<void> | null = null;
  let timer: NodeJS.Timeout | null = null;
  const kept = startsFromMemory({ orm, client, logger });

  /** Dispatches batch after batch until nothing waits, or Temporal or the database is out of reach. */
  async function drain(): Promise<void> {
    try {
      let more = true;
      while (!state.closed && (more || state.again)) {
        state.again = false;
        more = await dispatchBatch({ orm, client, logger });
      }
    } catch (err) {
      state.again = false;
      logger.warn({ err }, 'outbox: the database cannot be reached');
    }
  }

  const scheduleDispatch = (): void => {
    if (state.closed) return;
    if (running) {
      state.again = true;
      return;
    }
    running = drain().finally(() => {
      running = null;
      // Asked for after the last look, and before it was noted that nobody looks any more.
      if (state.again) scheduleDispatch();
    });
  };

  return {
    scheduleDispatch,
    dispatchStored: (message) => kept.start(message),
    startRelay() {
      timer ??= setInterval(scheduleDispatch, RELAY_MILLISECONDS);
    },
    async close() {
      state.closed = true;
      if (timer) clearInterval(timer);
      await running;
      await kept.settled();
      await connection.close();
    },
  };
}

/** Starts what was just stored, without reading it; the marks of several are one statement. */
function startsFromMemory({ orm, client, logger }: Tools) {
  const starts = new Set<Promise<void>>();
  let told: Settled[] = [];
  let marking: Promise<void> | null = null;

  /** A message that Temporal did not take waits for the end of its lease, and for the relay. */
  async function startAndMark(message: KeptMessage): Promise<void> {
    const outcome = await dispatch(client, message);
    if (outcome !== 'dispatched') return;
    told.push({ id: message.id, dispatched: true, pauseSeconds: 0 });
    marking ??= sleep(MARK_MILLISECONDS).then(mark);
    await marking;
  }

  async function mark(): Promise<void> {
    marking = null;
    const all = told;
    told = [];
    await settle(orm.em.fork(), all).catch((err: unknown) =>
      logger.warn({ err }, 'outbox: what was started could not be marked; it is started once more'),
    );
    failpoint('dispatch.marked');
  }

  return {
    start(message: KeptMessage): void {
      const start = startAndMark(message).finally(() => starts.delete(start));
      starts.add(start);
    },
    settled: (): Promise<unknown> => Promise.all(starts),
  };
}

type Outcome = 'dispatched' | 'unreachable' | 'refused';

/** A message, from its row or from memory. */
type Startable = Omit<WorkflowMessage, 'signal'> & { readonly signal?: WorkflowMessage['signal'] | null };

interface Tools {
  readonly orm: Orm;
  readonly client: Client;
  readonly logger: Logger;
}

/** Dispatches the messages that wait longest; answers whether there may be more to dispatch at once. */
async function dispatchBatch({ orm, client, logger }: Tools): Promise<boolean> {
  const em = orm.em.fork();
  const messages = await leaseWaiting(em, BATCH);
  if (messages.length === 0) return false;
  const outcomes = await Promise.all(
    messages.map(async (message) => ({ message, outcome: await dispatch(client, message) })),
  );
  await settle(
    em,
    outcomes.map(({ message, outcome }) => settled(message, outcome, logger)),
  );
  failpoint('dispatch.marked');
  const bulk = messages.filter(({ lane }) => lane === LANES.bulk).length;
  const mayBeMore = bulk === BATCH.bulk || messages.length - bulk === BATCH.first;
  return mayBeMore && outcomes.every(({ outcome }) => outcome !== 'unreachable');
}

function settled({ id, workflowId, attempts }: OutboxMessage, outcome: Outcome, logger: Logger): Settled {
  if (outcome !== 'refused') return { id, dispatched: outcome === 'dispatched', pauseSeconds: 0 };
  logger.error({ workflowId, attempts }, 'outbox: Temporal refuses a message');
  const pauseSeconds = Math.min(2 ** Math.min(attempts, 10), LONGEST_PAUSE_SECONDS);
  return { id, dispatched: false, pauseSeconds };
}

async function dispatch(client: Client, message: Startable): Promise<Outcome> {
  const { taskQueue, idReuse, summary } = WORKFLOWS[message.workflow];
  const start = {
    workflowId: message.workflowId,
    taskQueue,
    args: [message.input],
    workflowIdConflictPolicy: 'USE_EXISTING',
    workflowIdReusePolicy: idReuse,
    staticSummary: summary,
    typedSearchAttributes: startAttributePairs(message.searchAttributes ?? {}),
    priority: priorityOf(message),
  } as const;
  failpoint('dispatch.taken');
  try {
    await client.connection.withDeadline(Date.now() + START_MILLISECONDS, async () => {
      if (message.signal)
        await client.workflow.signalWithStart(message.workflow, { ...start, signal: message.signal });
      else await client.workflow.start(message.workflow, start);
    });
    failpoint('dispatch.told');
    return 'dispatched';
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) return 'dispatched';
    const code = grpcCode(error);
    return code !== undefined && UNREACHABLE.has(code) ? 'unreachable' : 'refused';
  }
}

/** The gRPC status of a failed call; the SDK may wrap the error of the wire in one of its own. */
function grpcCode(error: unknown): number | undefined {
  if (isGrpcServiceError(error)) return error.code;
  return error instanceof Error && error.cause !== undefined ? grpcCode(error.cause) : undefined;
}

/** Receipts go before all else in their queue, and of what is alike each enterprise has its turn; its activities inherit it. */
function priorityOf({ workflow, searchAttributes = {} }: Startable): Priority {
  const { EnterpriseRut: fairnessKey } = searchAttributes;
  return { priorityKey: priorityKeyOf(workflow), ...(fairnessKey === undefined ? {} : { fairnessKey }) };
}
