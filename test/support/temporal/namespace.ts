import { randomUUID } from 'node:crypto';
import { Connection } from '@temporalio/client';
import { ensureSearchAttributes } from '../../../src/searchAttributes.ts';
import { until } from '../until.ts';

/** Makes a namespace with the search attributes of the service at a Temporal server; its name. */
export async function newNamespace(address: string): Promise<string> {
  const namespace = `test-${randomUUID()}`;
  const connection = await Connection.connect({ address });
  await connection.workflowService.registerNamespace({
    namespace,
    workflowExecutionRetentionPeriod: { seconds: 86_400 as never },
  });
  await connection.close();
  // A new namespace can be used only after a moment.
  await until('the namespace', 20, () =>
    ensureSearchAttributes({ address }, namespace).then(
      (missing) => missing.length === 0,
      () => false,
    ),
  );
  return namespace;
}
