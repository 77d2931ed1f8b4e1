/** The operator's command line. */
import { processVariables } from '../config.ts';
import { runCliProcess } from '../wiring/cliDeps.ts';

await runCliProcess(processVariables);
