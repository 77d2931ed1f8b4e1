/** The logo of printed receipts: a PNG or JPEG, checked by its structure without decoding pixels. */

export type LogoType = 'image/png' | 'image/jpeg';

/** Largest file in bytes, and longest side in pixels: 8 cm at 300 dpi are 945. */
const MOST_BYTES = 64 * 1024;
const LONGEST_SIDE = 1000;

/** The structure of a complete picture. */
export type Picture = { readonly width: number; readonly height: number } & (
  | {
      readonly mediaType: 'image/png';
      readonly bitDepth: number;
      readonly colourType: number;
      readonly isInterlaced: boolean;
      /** Its compressed pixels, unchecked. */
      readonly data: readonly Uint8Array[];
    }
  | { readonly mediaType: 'image/jpeg'; readonly components: number }
);

/** Returns the media type of a logo, or its fault in words that follow the field name. */
export function readLogo(
  bytes: Uint8Array,
): { ok: true; mediaType: LogoType } | { ok: false; words: string } {
  if (bytes.length > MOST_BYTES) {
    return { ok: false, words: `must be a picture of at most ${MOST_BYTES} bytes, found ${bytes.length}.` };
  }
  const kind = startsWith(bytes, PNG) ? 'PNG' : startsWith(bytes, JPEG) ? 'JPEG' : undefined;
  if (!kind) return { ok: false, words: 'must be a PNG or JPEG picture.' };
  const picture = parsePicture(bytes);
  if (!picture)
    return { ok: false, words: `must be a complete ${kind} picture; this one is damaged or truncated.` };
  const { mediaType, width, height } = picture;
  if (Math.min(width, height) < 1 || Math.max(width, height) > LONGEST_SIDE) {
    const words = `must be at most ${LONGEST_SIDE} pixels wide and high, found ${width} × ${height}.`;
    return { ok: false, words };
  }
  return { ok: true, mediaType };
}

/** Parses a complete PNG or JPEG; undefined for other files. */
export const parsePicture = (bytes: Uint8Array): Picture | undefined =>
  startsWith(bytes, PNG) ? parsePng(bytes) : startsWith(bytes, JPEG) ? parseJpeg(bytes) : undefined;

const PNG = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];
const JPEG = [0xff, 0xd8, 0xff];

const startsWith = (bytes: Uint8Array, signature: readonly number[]): boolean =>
  signature.every((byte, index) => bytes[index] === byte);
const viewOf = (bytes: Uint8Array) => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** Length, type and checksum of a chunk. */
const CHUNK_FRAME = 12;

/** Parses a PNG whose chunks follow each other from IHDR to IEND (PNG, third edition, §5). */
function parsePng(bytes: Uint8Array): Picture | undefined {
  const view = viewOf(bytes);
  const types: string[] = [];
  const data: Uint8Array[] = [];
  for (let at = PNG.length; at < bytes.length; ) {
    if (at + CHUNK_FRAME > bytes.length) return undefined;
    const length = view.getUint32(at);
    const type = String.fromCharCode(...bytes.subarray(at + 4, at + 8));
    if (at + CHUNK_FRAME + length > bytes.length) return undefined;
    if (types.length === 0 && (type !== 'IHDR' || length !== 13)) return undefined;
    if (type === 'IDAT') data.push(bytes.subarray(at + 8, at + 8 + length));
    types.push(type);
    at += CHUNK_FRAME + length;
  }
  if (data.length === 0 || types.indexOf('IEND') !== types.length - 1) return undefined;
  // IHDR is the first chunk.
  const [width, height] = [view.getUint32(16), view.getUint32(20)];
  const [bitDepth, colourType, isInterlaced] = [
    view.getUint8(24),
    view.getUint8(25),
    view.getUint8(28) === 1,
  ];
  return { mediaType: 'image/png', width, height, bitDepth, colourType, isInterlaced, data };
}

/** Frames with the size: baseline, extended, progressive (ITU-T T.81, table B.1). */
const FRAMES = [0xc0, 0xc1, 0xc2];
const SCAN = 0xda;
const END = [0xff, 0xd9];

/** Parses a JPEG whose segments lead to a scan and that ends with EOI. */
function parseJpeg(bytes: Uint8Array): Picture | undefined {
  if (bytes.at(-2) !== END[0] || bytes.at(-1) !== END[1]) return undefined;
  const view = viewOf(bytes);
  let picture: Picture | undefined;
  for (let at = 2; at + 4 <= bytes.length; ) {
    if (bytes[at] !== 0xff) return undefined;
    const marker = view.getUint8(at + 1);
    if (marker === SCAN) return picture;
    const length = view.getUint16(at + 2);
    if (length < 2 || at + 2 + length > bytes.length) return undefined;
    if (FRAMES.includes(marker)) {
      if (length < 8) return undefined;
      const [height, width] = [view.getUint16(at + 5), view.getUint16(at + 7)];
      picture = { mediaType: 'image/jpeg', width, height, components: view.getUint8(at + 9) };
    }
    at += 2 + length;
  }
  return undefined;
}
