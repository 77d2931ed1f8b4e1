/** Milliseconds of the processor that `work` takes in this process; other load on the machine does not count. */
export function processorMilliseconds(work: () => unknown): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
