/** `npm run -s cfe -- …`: the operator's command line. */
import { GROUPS } from '../cli/groups/index.ts';
import { runCli } from '../cli/run.ts';
import { isDatabaseOutage } from '../db/outage.ts';
import { Refusal } from '../errors.ts';
import { withCliDeps } from '../wiring/cliDeps.ts';

// A reader such as `| head` may close the pipe early.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
process.exitCode = await runCli(process.argv.slice(2), GROUPS, {
  writeOut: (text) => void process.stdout.write(text),
  writeError: (text) => void process.stderr.write(text),
  withDeps: withCliDeps,
  refusalFor: (error) =>
    isDatabaseOutage(error)
      ? new Refusal('UNAVAILABLE', 'The database cannot be reached.', { cause: error })
      : undefined,
});
