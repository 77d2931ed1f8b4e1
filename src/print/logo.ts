/** The issuer's logo at the top of the first sheet. */
import { inflateSync } from 'node:zlib';
import { type Picture, parsePicture } from '../domain/enterprises/logo.ts';
import { EMPTY_PIECE, type Piece, wrapInElement } from './pieces.ts';

/** Resolution at which a logo is drawn if its box is large enough. */
const LOGO_DPI = 150;

/** Returns the logo as large as its pixels allow within the box; empty if the logo cannot be drawn. */
export function logoPiece(logo: Uint8Array | undefined, most: { width: number; height: number }): Piece {
  const size = logo && parsePicture(logo);
  if (!logo || !size || !isDrawable(size)) return EMPTY_PIECE;
  const natural = 72 / LOGO_DPI;
  const scale = Math.min(natural, most.width / size.width, most.height / size.height);
  const [width, height] = [size.width * scale, size.height * scale];
  const picture: Piece = {
    height,
    draw: (pen, place, x, y) => pen.content(place, 'Figure', () => pen.image(logo, x, y, width, height)),
  };
  return wrapInElement('Figure', picture, { alt: 'Logo del emisor' });
}

/** Samples of a pixel by the colour type of a PNG. */
const CHANNELS: Readonly<Record<number, number>> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 };
/** Larger than any inflated picture of 1,000 × 1,000 pixels. */
const MOST_BYTES = 16_000_000;

/**
 * Whether all pixels of a PNG are present; for a JPEG, whether it is grey or RGB: PDF/A allows no CMYK beside
 * sRGB.
 */
function isDrawable(picture: Picture): boolean {
  if (picture.mediaType === 'image/jpeg') return picture.components === 1 || picture.components === 3;
  const { width, height, bitDepth, colourType, isInterlaced, data } = picture;
  try {
    const pixels = inflateSync(Buffer.concat(data), { maxOutputLength: MOST_BYTES });
    const bitsOfPixel = bitDepth * (CHANNELS[colourType] ?? 0);
    return areRows(pixels, bitsOfPixel, isInterlaced ? passesOf(width, height) : [[width, height]]);
  } catch {
    return false;
  }
}

type Pass = readonly [width: number, height: number];

/** Sizes of the passes of an interlaced picture (PNG, third edition, §8.1: Adam7). */
const passesOf = (width: number, height: number): Pass[] =>
  (
    [
      [0, 0, 8, 8],
      [4, 0, 8, 8],
      [0, 4, 4, 8],
      [2, 0, 4, 4],
      [0, 2, 2, 4],
      [1, 0, 2, 2],
      [0, 1, 1, 2],
    ] as const
  ).map(([x, y, across, down]) => [Math.ceil((width - x) / across), Math.ceil((height - y) / down)]);

/** The highest filter type of a row (PNG, third edition, §9.2). */
const LAST_FILTER = 4;

/** Whether `pixels` are exactly the rows of `passes`, each with a valid filter. */
function areRows(pixels: Uint8Array, bitsOfPixel: number, passes: readonly Pass[]): boolean {
  let at = 0;
  for (const [width, height] of passes) {
    if (width <= 0) continue;
    for (let row = 0; row < height; row += 1) {
      if ((pixels[at] ?? LAST_FILTER + 1) > LAST_FILTER) return false;
      at += 1 + Math.ceil((width * bitsOfPixel) / 8);
    }
  }
  return at === pixels.length;
}
