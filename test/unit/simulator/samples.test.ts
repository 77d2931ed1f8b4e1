import { X509Certificate } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from '@jest/globals';
import { LAYOUTS } from '../../../local/simulator/judge/format/layout.ts';
import { faultsOfStructure } from '../../../local/simulator/judge/format/structure.ts';
import { openSobre } from '../../../local/simulator/judge/openSobre.ts';
import { faultsOfTotals } from '../../../local/simulator/judge/rules/totals.ts';
import { faultOfEnveloped } from '../../../local/simulator/security/enveloped.ts';
import {
  certificateFrom,
  decimalSerial,
  issuerName,
  rucOf,
} from '../../../local/simulator/security/identity.ts';
import { parseXml, withoutDeclaration } from '../../../local/simulator/xml/read.ts';
import { loadSchemas } from '../../../local/simulator/xml/schemas.ts';
import { testWithOfficialFiles } from '../../support/simulator/tools.ts';
import { XSD_DIR } from '../../support/simulator/world.ts';

const SAMPLES = join(XSD_DIR, 'samples');
const sample = (name: string, encoding: BufferEncoding = 'utf8'): string =>
  readFileSync(join(SAMPLES, name), encoding);

const faultWithOwnCertificate = (xml: string): string => {
  using document = parseXml(withoutDeclaration(xml));
  const embedded = /<(?:\w+:)?X509Certificate>([^<]+)</.exec(xml)?.[1] ?? '';
  const certificate = certificateFrom(embedded);
  return certificate ? faultOfEnveloped(document, certificate) : 'no certificate';
};

describe("the authority's published samples", () => {
  testWithOfficialFiles('the eight receipts of the sample sobre verify, and their totals add up', () => {
    using schemas = loadSchemas(XSD_DIR);
    const sobre = openSobre(sample('Sob_219999830019_Ej_Mod_19072016.xml', 'latin1'), schemas);
    const certificate = certificateFrom(sobre.certificateText);
    expect(sobre.schemaFault).toBe('');
    expect(sobre.cfes).toHaveLength(8);
    expect(certificate && rucOf(certificate)).toBe(sobre.rut);

    for (const cfe of sobre.cfes) {
      using document = parseXml(cfe.xml);
      expect(certificate && faultOfEnveloped(document, certificate)).toBe('');
      // Receipts of types beyond the nine, and fields of an older format, are not this rulebook's.
      if (cfe.receipt && cfe.body && faultsOfStructure(cfe.body, LAYOUTS[cfe.receipt.family]).length === 0)
        expect([...faultsOfTotals(cfe.receipt)]).toEqual([]);
    }
    const ours = sobre.cfes.filter(
      ({ body, receipt }) => body && receipt && faultsOfStructure(body, LAYOUTS[receipt.family]).length === 0,
    );
    expect(ours.length).toBeGreaterThan(0);
  });

  testWithOfficialFiles(
    'numbering authorizations and answers verify with the certificate that they carry',
    () => {
      const caes = readdirSync(SAMPLES).filter((name) => name.startsWith('CAE_'));
      expect(caes).toHaveLength(4);
      for (const name of [...caes, 'soap/doc2013_ACKSobre_AS.xml', 'soap/doc2013_ACKCFE_AE.xml'])
        expect([name, faultWithOwnCertificate(sample(name))]).toEqual([name, '']);
    },
  );

  testWithOfficialFiles('a sample with one letter changed does not verify', () => {
    expect(
      faultWithOwnCertificate(sample('CAE_219999830019_90120000194.xml').replace('145778', '145779')),
    ).toBe('el resumen no corresponde al contenido');
  });

  testWithOfficialFiles(
    "certificates tell their RUC, serial and issuer as the samples' signatures write them",
    () => {
      const certificate = new X509Certificate(readFileSync(join(XSD_DIR, 'certs', 'RUC219999830019.pem')));
      expect(rucOf(certificate)).toBe('219999830019');
      expect(decimalSerial(certificate)).toMatch(/^\d{30,50}$/);
      expect(issuerName(certificate)).toMatch(/^CN=Correo Uruguayo - CA, .*C=UY$|^C=UY, /);
    },
  );
});
