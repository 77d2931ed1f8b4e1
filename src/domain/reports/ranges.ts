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

/** `of`: the type of the numbers, for messages. */
export function createRanges(of: string): Ranges {
  const series = new Map<string, { spans: Span[]; next: number }>();
  return {
    add({ serie, from, to }) {
      let held = series.get(serie);
      if (!held) {
        held = { spans: [], next: MOST_LOOSE };
        series.set(serie, held);
      }
      // Numbers come nearly in order, so most of them extend the last span.
      const last = held.spans.at(-1);
      if (last && last[1] + 1 === from) {
        last[1] = to;
        return;
      }
      held.spans.push([from, to]);
      if (held.spans.length < held.next) return;
      held.spans = merge(held.spans, `${of}, serie ${serie},`);
      held.next = 2 * held.spans.length + MOST_LOOSE;
    },
    merged: () =>
      [...series]
        .toSorted(([a], [b]) => (a < b ? -1 : 1))
        .flatMap(([serie, { spans }]) =>
          merge(spans, `${of}, serie ${serie},`).map(([from, to]) => ({ serie, from, to })),
        ),
  };
}

function merge(spans: readonly Span[], of: string): Span[] {
  const merged: Span[] = [];
  for (const [from, to] of spans.toSorted(([a], [b]) => a - b)) {
    const last = merged.at(-1);
    if (last && from <= last[1])
      throw new DuplicateNumber(
        `${of} number ${from} counts twice: as issued and as annulled. Nothing was sent: have the rows corrected.`,
      );
    if (last && from === last[1] + 1) last[1] = to;
    else merged.push([from, to]);
  }
  return merged;
}
