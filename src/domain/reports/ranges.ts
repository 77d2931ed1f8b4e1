/** Numbers of a type as ranges, whose size depends on the gaps and not on the numbers. */

/** The numbers `from` to `to` of a serie, both included. */
export interface SerieRange {
  readonly serie: string;
  readonly from: number;
  readonly to: number;
}

/** A number was added twice: the stored data is contradictory. The message is for operators. */
export class DuplicateNumber extends Error {
  override readonly name = 'DuplicateNumber';
}

type Span = [from: number, to: number];

/** The most unmerged spans of a serie. */
const MOST_LOOSE = 2_000;

export interface Ranges {
  /** Adds numbers, in any order. */
  add(range: SerieRange): void;
  /** Returns the merged ranges by serie and number. Throws DuplicateNumber. */
  merged(): SerieRange[];
}

/** Creates empty ranges. `typeName`: the type of the numbers, for messages. */
export function createRanges(typeName: string): Ranges {
  const series = new Map<string, { spans: Span[]; next: number }>();
  return {
    add({ serie, from, to }) {
      let entry = series.get(serie);
      if (!entry) {
        entry = { spans: [], next: MOST_LOOSE };
        series.set(serie, entry);
      }
      // Numbers come nearly in order, so most of them extend the last span.
      const last = entry.spans.at(-1);
      if (last && last[1] + 1 === from) {
        last[1] = to;
        return;
      }
      entry.spans.push([from, to]);
      if (entry.spans.length < entry.next) return;
      entry.spans = merge(entry.spans, `${typeName}, serie ${serie},`);
      entry.next = 2 * entry.spans.length + MOST_LOOSE;
    },
    merged: () =>
      [...series]
        .toSorted(([a], [b]) => (a < b ? -1 : 1))
        .flatMap(([serie, { spans }]) =>
          merge(spans, `${typeName}, serie ${serie},`).map(([from, to]) => ({ serie, from, to })),
        ),
  };
}

function merge(spans: readonly Span[], name: string): Span[] {
  const merged: Span[] = [];
  for (const [from, to] of spans.toSorted(([a], [b]) => a - b)) {
    const last = merged.at(-1);
    if (last && from <= last[1])
      throw new DuplicateNumber(
        `${name} number ${from} counts twice: as issued and as annulled. Nothing was sent: have the rows corrected.`,
      );
    if (last && from === last[1] + 1) last[1] = to;
    else merged.push([from, to]);
  }
  return merged;
}
