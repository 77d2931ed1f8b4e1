/** The logo that an enterprise prints on its receipts: a PNG or JPEG, judged by its structure without drawing it. */

export type LogoType = 'image/png' | 'image/jpeg';

/** Largest file in bytes, and longest side in pixels: 8 cm at 300 dpi are 945. */
const MOST_BYTES = 64 * 1024;
const LONGEST_SIDE = 1000;

type Size = readonly [width: number, height: number];

/** What a file is, or what is wrong with it, in words that follow the field's name. */
export function readLogo(
  bytes: Uint8Array,
): { ok: true; mediaType: LogoType } | { ok: false; words: string } {
  if (bytes.length > MOST_BYTES) {
    return { ok: false, words: `must be a picture of at most ${MOST_BYTES} bytes, found ${bytes.length}.` };
  }
  const mediaType = startsWith(bytes, PNG) ? 'image/png' : startsWith(bytes, JPEG) ? 'image/jpeg' : undefined;
  if (!mediaType) return { ok: false, words: 'must be a PNG or JPEG picture.' };
  const size = mediaType === 'image/png' ? pngSize(bytes) : jpegSize(bytes);
  const kind = mediaType === 'image/png' ? 'PNG' : 'JPEG';
  if (!size) return { ok: false, words: `must be a whole ${kind} picture; this one is damaged or cut off.` };
  const [width, height] = size;
  if (Math.min(width, height) < 1 || Math.max(width, height) > LONGEST_SIDE) {
    const words = `must be at most ${LONGEST_SIDE} pixels wide and high, found ${width} × ${height}.`;
    return { ok: false, words };
  }
  return { ok: true, mediaType };
}

const PNG = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];
const JPEG = [0xff, 0xd8, 0xff];

const startsWith = (bytes: Uint8Array, signature: readonly number[]): boolean =>
  signature.every((byte, place) => bytes[place] === byte);
const viewOf = (bytes: Uint8Array) => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** Length, type and checksum of a chunk. */
const CHUNK_FRAME = 12;

/** The size in the header of a PNG whose chunks go from IHDR over IDAT to IEND without a gap (PNG, third edition, §5). */
function pngSize(bytes: Uint8Array): Size | undefined {
  const view = viewOf(bytes);
  const types: string[] = [];
  let size: Size | undefined;
  for (let at = PNG.length; at < bytes.length; ) {
    if (at + CHUNK_FRAME > bytes.length) return undefined;
    const length = view.getUint32(at);
    const type = String.fromCharCode(...bytes.subarray(at + 4, at + 8));
    if (at + CHUNK_FRAME + length > bytes.length) return undefined;
    if (types.length === 0) {
      if (type !== 'IHDR' || length !== 13) return undefined;
      size = [view.getUint32(at + 8), view.getUint32(at + 12)];
    }
    types.push(type);
    at += CHUNK_FRAME + length;
  }
  return types.includes('IDAT') && types.indexOf('IEND') === types.length - 1 ? size : undefined;
}

/** Frames that hold the size: baseline, extended, progressive (ITU-T T.81, table B.1). */
const FRAMES = [0xc0, 0xc1, 0xc2];
const SCAN = 0xda;
const END = [0xff, 0xd9];

/** The size in the frame of a JPEG whose segments lead to a scan and which ends with EOI. */
function jpegSize(bytes: Uint8Array): Size | undefined {
  if (bytes.at(-2) !== END[0] || bytes.at(-1) !== END[1]) return undefined;
  const view = viewOf(bytes);
  let size: Size | undefined;
  for (let at = 2; at + 4 <= bytes.length; ) {
    if (bytes[at] !== 0xff) return undefined;
    const marker = view.getUint8(at + 1);
    if (marker === SCAN) return size;
    const length = view.getUint16(at + 2);
    if (length < 2 || at + 2 + length > bytes.length) return undefined;
    if (FRAMES.includes(marker)) {
      if (length < 8) return undefined;
      size = [view.getUint16(at + 7), view.getUint16(at + 5)];
    }
    at += 2 + length;
  }
  return undefined;
}
