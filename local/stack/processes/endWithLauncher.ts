/**
 * Preloaded into every program that `tools/setup.mjs` hands over to: sends the program SIGTERM when its launcher dies
 * without passing on a signal (by SIGKILL, say). Preloaded as `endWithLauncher.ts?parent=PID` it watches that parent;
 * otherwise the channel to the launcher.
 */
import { isMainThread } from 'node:worker_threads';

const LOOK_EVERY_MS = 500;

const end = (): void => {
  process.kill(process.pid, 'SIGTERM');
};

const parent = Number(new URL(import.meta.url).searchParams.get('parent') ?? 0);

if (isMainThread && parent > 0) {
  // A parent that dies is replaced by another.
  setInterval(() => {
    if (process.ppid !== parent) end();
  }, LOOK_EVERY_MS).unref();
} else if (isMainThread && process.channel) {
  process.once('disconnect', end);
  // Watching must not keep the program alive.
  process.channel.unref();
}
