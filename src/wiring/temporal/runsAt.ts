import { Client, WorkflowNotFoundError } from '@temporalio/client';
import type { NativeConnection } from '@temporalio/worker';

/**
 * Creates a check whether a workflow has an open run; the check rejects when Temporal is unavailable.
 */
export function createRunCheck(
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
