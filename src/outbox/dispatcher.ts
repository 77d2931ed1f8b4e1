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
import {
  type DispatchResult,
  type LeasedMessage,
  type LeaseLimits,
  leaseWaiting,
  storeDispatchResults,
} from '../db/outbox.ts';
import { failpoint } from '../failpoints.ts';
import type { Logger } from '../logger.ts';
import { startAttributePairs } from '../searchAttributes.ts';
import { LANES, priorityKeyOf, type TemporalServer, WORKFLOWS, type WorkflowMessage } from '../temporal.ts';

/**
 * Most messages dispatched at a time: few, so that new messages never wait long and Temporal, which takes some hundred
 * starts a second, is not flooded.
 */
const BATCH: LeaseLimits = { first: 12, bulk: 4 };
/** Longest wait for one start. The gRPC client itself would retry for some 30 s while Temporal is down. */
const START_MILLISECONDS = 3_000;
/** Pause between two reads of the table. */
const RELAY_MILLISECONDS = 1_000;
/** Time during which messages dispatched from memory are collected, to mark them in one statement. */
const MARK_MILLISECONDS = 50;
/** Longest pause before a message that Temporal refused is retried. */
const LONGEST_PAUSE_SECONDS = 60;

/** gRPC DEADLINE_EXCEEDED and UNAVAILABLE: not the message's fault. */
const UNREACHABLE = new Set([4, 14]);

export interface Dispatcher {
  /** Dispatches waiting messages in the background, right after a commit. Never throws. */
  scheduleDispatch(): void;
  /** Dispatches, in the background, a message that the caller has just stored with a lease. Never throws. */
  dispatchStored(message: LeasedMessage): void;
  /** Dispatches every second the messages that a crash or an outage left behind. */
  startRelay(): void;
  /** Stops the relay, waits for running dispatches and closes the connection. */
  close(): Promise<void>;
}

/**
 * Creates the dispatcher of the outbox to Temporal. After a crash before its mark a message is dispatched again; the
 * workflow id makes that harmless.
 */
export function createDispatcher(options: {
  orm: Orm;
  temporal: TemporalServer;
  namespace: string;
  /** The name of the process in Temporal. */
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
  const memory = createMemoryStarts({ orm, client, logger });

  /** Dispatches batches until no message waits, or Temporal or the database is unavailable. */
  async function drain(): Promise<void> {
    try {
      let mayBeMore = true;
      while (!state.closed && (mayBeMore || state.again)) {
        state.again = false;
        mayBeMore = await dispatchBatch({ orm, client, logger });
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
      // `scheduleDispatch` was called after the last batch, while `running` was still set.
      if (state.again) scheduleDispatch();
    });
  };

  return {
    scheduleDispatch,
    dispatchStored: (message) => memory.start(message),
    startRelay() {
      timer ??= setInterval(scheduleDispatch, RELAY_MILLISECONDS);
    },
    async close() {
      state.closed = true;
      if (timer) clearInterval(timer);
      await running;
      await memory.untilStarted();
      await connection.close();
    },
  };
}

/** Dispatches just stored messages without reading their rows, and marks several in one statement. */
function createMemoryStarts({ orm, client, logger }: Tools) {
  const starts = new Set<Promise<void>>();
  let dispatched: DispatchResult[] = [];
  let marking: Promise<void> | null = null;

  /** After a failure the relay dispatches the message once its lease has ended. */
  async function startAndMark(message: LeasedMessage): Promise<void> {
    const outcome = await dispatch(client, message);
    if (outcome !== 'dispatched') return;
    dispatched.push({ id: message.id, dispatched: true, pauseSeconds: 0 });
    marking ??= sleep(MARK_MILLISECONDS).then(mark);
    await marking;
  }

  async function mark(): Promise<void> {
    marking = null;
    const results = dispatched;
    dispatched = [];
    await storeDispatchResults(orm.em.fork(), results).catch((err: unknown) =>
      logger.warn({ err }, 'outbox: dispatched messages could not be marked; they are dispatched again'),
    );
    failpoint('dispatch.marked');
  }

  return {
    start(message: LeasedMessage): void {
      const start = startAndMark(message).finally(() => starts.delete(start));
      starts.add(start);
    },
    untilStarted: (): Promise<unknown> => Promise.all(starts),
  };
}

type DispatchOutcome = 'dispatched' | 'unreachable' | 'refused';

/** A message from its row or from memory. */
type Startable = Omit<WorkflowMessage, 'signal'> & { readonly signal?: WorkflowMessage['signal'] | null };

interface Tools {
  readonly orm: Orm;
  readonly client: Client;
  readonly logger: Logger;
}

/** Dispatches the messages that wait longest; returns whether more may wait. */
async function dispatchBatch({ orm, client, logger }: Tools): Promise<boolean> {
  const em = orm.em.fork();
  const messages = await leaseWaiting(em, BATCH);
  if (messages.length === 0) return false;
  const outcomes = await Promise.all(
    messages.map(async (message) => ({ message, outcome: await dispatch(client, message) })),
  );
  await storeDispatchResults(
    em,
    outcomes.map(({ message, outcome }) => toResult(message, outcome, logger)),
  );
  failpoint('dispatch.marked');
  const bulk = messages.filter(({ lane }) => lane === LANES.bulk).length;
  const mayBeMore = bulk === BATCH.bulk || messages.length - bulk === BATCH.first;
  return mayBeMore && outcomes.every(({ outcome }) => outcome !== 'unreachable');
}

function toResult(
  { id, workflowId, attempts }: OutboxMessage,
  outcome: DispatchOutcome,
  logger: Logger,
): DispatchResult {
  if (outcome !== 'refused') return { id, dispatched: outcome === 'dispatched', pauseSeconds: 0 };
  logger.error({ workflowId, attempts }, 'outbox: Temporal refuses a message');
  const pauseSeconds = Math.min(2 ** Math.min(attempts, 10), LONGEST_PAUSE_SECONDS);
  return { id, dispatched: false, pauseSeconds };
}

async function dispatch(client: Client, message: Startable): Promise<DispatchOutcome> {
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

/** Returns the gRPC status of a failed call; the SDK may wrap the original error. */
function grpcCode(error: unknown): number | undefined {
  if (isGrpcServiceError(error)) return error.code;
  return error instanceof Error && error.cause !== undefined ? grpcCode(error.cause) : undefined;
}

/**
 * Returns the priority of a workflow and its activities: receipts go first in their queue; within one priority the
 * enterprises take turns.
 */
function priorityOf({ workflow, searchAttributes = {} }: Startable): Priority {
  const { EnterpriseRut: fairnessKey } = searchAttributes;
  return { priorityKey: priorityKeyOf(workflow), ...(fairnessKey === undefined ? {} : { fairnessKey }) };
}
