import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hasOfficialFiles, testWith } from '../simulator/tools.ts';
import { XSD_DIR } from '../simulator/world.ts';

const answers = (program: string): boolean => spawnSync(program, ['--version']).status === 0;
const hasAll = hasOfficialFiles && answers('xmllint') && answers('xmlsec1');

/** For tests that ask the tools of others about signed receipts; in CI they run, and fail, without them. */
export const testWithOfficialTools = testWith(
  hasAll,
  'the official files (DGI_XSD_DIR), xmllint and xmlsec1',
);

/** Signed documents as files of a folder of their own, for tools that judge many files in one run. */
export interface Pile extends Disposable {
  /** What xmllint has against them by the authority's schema, that of receipts unless told; '' when all are valid. */
  schemaFaults(schema?: string): string;
  /** What xmlsec1 has against their signatures by that certificate (PEM); '' when each verifies. */
  signatureFaults(certificatePem: string): string;
}

/** Lays documents out as files, named as given. */
export function aPileOf(receipts: Iterable<readonly [name: string, signedXml: string]>): Pile {
  const folder = mkdtempSync(join(tmpdir(), 'receipts-'));
  const files: string[] = [];
  for (const [name, xml] of receipts) {
    const file = `${name.replaceAll('/', '_')}.xml`;
    writeFileSync(join(folder, file), xml);
    files.push(file);
  }

  return {
    schemaFaults(schema = 'CFEDGI.xsd') {
      layOutSchemas(join(folder, 'xsd'));
      const run = ask(folder, 'xmllint', ['--nonet', '--noout', '--schema', `xsd/${schema}`, ...files]);
      const valid = run.said.split('\n').filter((line) => line.endsWith(' validates')).length;
      return run.status === 0 && valid === files.length
        ? ''
        : `${valid} of ${files.length}: ${faultsIn(run)}`;
    },
    signatureFaults(certificatePem) {
      writeFileSync(join(folder, 'certificate.pem'), certificatePem);
      const keys = ['--enabled-key-data', 'rsa', '--pubkey-cert-pem', 'certificate.pem'];
      // It stops at the first that does not verify, and names it.
      const run = ask(folder, 'xmlsec1', ['--verify', ...keys, ...files]);
      const verified = run.said.split('\n').filter((line) => line === 'OK').length;
      return run.status === 0 && verified === files.length
        ? ''
        : `${verified} of ${files.length}: ${faultsIn(run)}`;
    },
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/**
 * The official schemas, with the mended copy of the one that libxml2 cannot use as published
 * (docs/authority/README.md#libxml2).
 */
function layOutSchemas(folder: string): void {
  mkdirSync(folder);
  for (const source of ['xsd', 'xsd-libxml2'].map((name) => join(XSD_DIR, name))) {
    // Written, not copied: the official files may be read-only.
    for (const file of readdirSync(source))
      writeFileSync(join(folder, file), readFileSync(join(source, file)));
  }
}

interface Run {
  readonly status: number | null;
  readonly said: string;
}

function ask(cwd: string, program: string, given: readonly string[]): Run {
  const { status, stdout, stderr, error } = spawnSync(program, given, {
    cwd,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  return { status, said: error ? error.message : `${stdout}${stderr}` };
}

const MOST_LINES = 20;
const faultsIn = ({ said }: Run): string =>
  said
    .split('\n')
    .filter((line) => !/ validates$|^OK$|\(ok\/all\)/.test(line))
    .slice(0, MOST_LINES)
    .join('\n');
