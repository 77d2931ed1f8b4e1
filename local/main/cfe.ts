/** `npm run -s cfe -- …`: the operator's command line, over the local stack where it runs. */
import { processVariables } from '../../src/config.ts';
import { runCliProcess } from '../../src/wiring/cliDeps.ts';
import { variablesWithStack } from '../stack/stackVariables.ts';

await runCliProcess(variablesWithStack(processVariables));
