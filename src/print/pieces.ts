/** Layout pieces of known height, each drawn at a given position. */
import { ASCENT, FACES, LETTERS, SPACING, toDrawable, type Weight, wrap } from './fonts.ts';
import type { Pen, StructurePlace, Tag } from './pen.ts';

export const MM = 72 / 25.4;

export interface Piece {
  readonly height: number;
  /** Draws with the top left corner at (x, y), as a part of `place` in the structure. */
  draw(pen: Pen, place: StructurePlace, x: number, y: number): void;
  /** The pieces of a stack, between which a page may end. */
  readonly parts?: readonly Piece[];
}

/** A paragraph of the form. */
export interface Entry {
  readonly text: string;
  /** Large letters are 3 mm high, small ones 2 mm. */
  readonly letters?: keyof typeof LETTERS | number;
  readonly weight?: Weight;
  readonly align?: 'left' | 'center' | 'right';
}

export const EMPTY_PIECE: Piece = { height: 0, draw: () => undefined };

const sizeOf = ({ letters = 'small' }: Entry): number =>
  typeof letters === 'number' ? letters : LETTERS[letters];

/** Returns the width of an entry on one line. */
export const widthOf = (entry: Entry): number =>
  FACES[entry.weight ?? 'regular'].width(toDrawable(entry.text), sizeOf(entry));

/** Returns an entry broken into lines: one structure element, with a part for each line. */
export function paragraph(entry: Entry, width: number, tag: Tag | null = 'P'): Piece {
  const { weight = 'regular', align = 'left' } = entry;
  const size = sizeOf(entry);
  const face = FACES[weight];
  const lines = wrap(toDrawable(entry.text), face, size, width);
  const line = (text: string): Piece => ({
    height: size * SPACING,
    draw(pen, place, x, y) {
      const room = align === 'left' ? 0 : width - face.width(text, size);
      const at = x + (align === 'center' ? room / 2 : room);
      pen.content(place, tag ?? 'P', () => pen.text(text, weight, size, at, y + size * ASCENT));
    },
  });
  return wrapInElement(tag, stack(lines.map(line)));
}

/** Wraps a piece in one element for all its parts; with `tag` null the piece stays in the surrounding element. */
export function wrapInElement(tag: Tag | null, piece: Piece, options?: { alt?: string }): Piece {
  if (tag === null) return piece;
  let shared: { element: StructurePlace } | undefined;
  const inside = (part: Piece): Piece => ({
    height: part.height,
    draw(pen, place, x, y) {
      // Content repeated on further pages is an artefact, without elements.
      const element = shared?.element ?? pen.element(place, tag, options);
      if (element) shared = { element };
      part.draw(pen, element, x, y);
    },
    ...(part.parts ? { parts: part.parts.map(inside) } : {}),
  });
  return inside(piece);
}

/** Places pieces one below the other. */
export function stack(pieces: readonly Piece[], gap = 0): Piece {
  const parts = pieces.filter(({ height }) => height > 0);
  const height = parts.reduce((sum, part) => sum + part.height, 0) + gap * Math.max(0, parts.length - 1);
  return {
    height,
    parts,
    draw(pen, place, x, y) {
      let at = y;
      for (const part of parts) {
        part.draw(pen, place, x, at);
        at += part.height + gap;
      }
    },
  };
}

/** Places pieces side by side, each at its distance from the left. */
export function sideBySide(pieces: readonly { piece: Piece; at: number }[]): Piece {
  return {
    height: Math.max(0, ...pieces.map(({ piece }) => piece.height)),
    draw(pen, place, x, y) {
      for (const { piece, at } of pieces) piece.draw(pen, place, x + at, y);
    },
  };
}

/** Adds space to the left of a piece. */
export const inset = (piece: Piece, left: number): Piece => ({
  height: piece.height,
  draw: (pen, place, x, y) => piece.draw(pen, place, x + left, y),
  ...(piece.parts ? { parts: piece.parts.map((part) => inset(part, left)) } : {}),
});

export const space = (height: number): Piece => ({ height, draw: () => undefined });

/** Draws a frame of at least `leastHeight` around centred content. */
export function box(
  entries: readonly Entry[],
  { width, leastHeight, padding = 1.5 * MM }: { width: number; leastHeight: number; padding?: number },
): Piece {
  const content = stack(
    entries.map((entry) => paragraph({ align: 'center', ...entry }, width - 2 * padding)),
  );
  const height = Math.max(leastHeight, content.height + 2 * padding);
  return {
    height,
    draw(pen, place, x, y) {
      pen.artifact(() => pen.frame(x, y, width, height));
      content.draw(pen, place, x + padding, y + (height - content.height) / 2);
    },
  };
}

/** Places a label on the left and a figure on the right: on one line if both fit, otherwise the figure below. */
export function labelAndFigure(label: Entry, figure: Entry, width: number, tag: Tag | null = 'P'): Piece {
  const right: Entry = { ...figure, align: 'right' };
  const wide = widthOf(figure);
  if (widthOf(label) + 2 * MM + wide > width)
    return wrapInElement(
      tag,
      stack([paragraph(label, width, null), paragraph(fitOnLine(right, width), width, null)]),
    );
  const both = sideBySide([
    { piece: paragraph(label, width, null), at: 0 },
    { piece: paragraph(right, width, null), at: 0 },
  ]);
  return wrapInElement(tag, both);
}

/** Reduces the letters of an entry until it fits on one line, never below small letters. */
function fitOnLine(entry: Entry, width: number): Entry {
  const size = Math.min(sizeOf(entry), (sizeOf(entry) * width) / widthOf(entry));
  return { ...entry, letters: Math.max(LETTERS.small, size) };
}
