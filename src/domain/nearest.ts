/** The candidate that differs from `name` by at most two slips (case apart), or undefined. */
export function nearest(name: string, candidates: readonly string[]): string | undefined {
  const wanted = name.toLowerCase();
  let best: { candidate: string; slips: number } | undefined;
  for (const candidate of candidates) {
    const most = Math.min(2, Math.floor(candidate.length / 3));
    if (Math.abs(candidate.length - wanted.length) > most) continue;
    const slips = slipsBetween(wanted, candidate.toLowerCase());
    if (slips <= most && slips < (best?.slips ?? Number.POSITIVE_INFINITY)) best = { candidate, slips };
  }
  return best?.candidate;
}

/** Letters put in, left out, changed, or swapped with their neighbour (optimal string alignment). */
function slipsBetween(a: string, b: string): number {
  let before: number[] = [];
  let above = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const change = (above[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      let slips = Math.min(change, (above[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        slips = Math.min(slips, (before[j - 2] ?? 0) + 1);
      }
      row.push(slips);
    }
    before = above;
    above = row;
  }
  return above[b.length] ?? 0;
}
