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
