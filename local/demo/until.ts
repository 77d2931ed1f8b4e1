import { setTimeout as pause } from 'node:timers/promises';

/** Looks every 100 ms until `look` answers something other than undefined or false; throws, naming `what`, after `seconds`. */
export async function until<T>(
  what: string,
  seconds: number,
  look: () => Promise<T | undefined | false>,
): Promise<T> {
  const deadline = performance.now() + seconds * 1_000;
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    if (performance.now() > deadline) throw new Error(`${what} did not come within ${seconds} s`);
    await pause(100);
  }
}
