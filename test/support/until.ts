/** Looks every 50 ms until `look` gives something; fails with `what` after `seconds`. */
export async function until<T>(
  what: string,
  seconds: number,
  look: () => Promise<T | undefined>,
): Promise<T> {
  const deadline = Date.now() + seconds * 1_000;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (Date.now() > deadline) throw new Error(`${what} did not come within ${seconds} s`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
