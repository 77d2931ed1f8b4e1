import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { SignedXml } from 'xml-crypto';
import { createSigner } from '../../../src/dgi/sign.ts';
import { writeReport } from '../../../src/dgi/xml/report.ts';
import { createDaySums, type ReportSummary } from '../../../src/domain/reports/summary.ts';
import { aPileOf, testWithOfficialTools } from '../../support/receipts/officialTools.ts';
import { aCertificate } from '../../support/receipts/papers.ts';
import { readReport } from '../../support/reports/plainReport.ts';
import { aReceipt, issuedOf } from '../../support/reports/receipts.ts';
import { testWithOfficialFiles } from '../../support/simulator/tools.ts';
import { XSD_DIR } from '../../support/simulator/world.ts';

const UI = [{ year: 2026, value: '6.4208', estimate: true }];
const HEADING = {
  rut: '219999830019',
  date: '2026-03-10',
  idEmisor: 4101n,
  sequence: 1,
  signedAt: '2026-03-11T06:15:00-03:00',
};
const USD = { currency: 'USD', exchangeRate: '38.600' };
const basic = (basicNet: string, basicVat: string) => ({ basicNet, basicVat });

/** The day of the example report: a hole, a rejection, a type with only an annulled number, dollars at 38.512. */
function exampleDay(): ReportSummary {
  const sums = createDaySums(UI);
  const receipts = [
    aReceipt('ETICKET', 1001, basic('100.00', '22.00'), { emissionDate: '2026-03-09' }),
    aReceipt('ETICKET', 1002, { exempt: '50.00', ...basic('400.00', '88.00') }),
    aReceipt('ETICKET', 1003, { minimumNet: '300.00', minimumVat: '30.00' }),
    aReceipt('ETICKET', 1005, basic('600.00', '132.00')),
    aReceipt('ETICKET_NC', 201, basic('81.97', '18.03')),
    aReceipt('EFACTURA', 500, basic('1000.00', '220.00')),
    aReceipt('EFACTURA', 501, basic('2000.00', '440.00')),
    aReceipt('EFACTURA', 502, { ...USD, exchangeRate: '40.000', ...basic('1000.00', '220.00') }),
    aReceipt('EFACTURA', 505, basic('3000.00', '660.00')),
    aReceipt('EFACTURA_NC', 60, { ...USD, ...basic('100.00', '22.00') }),
    aReceipt('EFACTURA_ND', 12, basic('10.00', '2.20')),
    aReceipt('EFACTURA_EXPORT', 30, { ...USD, exported: '1500.00' }),
    aReceipt('EFACTURA_EXPORT_NC', 5, { ...USD, exported: '100.00' }),
    aReceipt('EFACTURA_EXPORT_ND', 2, { ...USD, exported: '10.00' }),
  ];
  for (const receipt of receipts) sums.addIssued(issuedOf(receipt));
  sums.addAnnulled({ type: 'ETICKET', serie: 'A', from: 1004, to: 1004 });
  sums.addAnnulled({ type: 'ETICKET_ND', serie: 'A', from: 77, to: 77 });
  return sums.close({ signedOn: '2026-03-11', rateOf: () => '38.512' });
}

const EMPTY = createDaySums(UI).close({ signedOn: '2026-03-11', rateOf: () => null });

