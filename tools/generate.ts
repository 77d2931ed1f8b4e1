/**
 * `npm run generate`: writes every file that is made from the sources. With `-- --check` it writes nothing and names what
 * is out of step. With `-- --examples` it first records the examples of openapi.json anew, from a running stack.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { LOCAL_VARIABLES } from '../local/config.ts';
import { openApiDocument } from '../src/api/openapi/document.ts';
import { readExamples } from '../src/api/openapi/examples.ts';
import { ROUTES } from '../src/api/routes/index.ts';
import { describeVariables, VARIABLES } from '../src/config.ts';
import { CLIENT, clientIsInStep, writeClient } from './generate/client.ts';
import { metricsPage } from './generate/metrics.ts';
import { outcomesPage } from './generate/outcomes.ts';
import { rulesPage } from './generate/rules.ts';
import { sdkOperations } from './generate/sdkOperations.ts';

/** Every variable, those of the service and those of the local stack alone. */
const envExample =
  (): string => `# Every variable that the programs read, with its default. Copy those you change; \`npm start\` needs none of them.

${describeVariables(VARIABLES)}
# ---- The local stack alone ----

${describeVariables(LOCAL_VARIABLES)}`;

/** The generated files but the types of openapi.json, which a program from npm makes. */
const GENERATED: Readonly<Record<string, () => string>> = {
  'docs/rules.md': rulesPage,
  'docs/outcomes.md': outcomesPage,
  'docs/metrics.md': metricsPage,
  '.env.example': envExample,
  'sdk/src/operations.ts': sdkOperations,
  'openapi.json': () => `${JSON.stringify(openApiDocument(ROUTES, readExamples()), null, 2)}\n`,
};

const { values } = parseArgs({ options: { check: { type: 'boolean' }, examples: { type: 'boolean' } } });
if (values.examples) await (await import('./generate/examples.ts')).writeExamples();
const outOfStep: string[] = [];
for (const [name, make] of Object.entries(GENERATED)) {
  const file = join(import.meta.dirname, '..', name);
  const fresh = make();
  if (readFileSync(file, 'utf8') === fresh) continue;
  outOfStep.push(name);
  if (!values.check) writeFileSync(file, fresh);
}
if (!clientIsInStep()) {
  outOfStep.push(CLIENT);
  if (!values.check) writeClient();
}
for (const name of outOfStep)
  console.log(values.check ? `${name} is out of step: npm run generate` : `wrote ${name}`);
process.exitCode = values.check && outOfStep.length > 0 ? 1 : 0;
