/** The guard's process: see `guard.ts`. Reads what it guards from standard input and acts when that ends. */
import { rmSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { endInOrder } from './ending.ts';
import type { Guarded, GuardMessage } from './guard.ts';

// Only the end of the pipe counts: a Ctrl-C or a closed terminal is the owner's to act on.
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => undefined);

const guarded = new Map<number, Guarded>();
let files: readonly string[] = [];

const lines = createInterface({ input: process.stdin, crlfDelay: Number.POSITIVE_INFINITY });
lines.on('line', (line) => {
  const message = read(line);
  if (!message) return;
  if ('add' in message) guarded.set(message.add.mark.pid, message.add);
  else if ('drop' in message) guarded.delete(message.drop.pid);
  else files = message.files;
});
lines.once('close', () => {
  void endInOrder([...guarded.values()]).then(() => {
    for (const file of files) rmSync(file, { force: true });
    process.exit(0);
  });
});

/** A line cut short by its writer's death is no message. */
function read(line: string): GuardMessage | undefined {
  try {
    return JSON.parse(line) as GuardMessage;
  } catch {
    return undefined;
  }
}