describe('a report', () => {
  test('of a day without receipts is a heading', () => {
    expect(writeReport({ ...HEADING, date: '2026-03-08', idEmisor: 4100 }, EMPTY)).toBe(
      '<Reporte xmlns="http://cfe.dgi.gub.uy"><Caratula version="1.0"><RUCEmisor>219999830019</RUCEmisor>' +
        '<FechaResumen>2026-03-08</FechaResumen><IDEmisor>4100</IDEmisor><SecEnvio>1</SecEnvio>' +
        '<TmstFirmaEnv>2026-03-11T06:15:00-03:00</TmstFirmaEnv><CantComprobantes>0</CantComprobantes></Caratula></Reporte>',
    );
  });

  test('sums nine types', () => {
    const types = readReport(writeReport(HEADING, exampleDay()));
    const totals = types.map(({ code, counts, rows }) => [
      code,
      counts['CantDocsUtil'],
      counts['CantDocsAnulados'],
      rows.map(({ TotMntTotal }) => TotMntTotal),
    ]);
    expect(totals).toEqual([
      ['101', '5', '1', ['122.00', '1600.00']],
      ['102', '1', '0', ['100.00']],
      ['103', '1', '1', []],
      ['111', '4', '0', ['54304.64']],
      ['112', '1', '0', ['4709.20']],
      ['113', '1', '0', ['12.20']],
      ['121', '1', '0', ['57768.00']],
      ['122', '1', '0', ['3860.00']],
      ['123', '1', '0', ['386.00']],
    ]);
  });

  testWithOfficialFiles(
    'writes the summary of a type as the official sample does, element by element',
    () => {
      const sample = readFileSync(
        join(XSD_DIR, 'samples/Rep_219000090011_20120511_01_Ej_Mod_27032014.xml'),
        'utf8',
      ).replaceAll('ns1:', '');
      const namesIn = (xml: string, type: string) =>
        [...(new RegExp(`<${type}>.*?</${type}>`, 's').exec(xml)?.[0] ?? '').matchAll(/<(\w+)>/g)].map(
          ([, name]) => name,
        );
      const sums = createDaySums(UI);
      const theirs = [
        'Rsmn_Tck',
        'Rsmn_Tck_Nota_Credito',
        'Rsmn_Tck_Nota_Debito',
        'Rsmn_Fac',
        'Rsmn_Fac_Nota_Credito',
        'Rsmn_Fac_Nota_Debito',
      ];
      const types = [
        'ETICKET',
        'ETICKET_NC',
        'ETICKET_ND',
        'EFACTURA',
        'EFACTURA_NC',
        'EFACTURA_ND',
      ] as const;
      for (const type of types) sums.addIssued(issuedOf(aReceipt(type, 1, basic('1.00', '0.22'))));
      const ours = writeReport(HEADING, sums.close({ signedOn: '2026-03-11', rateOf: () => null }));
      for (const type of theirs) {
        expect(namesIn(sample, type).length).toBeGreaterThan(20);
        expect([type, ...namesIn(ours, type)]).toEqual([type, ...namesIn(sample, type)]);
      }
      const order = (xml: string) => [...xml.matchAll(/<(Rsmn_\w+|Caratula)[ >]/g)].map(([, name]) => name);
      expect(order(ours)).toEqual(
        order(sample).filter((name = '') => name === 'Caratula' || theirs.includes(name)),
      );
    },
  );
});

describe('a signed report', () => {
  const { certificatePem, privateKeyPem } = aCertificate({ rut: '219999830019' });
  const signer = createSigner({
    privateKey: createPrivateKey(privateKeyPem),
    certificateDer: new X509Certificate(certificatePem).raw,
    hash: 'sha256',
  });
  const signed = [
    ['nine-types', signer.sign(writeReport(HEADING, exampleDay())).xml],
    ['empty', signer.sign(writeReport(HEADING, EMPTY)).xml],
  ] as const;

  testWithOfficialTools('is valid by the official schema, and xmlsec1 verifies it', () => {
    using pile = aPileOf(signed);
    expect(pile.schemaFaults('ReporteDiarioCFE.xsd')).toBe('');
    expect(pile.signatureFaults(certificatePem)).toBe('');
  });

  testWithOfficialTools('is refused by the tools once a figure is changed', () => {
    const spoilt = (from: string, to: string) => [['spoilt', signed[0][1].replace(from, to)]] as const;
    using forged = aPileOf(spoilt('54304.64', '54304.65'));
    using malformed = aPileOf(spoilt('<TipoComp>101', '<TipoComp>102'));
    expect(forged.schemaFaults('ReporteDiarioCFE.xsd')).toBe('');
    expect(forged.signatureFaults(certificatePem)).toContain('spoilt.xml');
    expect(malformed.schemaFaults('ReporteDiarioCFE.xsd')).toContain('TipoComp');
  });

  test('is verified by xml-crypto, whose canonical form of it is what we wrote', () => {
    const [, xml] = signed[0];
    const verifier = new SignedXml({ publicCert: certificatePem, getCertFromKeyInfo: () => null });
    verifier.loadSignature(/<Signature .*<\/Signature>/s.exec(xml)?.[0] ?? '');
    expect(verifier.checkSignature(xml)).toBe(true);
    expect(verifier.getSignedReferences()).toEqual([writeReport(HEADING, exampleDay())]);
  });

  test('is the only thing but a CFE that is signed', () => {
    expect(() => signer.sign('<Reporte></Reporte><x></x>')).toThrow(RangeError);
  });
});
