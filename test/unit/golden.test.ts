import { createPrivateKey, X509Certificate } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { SignedXml } from 'xml-crypto';
import { createSigner } from '../../src/dgi/sign.ts';
import { writeCfe } from '../../src/dgi/xml/cfe.ts';
import { CFE_TYPE_NAMES } from '../../src/domain/receipts/cfeTypes.ts';
import { goldenReceipts, issuing } from '../support/receipts/goldenReceipts.ts';
import { aPileOf, testWithOfficialTools } from '../support/receipts/officialTools.ts';
import { aCertificate } from '../support/receipts/papers.ts';
import { asWritten, readable } from '../support/receipts/readableXml.ts';

/** `UPDATE_GOLDEN=1` writes the XML anew; its difference is then read as one reads code. Never in CI. */
const UPDATE = process.env['UPDATE_GOLDEN'] === '1' && !process.env['CI'];
const FEWEST_PER_TYPE = 5;

const all = goldenReceipts();
const documentOf = issuing(all);

test.each(CFE_TYPE_NAMES)('%s is shown by several golden receipts', (type) => {
  expect(all.filter((golden) => golden.type === type).length).toBeGreaterThanOrEqual(FEWEST_PER_TYPE);
});

describe('the XML of the golden receipt', () => {
  test.each(all.map((golden) => [golden.name, golden] as const))(
    '%s is, to the byte, what was reviewed',
    (_, golden) => {
      const written = writeCfe(documentOf(golden));
      if (UPDATE) writeFileSync(golden.xmlFile, readable(written));

      const reviewed = existsSync(golden.xmlFile) ? readFileSync(golden.xmlFile, 'utf8') : '';
      expect(readable(written)).toBe(reviewed);
      expect(asWritten(reviewed)).toBe(written);
    },
  );
});

describe('golden receipts, signed,', () => {
  const { certificatePem, privateKeyPem } = aCertificate({ rut: '219999830019' });
  const certificate = new X509Certificate(certificatePem);
  const signed = (hash: 'sha1' | 'sha256') => {
    const signer = createSigner({
      privateKey: createPrivateKey(privateKeyPem),
      certificateDer: certificate.raw,
      hash,
    });
    return all.map((golden) => [golden.name, signer.sign(writeCfe(documentOf(golden))).xml] as const);
  };

  testWithOfficialTools('are valid by the official schemas, and xmlsec1 verifies them', () => {
    using pile = aPileOf(signed('sha256'));

    expect(pile.schemaFaults()).toBe('');
    expect(pile.signatureFaults(certificatePem)).toBe('');
  });

  testWithOfficialTools('are so with the older hash too', () => {
    using pile = aPileOf(signed('sha1'));

    expect(pile.schemaFaults()).toBe('');
    expect(pile.signatureFaults(certificatePem)).toBe('');
  });

  test('are verified by xml-crypto, whose canonical form of them is what we wrote', () => {
    for (const [index, [name, xml]] of signed('sha256').entries()) {
      const verifier = new SignedXml({ publicCert: certificatePem, getCertFromKeyInfo: () => null });
      verifier.loadSignature(/<Signature .*<\/Signature>/s.exec(xml)?.[0] ?? '');

      expect([name, verifier.checkSignature(xml)]).toEqual([name, true]);
      const golden = all[index];
      expect(verifier.getSignedReferences()).toEqual(golden ? [writeCfe(documentOf(golden))] : []);
    }
  });

  testWithOfficialTools('are refused by the tools once a letter is changed', () => {
    const [first] = signed('sha256');
    const spoilt = (from: string, to: string) => [['spoilt', first?.[1].replace(from, to) ?? '']] as const;
    using forged = aPileOf(spoilt('Café', 'Cafe'));
    using malformed = aPileOf(spoilt('<TipoCFE>101', '<TipoCFE>100'));

    expect(forged.schemaFaults()).toBe('');
    expect(forged.signatureFaults(certificatePem)).toContain('spoilt.xml');
    expect(malformed.schemaFaults()).toContain('TipoCFE');
  });
});
