/** The watchdog's process: see `watchdog.ts`. Reads what it watches from standard input and acts when that ends. */
import { rmSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { endInOrder } from './ending.ts';
import type { WatchdogMessage, Watched } from './watchdog.ts';

// Only the end of the pipe counts: Ctrl-C and a closed terminal are the owner's business.
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => undefined);

const watched = new Map<number, Watched>();
let files: readonly string[] = [];

const lines = createInterface({ input: process.stdin, crlfDelay: Number.POSITIVE_INFINITY });
lines.on('line', (line) => {
  const message = read(line);
  if (!message) return;
  if ('add' in message) watched.set(message.add.mark.pid, message.add);
  else if ('drop' in message) watched.delete(message.drop.pid);
  else files = message.files;
});
lines.once('close', () => {
  void endInOrder([...watched.values()]).then(() => {
    for (const file of files) rmSync(file, { force: true });
    process.exit(0);
  });
});

/** The message in a line; undefined for one cut short by its writer's death. */
function read(line: string): WatchdogMessage | undefined {
  try {
    return JSON.parse(line) as WatchdogMessage;
  } catch {
    return undefined;
  }
}
