import { readdirSync, readFileSync } from 'node:fs';

/** User and system time of a process so far, in seconds; /proc counts hundredths. */
export function processorTime(pid: number): number {
  return hundredths(fieldsOf(pid)?.slice(11, 13));
}

/** The same of a process and of all that it started, those that have ended included. */
export function processorTimeOfTree(pid: number): number {
  const children = readdirSync('/proc').filter(
    (name) => /^\d+$/.test(name) && fieldsOf(Number(name))?.[1] === String(pid),
  );
  // After its own times come those of the children that it has seen end.
  const own = hundredths(fieldsOf(pid)?.slice(11, 15));
  return children.reduce((sum, child) => sum + processorTime(Number(child)), own);
}

/** Seconds so far of each process with all that it started, and of the bench, without, for it may have started them. */
export const spentBy = (pids: Readonly<Record<string, number>>): Record<string, number> => ({
  ...Object.fromEntries(Object.entries(pids).map(([name, pid]) => [name, processorTimeOfTree(pid)])),
  bench: processorTime(process.pid),
});

/** What was spent in between for each of so many, in milliseconds. */
export const costsOf = (
  before: Readonly<Record<string, number>>,
  after: Readonly<Record<string, number>>,
  count: number,
): string =>
  Object.entries(after)
    .map(([name, spent]) => `${name} ${((1_000 * (spent - (before[name] ?? 0))) / count).toFixed(1)}`)
    .join(', ');

const hundredths = (counts: readonly string[] = []): number =>
  counts.reduce((sum, count) => sum + Number(count), 0) / 100;

/** What follows the name of the program in /proc/<pid>/stat; undefined once the process is gone. */
function fieldsOf(pid: number): string[] | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return text.slice(text.lastIndexOf(')') + 2).split(' ');
  } catch {
    return undefined;
  }
}
