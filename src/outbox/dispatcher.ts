import {
  Client,
  Connection,
  isGrpcServiceError,
  WorkflowExecutionAlreadyStartedError,
} from '@temporalio/client';
import { defineSearchAttributeKey, type SearchAttributePair } from '@temporalio/common';
import type { OutboxMessage } from '../db/entities/operations.ts';
import type { Orm } from '../db/orm.ts';
import { leaseWaiting, type Settled, settle } from '../db/outbox.ts';
import { failpoint } from '../failpoints.ts';
import type { Logger } from '../logger.ts';
import { type TemporalServer, WORKFLOWS } from '../temporal.ts';

/** Messages taken in one transaction. */
const BATCH = 50;
/** Longest wait for one start. The gRPC client itself would go on for some 30 s while Temporal is down. */
const START_MILLISECONDS = 3_000;
/** Pause of the relay between two looks at the table. */
const RELAY_MILLISECONDS = 1_000;
/** Longest pause before a message that Temporal itself refused is tried again. */
const LONGEST_PAUSE_SECONDS = 60;

/** gRPC: the server cannot be reached or does not answer in time; nothing is wrong with the message. */
const UNREACHABLE = new Set([4, 14]);

export interface Dispatcher {
  /** Dispatches what waits, in the background; called right after a commit. Never throws. */
  dispatchSoon(): void;
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
  logger: Logger;
}): Dispatcher {
  const { orm, namespace, logger } = options;
  const connection = Connection.lazy({
    ...options.temporal,
    connectTimeout: START_MILLISECONDS,
  });
  const client = new Client({ connection, namespace });
  const state = { closed: false, again: false };
  let running: Promise<void> | null = null;
  let timer: NodeJS.Timeout | null = null;

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

  const dispatchSoon = (): void => {
    if (state.closed) return;
    if (running) {
      state.again = true;
      return;
    }
    running = drain().finally(() => {
      running = null;
      // Asked for after the last look, and before it was noted that nobody looks any more.
      if (state.again) dispatchSoon();
    });
  };

  return {
    dispatchSoon,
    startRelay() {
      timer ??= setInterval(dispatchSoon, RELAY_MILLISECONDS);
    },
    async close() {
      state.closed = true;
      if (timer) clearInterval(timer);
      await running;
      await connection.close();
    },
  };
}

type Outcome = 'dispatched' | 'unreachable' | 'refused';

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
  return messages.length === BATCH && outcomes.every(({ outcome }) => outcome !== 'unreachable');
}

function settled({ id, workflowId, attempts }: OutboxMessage, outcome: Outcome, logger: Logger): Settled {
  if (outcome !== 'refused') return { id, dispatched: outcome === 'dispatched', pauseSeconds: 0 };
  logger.error({ workflowId, attempts }, 'outbox: Temporal refuses a message');
  const pauseSeconds = Math.min(2 ** Math.min(attempts, 10), LONGEST_PAUSE_SECONDS);
  return { id, dispatched: false, pauseSeconds };
}

async function dispatch(client: Client, message: OutboxMessage): Promise<Outcome> {
  const { taskQueue, idReuse, summary } = WORKFLOWS[message.workflow];
  const start = {
    workflowId: message.workflowId,
    taskQueue,
    args: [message.input],
    workflowIdConflictPolicy: 'USE_EXISTING',
    workflowIdReusePolicy: idReuse,
    staticSummary: summary,
    typedSearchAttributes: searchAttributesOf(message),
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

function searchAttributesOf(message: OutboxMessage): SearchAttributePair[] {
  return Object.entries(message.searchAttributes).map(([name, value]) => ({
    key: defineSearchAttributeKey(name, 'KEYWORD'),
    value,
  }));
}
