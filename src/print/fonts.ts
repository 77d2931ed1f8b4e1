/**
 * Noto Sans, parsed once per thread, with the width of each character. Glyphs are set without kerning or
 * shaping: columns of figures stay aligned, and measuring is cheap.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { create, type Font, type Glyph, type GlyphPosition, type Subset } from 'fontkit';

/** One weight of the font: embedded and measured by PDFKit. */
export interface Face {
  readonly font: Font;
  /** Returns the width of a line of text in points. */
  width(text: string, size: number): number;
}

/**
 * Heights of letters in points (docs/authority/printed-form.md#letters): Noto Sans has capitals of 0.714 em.
 */
export const LETTERS = { small: 8, large: 12 } as const;
/** The font's own single line spacing, in em; and the part of it above the base line. */
export const SPACING = 1.362;
export const ASCENT = 1.069;

/** □, for characters missing from the font, drawn as its empty box (glyph 0). */
const WHITE_SQUARE = 0x25_a1;
const EMPTY_BOX = 0;
/** An unused glyph id, under which the empty box is not a missing glyph: PDF/A forbids showing glyph 0. */
const BOX_ID = 0x1_0000;

export type Weight = 'regular' | 'bold';
export const FACES: Readonly<Record<Weight, Face>> = {
  regular: face('@expo-google-fonts/noto-sans/400Regular/NotoSans_400Regular.ttf'),
  bold: face('@expo-google-fonts/noto-sans/700Bold/NotoSans_700Bold.ttf'),
};

function face(file: string): Face {
  const font = create(readFileSync(fileURLToPath(import.meta.resolve(file))));
  const known = new Map<number, Glyph>();
  const box: Glyph = {
    id: BOX_ID,
    advanceWidth: font.getGlyph(EMPTY_BOX).advanceWidth,
    codePoints: [WHITE_SQUARE],
  };
  const glyphOf = (codePoint: number): Glyph => {
    const cached = known.get(codePoint);
    if (cached) return cached;
    if (!font.hasGlyphForCodePoint(codePoint)) return box;
    const { id, advanceWidth } = font.glyphForCodePoint(codePoint);
    const glyph = { id, advanceWidth, codePoints: [codePoint] };
    known.set(codePoint, glyph);
    return glyph;
  };
  const drawn: Font = Object.assign(Object.create(font) as Font, {
    layout: (text: string) => runOf(Array.from(text, (character) => glyphOf(character.codePointAt(0) ?? 0))),
    createSubset: () => useEmptyBox(font.createSubset()),
  });
  return {
    font: drawn,
    width(text, size) {
      let units = 0;
      for (const character of text) units += glyphOf(character.codePointAt(0) ?? 0).advanceWidth;
      return (units * size) / font.unitsPerEm;
    },
  };
}

/** Creates new positions for each run, because PDFKit changes them. */
function runOf(glyphs: Glyph[]): { glyphs: Glyph[]; positions: GlyphPosition[]; advanceWidth: number } {
  const positions = glyphs.map(({ advanceWidth }) => ({
    xAdvance: advanceWidth,
    yAdvance: 0,
    xOffset: 0,
    yOffset: 0,
  }));
  return { glyphs, positions, advanceWidth: glyphs.reduce((sum, glyph) => sum + glyph.advanceWidth, 0) };
}

function useEmptyBox(subset: Subset): Subset {
  const include = subset.includeGlyph.bind(subset);
  let box: number | undefined;
  subset.includeGlyph = (id) => {
    if (id !== BOX_ID) return include(id);
    box ??= subset.glyphs.push(EMPTY_BOX) - 1;
    return box;
  };
  return subset;
}

/** Invisible characters: joiners, selectors, marks of direction. */
const INVISIBLE = /\p{Default_Ignorable_Code_Point}/gu;

/** Dashes of two and three em: a text of nothing else would take thousands of sheets. */
const LONG_DASHES = /[\u2E3A\u2E3B]/g;

/**
 * Returns text as drawn: composed characters, nothing invisible, every kind of space and line end as one
 * space, no dash longer than one em.
 */
export const toDrawable = (text: string): string =>
  text
    .normalize('NFC')
    .replace(INVISIBLE, '')
    .replace(LONG_DASHES, '—')
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim();

/**
 * Breaks drawable text into lines of at most `width` points: at spaces; a word wider than a line after `/`, `.` or `-`, or
 * anywhere if the word has none of these.
 */
export function wrap(text: string, face: Face, size: number, width: number): string[] {
  const lines: string[] = [];
  const space = face.width(' ', size);
  let line = '';
  let used = 0;
  const end = (): void => {
    if (line !== '') lines.push(line);
    [line, used] = ['', 0];
  };
  for (const word of text.split(' ')) {
    let wide = face.width(word, size);
    if (line !== '' && used + space + wide > width) end();
    if (wide > width) {
      const parts = breakWord(word, face, size, width);
      lines.push(...parts.slice(0, -1));
      line = parts.at(-1) ?? '';
      wide = face.width(line, size);
      used = wide;
      continue;
    }
    used += line === '' ? wide : space + wide;
    line += line === '' ? word : ` ${word}`;
  }
  end();
  return lines;
}

/** Breaks a word into parts that fit. */
function breakWord(word: string, face: Face, size: number, width: number): string[] {
  const parts: string[] = [];
  let part = '';
  for (const piece of word.split(/(?<=[/.-])/)) {
    if (part !== '' && face.width(part + piece, size) > width) {
      parts.push(part);
      part = '';
    }
    part += piece;
    if (face.width(part, size) > width) {
      const cut = cutWord(part, face, size, width);
      parts.push(...cut.slice(0, -1));
      part = cut.at(-1) ?? '';
    }
  }
  return [...parts, part];
}

/** Cuts a word anywhere into parts that fit; a single character is never cut. */
function cutWord(word: string, face: Face, size: number, width: number): string[] {
  const parts: string[] = [];
  let part = '';
  let used = 0;
  for (const character of word) {
    const wide = face.width(character, size);
    if (part !== '' && used + wide > width) {
      parts.push(part);
      [part, used] = ['', 0];
    }
    part += character;
    used += wide;
  }
  return [...parts, part];
}
