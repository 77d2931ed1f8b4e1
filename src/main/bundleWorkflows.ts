/** `node src/main/bundleWorkflows.ts FILE`: writes the workflows' bundle, for CFE_WORKFLOW_BUNDLE. */
import { writeFileSync } from 'node:fs';
import { createLogger } from '../logger.ts';
import { bundleWorkflows } from '../wiring/temporal/workflowBundle.ts';

const [file, ...others] = process.argv.slice(2);
if (file === undefined || others.length > 0) {
  console.error('Which file? For example: node src/main/bundleWorkflows.ts workflow-bundle.js');
  process.exitCode = 2;
} else {
  const { code } = await bundleWorkflows(createLogger({ name: 'bundle', level: 'warn' }));
  writeFileSync(file, code);
}
