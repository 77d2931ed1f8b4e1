import { describe, expect, test } from '@jest/globals';
import { SignedXml } from 'xml-crypto';
import { rucOf } from '../../../src/crypto/x509.ts';
import { parseXml, textAt, UnreadableXml } from '../../../src/dgi/xml/parse.ts';
import { BadSignature, verifyEnveloped } from '../../../src/dgi/xml/verify.ts';
import { ackSobre, authorityKeys } from '../../support/dgi/answers.ts';
import { sample } from '../../support/dgi/samples.ts';
import { signCfe } from '../../support/simulator/signing.ts';
import { testWithOfficialFiles, testWithXmlsec, xmlsecVerify } from '../../support/simulator/tools.ts';

const LIMIT = { mostCharacters: 1_000_000, mostElements: 1_000 };
const verify = (text: string) => {
  const root = parseXml(text, LIMIT);
  return { root, certificate: verifyEnveloped(root) };
};
const DS = 'http://www.w3.org/2000/09/xmldsig#';

describe('verifyEnveloped on the official samples', () => {
  testWithOfficialFiles.each([
    ['CAE_219999830019_90120000194.xml', '219999830019'],
    ['CAE_219999830019_90120000208.xml', '219999830019'],
    ['CAE_219999830019_90120000216.xml', '219999830019'],
    ['CAE_219999830019_90120000224.xml', '219999830019'],
    ['Rep_219000090011_20120511_01_Ej_Mod_27032014.xml', '219000090011'],
    ['soap/doc2013_ACKSobre_AS.xml', '219999820013'],
    ['soap/doc2013_ACKRepDiario_AR.xml', '219999820013'],
    ['soap/doc2013_ACKCFE_AE.xml', '219999820013'],
  ])('%s verifies and is signed by RUC%s', (name, ruc) => {
    expect(rucOf(verify(sample(name)).certificate)).toBe(ruc);
  });

  testWithOfficialFiles('one digit changed, and it does not verify', () => {
    const changed = sample('CAE_219999830019_90120000194.xml').replace('>145778<', '>145779<');
    expect(() => verify(changed)).toThrow(BadSignature);
  });
});

