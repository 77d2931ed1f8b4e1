import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from '@jest/globals';
import { XmlBufferInputProvider, XmlDocument, XsdValidator, xmlRegisterInputProvider } from 'libxml2-wasm';
import { XSD_DIR } from './world.ts';

/** `test`, or, on a person's machine that lacks what it needs, a skipped test that says so; in CI it runs and fails. */
export const testWith = (isThere: boolean, what: string): typeof test => {
  if (isThere || process.env['CI']) return test;
  process.stderr.write(`skipped without ${what}\n`);
  return test.skip as typeof test;
};

/** Whether the authority's published files are on this machine. */
export const hasOfficialFiles = XSD_DIR !== '' && existsSync(join(XSD_DIR, 'xsd'));
/** For tests that need them. */
export const testWithOfficialFiles = testWith(hasOfficialFiles, 'the official files (DGI_XSD_DIR)');
/** For tests that need the xmlsec1 program. */
export const testWithXmlsec = testWith(spawnSync('xmlsec1', ['--version']).status === 0, 'xmlsec1');

/** What xmlsec1 says of a document's signature by the certificate that it carries or that is given: 'OK' or its words. */
export function xmlsecVerify(xml: string, options: { certificatePem: string; bodyId?: boolean }): string {
  const folder = mkdtempSync(join(tmpdir(), 'xmlsec-'));
  try {
    const [document, certificate] = [join(folder, 'document.xml'), join(folder, 'certificate.pem')];
    writeFileSync(document, xml);
    writeFileSync(certificate, options.certificatePem);
    const id = options.bodyId ? ['--id-attr:Id', 'Body'] : [];
    const run = spawnSync(
      'xmlsec1',
      ['--verify', '--enabled-key-data', 'rsa', '--pubkey-cert-pem', certificate, ...id, document],
      { encoding: 'utf8' },
    );
    return run.status === 0 ? 'OK' : `${run.stdout}${run.stderr}`;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** What an official schema has against a document, '' for nothing. */
export function officialFault(schema: string, xml: string): string {
  const base = '/test-schemas/';
  const files: Record<string, Buffer> = {};
  for (const folder of ['xsd', 'xsd-libxml2'])
    for (const file of readdirSync(join(XSD_DIR, folder)))
      files[base + file] = readFileSync(join(XSD_DIR, folder, file));
  xmlRegisterInputProvider(new XmlBufferInputProvider(files));
  using source = XmlDocument.fromBuffer(files[base + schema] ?? Buffer.alloc(0), { url: base + schema });
  using validator = XsdValidator.fromDoc(source);
  using document = XmlDocument.fromString(xml);
  try {
    validator.validate(document);
    return '';
  } catch (error) {
    return (error as Error).message;
  }
}
