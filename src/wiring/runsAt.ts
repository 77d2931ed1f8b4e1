import { Client, WorkflowNotFoundError } from '@temporalio/client';
import type { NativeConnection } from '@temporalio/worker';

/** Who can tell whether a workflow has a run that is not closed. Rejects where Temporal cannot be asked. */
export function runsAt(
  connection: NativeConnection,
  namespace: string,
): (workflowId: string) => Promise<boolean> {
  const { workflow } = new Client({ connection, namespace });
  return async (workflowId) => {
    try {
      return (await workflow.getHandle(workflowId).describe()).closeTime === undefined;
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) return false;
      throw error;
    }
  };
}
