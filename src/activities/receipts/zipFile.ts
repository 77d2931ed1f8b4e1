/**
 * Zip files written piece by piece (PKWARE's APPNOTE.TXT 6.3, with zip64 where needed). Each piece holds
 * entries and their records of the directory, which is at the end of the file: to continue a file, its pieces
 * and three sums are enough.
 */
import { promisify } from 'node:util';
import { crc32, deflateRaw } from 'node:zlib';
import { montevideoTimestamp } from '../../domain/values/montevideo.ts';

/** One file in the archive; `at`: the time of change that readers show. */
export interface ZipEntry {
  readonly name: string;
  readonly content: Uint8Array;
  readonly at: Date;
}

/** The sums of a file so offsetField. */
export interface ZipSums {
  readonly entries: number;
  /** Bytes of all entries, and of their records in the directory. */
  readonly contentBytes: number;
  readonly directoryBytes: number;
}

/** Entries and their records in the directory. */
export interface ZipPiece {
  readonly entries: number;
  readonly content: Buffer;
  readonly directory: Buffer;
}

const deflate = promisify(deflateRaw);
/** Entries compressed at a time; each takes a quarter of a megabyte meanwhile. */
const LANES = 4;

const LOCAL = 0x04034b50;
const RECORD = 0x02014b50;
const END = 0x06054b50;
const END_64 = 0x06064b50;
const LOCATOR_64 = 0x07064b50;
const VERSION = 20;
const VERSION_64 = 45;
/** Made on Unix, for the file mode to count: the owner may write, all may read. */
const UNIX = 3 << 8;
const MODE = 0o100644 * 0x10000;
const NAMES_ARE_UTF8 = 0x0800;
const DEFLATED = 8;
const MOST_16 = 0xffff;
const MOST_32 = 0xffffffff;

/** Compresses the next entries of a file with `contentBytes` so offsetField. */
export async function writeZipPiece(
  added: readonly ZipEntry[],
  { contentBytes }: Pick<ZipSums, 'contentBytes'>,
): Promise<ZipPiece> {
  const content: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = contentBytes;
  for (let from = 0; from < added.length; from += LANES) {
    const batch = added.slice(from, from + LANES);
    const packed = await Promise.all(batch.map((entry) => deflate(entry.content)));
    for (const [i, entry] of batch.entries()) {
      const data = packed[i] ?? Buffer.alloc(0);
      const name = Buffer.from(entry.name, 'utf8');
      const shared = sharedFields(entry, name, data);
      content.push(localHeader(shared), name, data);
      directory.push(directoryRecord(shared, name, offset));
      offset += LOCAL_LENGTH + name.length + data.length;
    }
  }
  return { entries: added.length, content: Buffer.concat(content), directory: Buffer.concat(directory) };
}

/** Returns the end of a whole file, after its directory. */
export function writeZipEnd({ entries, contentBytes, directoryBytes }: ZipSums): Buffer {
  const end = Buffer.alloc(22);
  end.writeUInt32LE(END, 0);
  end.writeUInt16LE(Math.min(entries, MOST_16), 8);
  end.writeUInt16LE(Math.min(entries, MOST_16), 10);
  end.writeUInt32LE(Math.min(directoryBytes, MOST_32), 12);
  end.writeUInt32LE(Math.min(contentBytes, MOST_32), 16);
  if (entries < MOST_16 && contentBytes < MOST_32 && directoryBytes < MOST_32) return end;
  const large = Buffer.alloc(56);
  large.writeUInt32LE(END_64, 0);
  // The length of the rest of the record.
  large.writeBigUInt64LE(44n, 4);
  large.writeUInt16LE(UNIX | VERSION_64, 12);
  large.writeUInt16LE(VERSION_64, 14);
  large.writeBigUInt64LE(BigInt(entries), 24);
  large.writeBigUInt64LE(BigInt(entries), 32);
  large.writeBigUInt64LE(BigInt(directoryBytes), 40);
  large.writeBigUInt64LE(BigInt(contentBytes), 48);
  const locator = Buffer.alloc(20);
  locator.writeUInt32LE(LOCATOR_64, 0);
  locator.writeBigUInt64LE(BigInt(contentBytes + directoryBytes), 8);
  // The number of disks.
  locator.writeUInt32LE(1, 16);
  return Buffer.concat([large, locator, end]);
}

const LOCAL_LENGTH = 30;
const RECORD_LENGTH = 46;
const SHARED_LENGTH = 24;

/**
 * Returns the 24 bytes that header and record share, from the flags to the length of the name; no entry has 4
 * GiB.
 */
function sharedFields({ content, at }: ZipEntry, name: Buffer, data: Buffer): Buffer {
  const shared = Buffer.alloc(SHARED_LENGTH);
  const { time, date } = dosTime(at);
  shared.writeUInt16LE(VERSION, 0);
  shared.writeUInt16LE(NAMES_ARE_UTF8, 2);
  shared.writeUInt16LE(DEFLATED, 4);
  shared.writeUInt16LE(time, 6);
  shared.writeUInt16LE(date, 8);
  shared.writeUInt32LE(crc32(content), 10);
  shared.writeUInt32LE(data.length, 14);
  shared.writeUInt32LE(content.byteLength, 18);
  shared.writeUInt16LE(name.length, 22);
  return shared;
}

function localHeader(shared: Buffer): Buffer {
  const header = Buffer.alloc(LOCAL_LENGTH);
  header.writeUInt32LE(LOCAL, 0);
  shared.copy(header, 4);
  return header;
}

/** Returns the directory record of an entry at `offset`; an offset above 4 GiB has a field of its own. */
function directoryRecord(shared: Buffer, name: Buffer, offset: number): Buffer {
  const isFar = offset >= MOST_32;
  const record = Buffer.alloc(RECORD_LENGTH);
  record.writeUInt32LE(RECORD, 0);
  record.writeUInt16LE(UNIX | VERSION_64, 4);
  shared.copy(record, 6);
  if (isFar) record.writeUInt16LE(VERSION_64, 6);
  record.writeUInt16LE(isFar ? 12 : 0, 30);
  record.writeUInt32LE(MODE, 38);
  record.writeUInt32LE(Math.min(offset, MOST_32), 42);
  if (!isFar) return Buffer.concat([record, name]);
  const offsetField = Buffer.alloc(12);
  offsetField.writeUInt16LE(1, 0);
  offsetField.writeUInt16LE(8, 2);
  offsetField.writeBigUInt64LE(BigInt(offset), 4);
  return Buffer.concat([record, name, offsetField]);
}

/** Returns Montevideo's time in the format of MS-DOS, to two seconds. */
function dosTime(at: Date): { time: number; date: number } {
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = montevideoTimestamp(at)
    .slice(0, 19)
    .split(/[-T:]/)
    .map(Number);
  return {
    time: (hour << 11) | (minute << 5) | (second >> 1),
    date: ((year - 1980) << 9) | (month << 5) | day,
  };
}
