/** How the stack tells a person what it does: one line at a time. */
export type Say = (line: string) => void;

/** Seconds since `startedAt` (milliseconds of `performance.now()`), with one decimal. */
export const secondsSince = (startedAt: number): string =>
  `${((performance.now() - startedAt) / 1000).toFixed(1)} s`;

/**
 * Does something long and reports on it: what begins and how long it usually takes, every `everySeconds` how long it
 * has taken, then that it is done. `state` may add the progress (megabytes, say).
 */
export async function longStep<T>(
  step: { say: Say; title: string; usually: string; everySeconds?: number; state?: () => string },
  work: () => Promise<T>,
): Promise<T> {
  const startedAt = performance.now();
  step.say(`${step.title} (usually ${step.usually}) …`);
  const timer = setInterval(
    () => {
      const state = step.state?.();
      step.say(`  … ${secondsSince(startedAt)}${state ? `, ${state}` : ''}`);
    },
    (step.everySeconds ?? 10) * 1000,
  );
  timer.unref();
  try {
    const result = await work();
    step.say(`  done in ${secondsSince(startedAt)}`);
    return result;
  } finally {
    clearInterval(timer);
  }
}
