import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Client, Connection } from '@temporalio/client';
import { readConfig } from '../local/config.ts';
import { findRunningStack } from '../local/stack/localStack.ts';
import { TEMPORAL_SERVER_VARIABLES, temporalServerOf } from '../src/wiring/temporal/temporalServer.ts';
import { writeHistory } from '../test/support/temporal/histories.ts';

/**
 * `npm run history -- <workflowId> [--name NAME] [--folder DIR]`: saves a workflow's history, as the server holds it,
 * into test/replay/histories or another folder, from the Temporal server of the local stack or of TEMPORAL_ADDRESS.
 */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { name: { type: 'string' }, folder: { type: 'string' } },
});
const [workflowId] = positionals;
if (!workflowId) {
  console.error('usage: npm run history -- <workflowId> [--name NAME] [--folder DIR]');
  process.exit(2);
}
const { CFE_DATA_DIR, TEMPORAL_NAMESPACE: namespace } = readConfig(['CFE_DATA_DIR', 'TEMPORAL_NAMESPACE']);
const address = findRunningStack(CFE_DATA_DIR)?.temporal_address;
const server = address ? { address } : temporalServerOf(readConfig(TEMPORAL_SERVER_VARIABLES));
const connection = await Connection.connect(server);
const history = await new Client({ connection, namespace }).workflow.getHandle(workflowId).fetchHistory();
await connection.close();

const folder = values.folder ?? join(import.meta.dirname, '../test/replay/histories');
mkdirSync(folder, { recursive: true });
const file = join(folder, `${values.name ?? workflowId.replace(/[^\w.-]/g, '-')}.json`);
writeHistory(file, history);
console.log(`saved ${file}`);
