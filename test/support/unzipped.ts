import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** What unzip makes of a file: each entry's name with its content, after it found all checksums right and no name twice. */
export function unzipped(content: Uint8Array): Map<string, string> {
  const folder = mkdtempSync(join(tmpdir(), 'unzip-'));
  try {
    const file = join(folder, 'file.zip');
    writeFileSync(file, content);
    const names = testedNames(file);
    if (new Set(names).size < names.length) throw new Error('a name is twice in the file');
    execFileSync('unzip', ['-qq', file, '-d', join(folder, 'out')]);
    return new Map(names.map((name) => [name, readFileSync(join(folder, 'out', name), 'utf8')]));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The names in a file on disk, once unzip found every entry whole and said nothing. */
export function testedNames(file: string): string[] {
  const said = execFileSync('unzip', ['-tqq', file]).toString();
  if (said !== '') throw new Error(said);
  const listed = execFileSync('unzip', ['-Z1', file], { maxBuffer: 100_000_000 }).toString();
  return listed.trimEnd().split('\n');
}
