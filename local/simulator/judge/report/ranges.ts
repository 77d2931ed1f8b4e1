import type { Range } from './reading.ts';

/** A range as a person writes it: `A 5`, `A 1 a 5`. */
export const shown = ({ serie, from, to }: Range): string =>
  from === to ? `${serie} ${from}` : `${serie} ${from} a ${to}`;

/** How many numbers ranges hold together. */
export const sizeOf = (ranges: readonly Range[]): number =>
  ranges.reduce((sum, { from, to }) => sum + to - from + 1, 0);

const inOrder = (a: Range, b: Range): number =>
  a.serie === b.serie ? a.from - b.from : a.serie < b.serie ? -1 : 1;

/** The first two ranges that share a number; undefined where none do. */
export function overlap(ranges: readonly Range[]): readonly [Range, Range] | undefined {
  const ordered = ranges.toSorted(inOrder);
  for (const [at, range] of ordered.entries()) {
    const next = ordered[at + 1];
    if (next && next.serie === range.serie && next.from <= range.to) return [range, next];
  }
  return undefined;
}

/** The same numbers in as few ranges as there can be, in order. */
function merged(ranges: readonly Range[]): Range[] {
  const result: Range[] = [];
  for (const range of ranges.toSorted(inOrder)) {
    const last = result.at(-1);
    if (last && last.serie === range.serie && range.from <= last.to + 1)
      result[result.length - 1] = { ...last, to: Math.max(last.to, range.to) };
    else result.push(range);
  }
  return result;
}

/** The ranges that are not wholly within others. */
export function outside(ranges: readonly Range[], others: readonly Range[]): Range[] {
  const holders = merged(others);
  return ranges.filter(
    ({ serie, from, to }) => !holders.some((one) => one.serie === serie && one.from <= from && to <= one.to),
  );
}

/** Tells whether a number is within ranges; made once for many questions. */
export function lookUp(ranges: readonly Range[]): (serie: string, number: number) => boolean {
  const bySerie = Map.groupBy(merged(ranges), ({ serie }) => serie);
  return (serie, number) => {
    const list = bySerie.get(serie) ?? [];
    let [low, high] = [0, list.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      const range = list[middle];
      if (range && range.to < number) low = middle + 1;
      else high = middle;
    }
    const found = list[low];
    return found !== undefined && found.from <= number;
  };
}
