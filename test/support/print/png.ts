import { crc32, deflateSync, inflateSync } from 'node:zlib';

/** A picture in grey, a byte for each pixel, row by row. */
export interface Picture {
  readonly width: number;
  readonly height: number;
  readonly grey: Uint8Array;
}

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

function chunk(type: string, data: Uint8Array): Buffer {
  const frame = Buffer.alloc(12 + data.length);
  frame.writeUInt32BE(data.length);
  frame.write(type, 4, 'latin1');
  frame.set(data, 8);
  frame.writeUInt32BE(crc32(frame.subarray(4, 8 + data.length)), 8 + data.length);
  return frame;
}

/** A PNG of one byte a pixel, without filters. */
export function pngOf({ width, height, grey }: Picture): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header[8] = 8;
  const rows = Buffer.alloc((width + 1) * height);
  for (let row = 0; row < height; row += 1)
    rows.set(grey.subarray(row * width, (row + 1) * width), row * (width + 1) + 1);
  const data = deflateSync(rows, { level: 9 });
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', header),
    chunk('IDAT', data),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

/** Reads what `pngOf` wrote. */
export function readPng(file: Buffer): Picture {
  const [width, height] = [file.readUInt32BE(16), file.readUInt32BE(20)];
  const at = file.indexOf('IDAT');
  const rows = inflateSync(file.subarray(at + 4, at + 4 + file.readUInt32BE(at - 4)));
  const grey = new Uint8Array(width * height);
  for (let row = 0; row < height; row += 1)
    grey.set(rows.subarray(row * (width + 1) + 1, (row + 1) * (width + 1)), row * width);
  return { width, height, grey };
}

/** Side of the squares whose greys are compared: smaller than a letter, larger than what two rasterisers differ in. */
const SQUARE = 4;

/** The largest difference between the mean greys of the same square in two pictures, of 255; all of it for other sizes. */
export function differenceOf(one: Picture, other: Picture): number {
  if (one.width !== other.width || one.height !== other.height) return 255;
  let most = 0;
  for (let y = 0; y < one.height; y += SQUARE)
    for (let x = 0; x < one.width; x += SQUARE)
      most = Math.max(most, Math.abs(greyAt(one, x, y) - greyAt(other, x, y)));
  return most;
}

function greyAt({ width, height, grey }: Picture, left: number, top: number): number {
  let [sum, count] = [0, 0];
  for (let y = top; y < Math.min(top + SQUARE, height); y += 1)
    for (let x = left; x < Math.min(left + SQUARE, width); x += 1) {
      sum += grey[y * width + x] ?? 0;
      count += 1;
    }
  return sum / count;
}
