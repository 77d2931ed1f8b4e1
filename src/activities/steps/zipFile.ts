/**
 * Zip files written piece by piece (PKWARE's APPNOTE.TXT 6.3, with zip64 where it is needed). The entries of each piece come with
 * their records of the directory, which stands at the end of the file: what has to be kept of a file that is half written is its
 * pieces and three sums, so that whoever comes next goes on with it.
 */
import { promisify } from 'node:util';
import { crc32, deflateRaw } from 'node:zlib';
import { montevideoTimestamp } from '../../domain/montevideo.ts';

/** One file in the archive; `at`: when it was last changed, as readers show it. */
export interface ZipEntry {
  readonly name: string;
  readonly content: Uint8Array;
  readonly at: Date;
}

/** What a file has so far. */
export interface ZipSums {
  readonly entries: number;
  /** Bytes of all entries, and of their records in the directory. */
  readonly contentBytes: number;
  readonly directoryBytes: number;
}

/** Some entries, and their records in the directory. */
export interface ZipPiece {
  readonly entries: number;
  readonly content: Buffer;
  readonly directory: Buffer;
}

const deflate = promisify(deflateRaw);
/** As many are compressed at a time; each holds a quarter of a megabyte meanwhile. */
const LANES = 4;

const LOCAL = 0x04034b50;
const RECORD = 0x02014b50;
const END = 0x06054b50;
const END_64 = 0x06064b50;
const LOCATOR_64 = 0x07064b50;
const VERSION = 20;
const VERSION_64 = 45;
/** Made on Unix, so that the mode of the file counts: a plain one that its owner may change and all may read. */
const UNIX = 3 << 8;
const MODE = 0o100644 * 0x10000;
const NAMES_ARE_UTF8 = 0x0800;
const DEFLATED = 8;
const MOST_16 = 0xffff;
const MOST_32 = 0xffffffff;

/** The next entries of a file that has so much already. */
export async function writeZipPiece(
  given: readonly ZipEntry[],
  { contentBytes }: Pick<ZipSums, 'contentBytes'>,
): Promise<ZipPiece> {
  const content: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = contentBytes;
  for (let from = 0; from < given.length; from += LANES) {
    const some = given.slice(from, from + LANES);
    const packed = await Promise.all(some.map((entry) => deflate(entry.content)));
    for (const [i, entry] of some.entries()) {
      const data = packed[i] ?? Buffer.alloc(0);
      const name = Buffer.from(entry.name, 'utf8');
      const about = aboutOf(entry, name, data);
      content.push(localHeader(about), name, data);
      directory.push(recordOf(about, name, offset));
      offset += LOCAL_LENGTH + name.length + data.length;
    }
  }
  return { entries: given.length, content: Buffer.concat(content), directory: Buffer.concat(directory) };
}

/** What stands behind the directory of a whole file. */
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
  // Of what follows this field.
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
  // One disk in all.
  locator.writeUInt32LE(1, 16);
  return Buffer.concat([large, locator, end]);
}

const LOCAL_LENGTH = 30;
const RECORD_LENGTH = 46;
const ABOUT_LENGTH = 24;

/** The 24 bytes that header and record have in common, from the flags to the length of the name; no entry has 4 GiB. */
function aboutOf({ content, at }: ZipEntry, name: Buffer, data: Buffer): Buffer {
  const about = Buffer.alloc(ABOUT_LENGTH);
  const { time, date } = dosTime(at);
  about.writeUInt16LE(VERSION, 0);
  about.writeUInt16LE(NAMES_ARE_UTF8, 2);
  about.writeUInt16LE(DEFLATED, 4);
  about.writeUInt16LE(time, 6);
  about.writeUInt16LE(date, 8);
  about.writeUInt32LE(crc32(content), 10);
  about.writeUInt32LE(data.length, 14);
  about.writeUInt32LE(content.byteLength, 18);
  about.writeUInt16LE(name.length, 22);
  return about;
}

function localHeader(about: Buffer): Buffer {
  const header = Buffer.alloc(LOCAL_LENGTH);
  header.writeUInt32LE(LOCAL, 0);
  about.copy(header, 4);
  return header;
}

/** The record of an entry that begins at `offset`; beyond 4 GiB that stands in a field of its own. */
function recordOf(about: Buffer, name: Buffer, offset: number): Buffer {
  const isFar = offset >= MOST_32;
  const record = Buffer.alloc(RECORD_LENGTH);
  record.writeUInt32LE(RECORD, 0);
  record.writeUInt16LE(UNIX | VERSION_64, 4);
  about.copy(record, 6);
  if (isFar) record.writeUInt16LE(VERSION_64, 6);
  record.writeUInt16LE(isFar ? 12 : 0, 30);
  record.writeUInt32LE(MODE, 38);
  record.writeUInt32LE(Math.min(offset, MOST_32), 42);
  if (!isFar) return Buffer.concat([record, name]);
  const far = Buffer.alloc(12);
  far.writeUInt16LE(1, 0);
  far.writeUInt16LE(8, 2);
  far.writeBigUInt64LE(BigInt(offset), 4);
  return Buffer.concat([record, name, far]);
}

/** Montevideo's time, to two seconds, as MS-DOS wrote it. */
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
