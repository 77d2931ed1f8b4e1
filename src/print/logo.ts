/** The issuer's logo at the top of the first sheet. */
import { inflateSync } from 'node:zlib';
import { EMPTY, type Piece, within } from './pieces.ts';

/** Dots per inch at which a logo is drawn where its box is large enough. */
const LOGO_DPI = 150;

/** The logo within a box of that size, as large as its pixels are worth; nothing where it cannot be drawn. */
export function logoPiece(logo: Uint8Array | undefined, most: { width: number; height: number }): Piece {
  const size = logo && sizeOf(Buffer.from(logo));
  if (!logo || !size) return EMPTY;
  const natural = 72 / LOGO_DPI;
  const scale = Math.min(natural, most.width / size.width, most.height / size.height);
  const [width, height] = [size.width * scale, size.height * scale];
  const picture: Piece = {
    height,
    draw: (pen, place, x, y) => pen.content(place, 'Figure', () => pen.image(logo, x, y, width, height)),
  };
  return within('Figure', picture, { alt: 'Logo del emisor' });
}

interface Size {
  readonly width: number;
  readonly height: number;
}

const sizeOf = (bytes: Buffer): Size | undefined =>
  bytes[0] === 0x89 ? sizeOfPng(bytes) : sizeOfJpeg(bytes);

/** Samples of a pixel by the colour type of a PNG. */
const CHANNELS: Readonly<Record<number, number>> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 };
/** More than any picture of 1,000 × 1,000 pixels inflates to. */
const MOST_BYTES = 16_000_000;

/** The size of a PNG whose pixels are all there: its structure was looked at when it was uploaded, its data not. */
function sizeOfPng(bytes: Buffer): Size | undefined {
  const [width, height] = [bytes.readUInt32BE(16), bytes.readUInt32BE(20)];
  const [bits = 0, colour = 0, , , interlace = 0] = bytes.subarray(24, 29);
  const data: Buffer[] = [];
  for (let at = 8; at + 12 <= bytes.length; at += 12 + bytes.readUInt32BE(at)) {
    if (bytes.toString('latin1', at + 4, at + 8) === 'IDAT')
      data.push(bytes.subarray(at + 8, at + 8 + bytes.readUInt32BE(at)));
  }
  try {
    const pixels = inflateSync(Buffer.concat(data), { maxOutputLength: MOST_BYTES });
    const bitsOfPixel = bits * (CHANNELS[colour] ?? 0);
    return areRows(pixels, bitsOfPixel, interlace === 1 ? passesOf(width, height) : [[width, height]])
      ? { width, height }
      : undefined;
  } catch {
    return undefined;
  }
}

type Pass = readonly [width: number, height: number];

/** Sizes of the pictures that an interlaced one is sent as (PNG, third edition, §8.1: Adam7). */
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

/** The kinds of filter that a row may begin with (PNG, third edition, §9.2). */
const LAST_FILTER = 4;

/** Whether the data are exactly the rows of those passes, each with a filter that there is. */
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

const FRAMES = [0xc0, 0xc1, 0xc2];

/** The size of a JPEG in grey or RGB; PDF/A has no room for CMYK beside sRGB. */
function sizeOfJpeg(bytes: Buffer): Size | undefined {
  for (let at = 2; at + 10 <= bytes.length; at += 2 + bytes.readUInt16BE(at + 2)) {
    if (!FRAMES.includes(bytes[at + 1] ?? 0)) continue;
    const components = bytes[at + 9] ?? 0;
    return components === 1 || components === 3
      ? { height: bytes.readUInt16BE(at + 5), width: bytes.readUInt16BE(at + 7) }
      : undefined;
  }
  return undefined;
}
