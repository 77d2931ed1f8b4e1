import {
  Client,
  Connection,
  ServiceError,
  WorkflowExecutionAlreadyStartedError,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import type { SupportAct } from '../../activities/activities.ts';
import type { SupportCfeDeps } from '../../commands/operations/supportCfe.ts';
import { DEADLINES } from '../../domain/authority/deadlines.ts';
import type { SupportAnswer, SupportRequest } from '../../domain/operations/supportAction.ts';
import { formatCfeId } from '../../domain/receipts/cfeId.ts';
import { Refusal } from '../../errors.ts';
import { SUPPORT_UPDATE, TASK_QUEUES, type TemporalServer } from '../../temporal.ts';
import { refusalOf } from '../../words/refusals.ts';
import { IDENTITY } from '../identity.ts';

/** Longest wait for a connection. */
const CONNECT_MILLISECONDS = 3_000;
/** Longest wait for a worker to accept the update. */
const ACCEPT_MILLISECONDS = 20_000;

/**
 * Opens a connection to Temporal for requests of support; the caller closes the connection.
 */
export function openSupport({ server, namespace }: { server: TemporalServer; namespace: string }): {
  ask: SupportCfeDeps['askSupport'];
  askRejected: SupportCfeDeps['askRejected'];
  close(): Promise<void>;
} {
  const connection = Connection.lazy({ ...server, connectTimeout: CONNECT_MILLISECONDS });
  const client = new Client({ connection, namespace, identity: IDENTITY });
  const withDeadline = <T>(milliseconds: number, call: () => Promise<T>): Promise<T> =>
    connection.withDeadline(Date.now() + milliseconds, call);
  return {
    async ask(workflowId, { action, cfeId, requestId }) {
      try {
        await connection.ensureConnected().catch(throwUnavailable);
        const handle = await withDeadline(ACCEPT_MILLISECONDS, () =>
          client.workflow.getHandle(workflowId).startUpdate<SupportAnswer, [SupportRequest]>(SUPPORT_UPDATE, {
            args: [cfeId === undefined ? { action } : { cfe_id: cfeId, action }],
            waitForStage: 'ACCEPTED',
            updateId: requestId,
          }),
        );
        return await withDeadline(DEADLINES.supportAnswer, () => handle.result());
      } catch (error) {
        return interpretFailure(error);
      }
    },
    async askRejected(cfe, { action, requestId }) {
      try {
        await connection.ensureConnected().catch(throwUnavailable);
        const act: SupportAct = { action, requestId, cfeUuid: cfe.id };
        const handle = await withDeadline(ACCEPT_MILLISECONDS, () =>
          client.workflow.start('askRejected', {
            workflowId: `rejected:${cfe.rut}:${formatCfeId(cfe)}:${cfe.id.slice(0, 8)}`,
            taskQueue: TASK_QUEUES.cfe,
            args: [act],
            staticSummary:
              'Queries the authority about one CFE that was rejected for E06, on request of support',
          }),
        );
        return await withDeadline(DEADLINES.supportAnswer, () => handle.result() as Promise<SupportAnswer>);
      } catch (error) {
        if (error instanceof WorkflowExecutionAlreadyStartedError)
          return { outcome: 'refused', ...refusalOf('under_way') };
        if (error instanceof ServiceError) throwUnavailable(error);
        throw error;
      }
    },
    close: () => connection.close(),
  };
}

/** Translates a failed update. Throws a Refusal, or the error itself when it is a bug. */
function interpretFailure(error: unknown): Awaited<ReturnType<SupportCfeDeps['askSupport']>> {
  if (error instanceof WorkflowNotFoundError) return { outcome: 'nothing_to_do', runs: false };
  if (error instanceof WorkflowUpdateFailedError && error.cause instanceof ApplicationFailure) {
    const { type, message } = error.cause;
    if (type === 'NothingToDo') return { outcome: 'nothing_to_do', runs: true };
    if (type === 'UnderWay') return { outcome: 'refused', message, why: { code: 'under_way' } };
  }
  if (error instanceof WorkflowUpdateRPCTimeoutOrCancelledError) {
    const message =
      'No worker accepts the request: is one running? The request may still be executed once a worker runs again.';
    throw new Refusal('UNAVAILABLE', message, { cause: error });
  }
  if (error instanceof ServiceError) throwUnavailable(error);
  throw error;
}

function throwUnavailable(cause: unknown): never {
  throw new Refusal('UNAVAILABLE', 'Temporal cannot be reached.', { cause });
}
