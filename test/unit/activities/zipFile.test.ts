import { execFileSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect } from '@jest/globals';
import {
  writeZipEnd,
  writeZipPiece,
  type ZipEntry,
  type ZipPiece,
} from '../../../src/activities/receipts/zipFile.ts';
import { testWithUnzip } from '../../support/unzip.ts';
import { testedNames, unzipped } from '../../support/unzipped.ts';

const AT = new Date('2026-11-20T12:34:57Z');
const entry = (name: string, text: string): ZipEntry => ({ name, content: Buffer.from(text), at: AT });

/** The bytes of a file of these pieces, in the order in which they stand in it. */
const fileOf = (pieces: readonly ZipPiece[]): Buffer =>
  Buffer.concat([
    ...pieces.map(({ content }) => content),
    ...pieces.map(({ directory }) => directory),
    writeZipEnd({
      entries: pieces.reduce((sum, { entries }) => sum + entries, 0),
      contentBytes: length(pieces, 'content'),
      directoryBytes: length(pieces, 'directory'),
    }),
  ]);
const length = (pieces: readonly ZipPiece[], part: 'content' | 'directory'): number =>
  pieces.reduce((sum, piece) => sum + piece[part].length, 0);

describe('a zip file in pieces', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'zip-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  testWithUnzip('is opened by a program of others, entry by entry', async () => {
    const large = 'Ñandú & Cía. '.repeat(100_000);
    const one = await writeZipPiece([entry('a/ñ.xml', '<ñ/>'), entry('empty', '')], { contentBytes: 0 });
    const none = await writeZipPiece([], { contentBytes: one.content.length });
    const two = await writeZipPiece([entry('large.txt', large)], { contentBytes: one.content.length });
    const file = fileOf([one, none, two]);
    expect(unzipped(file)).toEqual(
      new Map([
        ['a/ñ.xml', '<ñ/>'],
        ['empty', ''],
        ['large.txt', large],
      ]),
    );
    expect(file.length).toBeLessThan(20_000);
    const path = join(folder, 'dated.zip');
    writeFileSync(path, file);
    // Montevideo's time, to two seconds; a plain file that all may read.
    const line = execFileSync('unzip', ['-ZT', path, 'large.txt']).toString();
    expect(line).toMatch(/^-rw-r--r-- .* 20261120\.093456 large\.txt/);
  });

  testWithUnzip('has more entries than the old form counts', async () => {
    const names = Array.from({ length: 65_600 }, (_, i) => `${i}`);
    const piece = await writeZipPiece(
      names.map((name) => entry(name, name)),
      { contentBytes: 0 },
    );
    const path = join(folder, 'many.zip');
    writeFileSync(path, fileOf([piece]));
    expect(testedNames(path)).toEqual(names);
  });

  testWithUnzip('has entries beyond 4 GiB', async () => {
    const far = 2 ** 32 + 12_345;
    const first = await writeZipPiece([entry('near', 'at the beginning')], { contentBytes: 0 });
    const beyond = await writeZipPiece([entry('far', 'beyond')], { contentBytes: far });
    const path = join(folder, 'large.zip');
    // What lies between is a hole, which no entry points to.
    const file = openSync(path, 'w');
    writeSync(file, first.content, 0, first.content.length, 0);
    const ended = Buffer.concat([
      beyond.content,
      first.directory,
      beyond.directory,
      writeZipEnd({
        entries: 2,
        contentBytes: far + beyond.content.length,
        directoryBytes: first.directory.length + beyond.directory.length,
      }),
    ]);
    writeSync(file, ended, 0, ended.length, far);
    closeSync(file);
    expect(testedNames(path)).toEqual(['near', 'far']);
    const out = join(folder, 'out');
    execFileSync('unzip', ['-qq', path, 'far', '-d', out]);
    expect(readFileSync(join(out, 'far'), 'utf8')).toBe('beyond');
  });
});
