/** Checks one after the other, each a line; one that fails does not keep the others from running. */
export class Checks {
  passed = 0;
  failed = 0;

  /** Runs a check and tells how it went; undefined where it failed. */
  async check<T>(title: string, body: () => Promise<T> | T): Promise<T | undefined> {
    const startedAt = performance.now();
    const tell = (word: string): void =>
      console.log(`${word} ${title} (${((performance.now() - startedAt) / 1_000).toFixed(1)} s)`);
    try {
      const result = await body();
      this.passed += 1;
      tell('ok    ');
      return result;
    } catch (error) {
      this.failed += 1;
      tell('FAILED');
      console.log((error instanceof Error ? error.message : String(error)).replace(/^/gm, '         '));
      return undefined;
    }
  }
}

/** Throws with both, where `actual` is not `wanted` as JSON. */
export function same(actual: unknown, wanted: unknown, what = 'it'): void {
  const [is, should] = [JSON.stringify(actual), JSON.stringify(wanted)];
  if (is !== should) throw new Error(`${what} is ${is}, and should be ${should}`);
}