describe('verifyEnveloped', () => {
  const signed = ackSobre();

  test.each(['sha1', 'sha256'] as const)('takes %s', (hash) => {
    expect(textAt(verify(ackSobre({ hash })).root, 'Detalle', 'Estado')).toBe('AS');
  });

  test('what it gives is what was signed, without the signature', () => {
    expect(textAt(verify(signed).root, 'Signature')).toBeUndefined();
    expect(verify(signed).certificate.raw).toEqual(authorityKeys().certificate.raw);
  });

  test('a comment inside a value is not part of it, and does not cut it', () => {
    const commented = signed.replace('<IDReceptor>4242<', '<IDReceptor>42<!-- -->42<');
    expect(textAt(verify(commented).root, 'Caratula', 'IDReceptor')).toBe('4242');
  });

  test.each([
    ['attributes in disorder', '<a z="1" b="2" é="3" xml:lang="es" a="&lt;&amp;&quot;&gt;&#9;&#10;&#13;"/>'],
    [
      'prefixes, declared again and anew',
      '<p:a xmlns:p="urn:1" p:z="1" a="2"><p:b xmlns:p="urn:1"/><p:b xmlns:p="urn:2"/></p:a>',
    ],
    ['a default namespace that ends', '<a xmlns="urn:1"><b xmlns=""><c xmlns="urn:1"/></b></a>'],
    ['attributes by their namespaces', '<a xmlns:y="urn:a" xmlns:x="urn:b" x:a="1" y:b="2" c="3"/>'],
    ['CDATA, comments and ends of lines', '<a>1<![CDATA[<&>]]>\r\n2\r<!-- no -->&#13;&gt;]]&gt;\t😀</a>'],
  ])('computes the form of a document with %s as others do', (_, content) => {
    const xml = `<ACKSobre xmlns="http://cfe.dgi.gub.uy" xmlns:xsi="urn:x">${content}</ACKSobre>`;
    expect(verify(signCfe(xml, authorityKeys())).certificate.raw).toEqual(authorityKeys().certificate.raw);
  });

  testWithXmlsec('a form that we take is one that xmlsec1 takes', () => {
    const xml = '<ACKSobre xmlns="http://cfe.dgi.gub.uy"><a xml:space="preserve" b="&#10;"> </a></ACKSobre>';
    const text = signCfe(xml, authorityKeys());
    const certificatePem = authorityKeys().certificate.toString();
    expect(() => verify(text)).not.toThrow();
    expect(xmlsecVerify(text, { certificatePem })).toBe('OK');
  });

  const foreign = signCfe('<ACKSobre xmlns="http://cfe.dgi.gub.uy"><a>1</a></ACKSobre>', authorityKeys(), {
    keyInfo: authorityKeys({ name: 'stranger' }).certificate,
  });
  const signature = /<Signature[\s\S]*<\/Signature>/.exec(signed)?.[0] ?? '';
  const signedInfo = /<SignedInfo[\s\S]*<\/SignedInfo>/.exec(signed)?.[0] ?? '';
  test.each([
    ['without a signature', signed.replace(signature, '')],
    ['with its signature twice', signed.replace(signature, signature + signature)],
    [
      'with the signature of another',
      signed.replace(signature, /<Signature[\s\S]*<\/Signature>/.exec(foreign)?.[0] ?? ''),
    ],
    ['with a certificate that is not the signer’s', foreign],
    ['with a changed value', signed.replace('>4242<', '>4243<')],
    ['with an element more', signed.replace('<Detalle>', '<Otro/><Detalle>')],
    ['with two SignedInfo', signed.replace(signedInfo, signedInfo + signedInfo)],
    [
      'wrapped in another document',
      `<ACKCFE xmlns="http://cfe.dgi.gub.uy">${signed.replace(/^<\?.*?\?>/, '')}${signature}</ACKCFE>`,
    ],
    [
      'with its signature inside the content',
      signed.replace(signature, '').replace('<Detalle>', `<Detalle>${signature}`),
    ],
    ['with a signature in the content besides', signed.replace('<Detalle>', `<Detalle>${signature}`)],
    ['with a reference to a part', signed.replace('URI=""', 'URI="#a"')],
    [
      'with another canonicalisation',
      signed.replace(
        'http://www.w3.org/TR/2001/REC-xml-c14n-20010315',
        'http://www.w3.org/2001/10/xml-exc-c14n#',
      ),
    ],
    [
      'with a hash that the authority does not use',
      signed.replace(`${DS}sha1`, 'http://www.w3.org/2001/04/xmlenc#sha512'),
    ],
    ['with an HMAC in place of a signature', signed.replace(`${DS}rsa-sha1`, `${DS}hmac-sha1`)],
    ['with what is no certificate', signed.replace(/<X509Certificate>[^<]+</, '<X509Certificate>AAAA<')],
    ['with a comment in the digest', signed.replace('<DigestValue>', '<DigestValue><!--x-->A')],
  ])('refuses a document %s', (_, text) => {
    expect(text).not.toBe(signed);
    expect(() => verify(text)).toThrow(BadSignature);
  });

  test('refuses two references, of which one would verify', () => {
    const signer = new SignedXml({
      privateKey: authorityKeys().privateKey,
      signatureAlgorithm: `${DS}rsa-sha1`,
      canonicalizationAlgorithm: 'http://www.w3.org/TR/2001/REC-xml-c14n-20010315',
      getKeyInfoContent: () =>
        `<X509Data><X509Certificate>${authorityKeys().certificate.raw.toString('base64')}</X509Certificate></X509Data>`,
    });
    for (const xpath of ['/*', '/*']) {
      signer.addReference({
        xpath,
        isEmptyUri: true,
        digestAlgorithm: `${DS}sha1`,
        transforms: [`${DS}enveloped-signature`, 'http://www.w3.org/TR/2001/REC-xml-c14n-20010315'],
      });
    }
    signer.computeSignature('<a><b/></a>');
    expect(() => verify(signer.getSignedXml())).toThrow(BadSignature);
  });

  test.each([
    ['a DOCTYPE', signed.replace('?>', '?><!DOCTYPE ACKSobre [<!ENTITY a "b">]>')],
    ['broken XML', signed.slice(0, -3)],
    ['no XML', 'ACK'],
  ])('does not read %s', (_, text) => {
    expect(() => verify(text)).toThrow(UnreadableXml);
  });
});
