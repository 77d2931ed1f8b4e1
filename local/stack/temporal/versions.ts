/** Versions as programs print them, compared number by number. */

/**
 * The first dotted version in a string (`go version go1.26.8 linux/amd64` → [1, 26, 8]); undefined when there is none.
 */
export function versionIn(text: string): readonly number[] | undefined {
  const found = /(\d+)\.(\d+)(?:\.(\d+))?/.exec(text);
  return found ? [Number(found[1]), Number(found[2]), Number(found[3] ?? 0)] : undefined;
}

/** Whether a version is the least one or later. */
export function isAtLeast(version: readonly number[] | undefined, least: readonly number[]): boolean {
  if (!version) return false;
  for (const [index, wanted] of least.entries()) {
    const had = version[index] ?? 0;
    if (had !== wanted) return had > wanted;
  }
  return true;
}
