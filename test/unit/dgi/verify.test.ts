import { X509Certificate } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import forge from 'node-forge';
import { SignedXml } from 'xml-crypto';
import { rucOf } from '../../../src/crypto/x509.ts';
import { parseXml, textAt, UnreadableXml } from '../../../src/dgi/xml/parse.ts';
import { BadSignature, verifyEnveloped } from '../../../src/dgi/xml/verify.ts';
import { ackSobre, authorityKeys } from '../../support/dgi/answers.ts';
import { sample } from '../../support/dgi/samples.ts';
import { hugeNumber } from '../../support/enterprises/hostileP12.ts';
import { rsaKey } from '../../support/receipts/papers.ts';
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

  const FORMS = [
    ['attributes in disorder', '<a z="1" b="2" é="3" xml:lang="es" a="&lt;&amp;&quot;&gt;&#9;&#10;&#13;"/>'],
    [
      'prefixes, declared again and anew',
      '<p:a xmlns:p="urn:1" p:z="1" a="2"><p:b xmlns:p="urn:1"/><p:b xmlns:p="urn:2"/></p:a>',
    ],
    ['a default namespace that ends', '<a xmlns="urn:1"><b xmlns=""><c xmlns="urn:1"/></b></a>'],
    ['attributes by their namespaces', '<a xmlns:y="urn:a" xmlns:x="urn:b" x:a="1" y:b="2" c="3"/>'],
    [
      'CDATA, comments and ends of lines',
      '<a>1<![CDATA[<&>]]><![CDATA[]]>\r\n2\r<!-- no -->&#13;&gt;]]&gt;\t😀</a>',
    ],
    ['blanks alone', '<a xml:space="preserve" b="&#10;"> </a>'],
  ] as const;
  const ofForm = (content: string): string =>
    signCfe(
      `<ACKSobre xmlns="http://cfe.dgi.gub.uy" xmlns:xsi="urn:x">${content}</ACKSobre>`,
      authorityKeys(),
    );

  test.each(FORMS)('takes a document with %s', (_, content) => {
    expect(verify(ofForm(content)).certificate.raw).toEqual(authorityKeys().certificate.raw);
  });

  // The other two are one library.
  testWithXmlsec.each(FORMS)('xmlsec1 has the same form of one with %s', (_, content) => {
    const certificatePem = authorityKeys().certificate.toString();
    expect(xmlsecVerify(ofForm(content), { certificatePem })).toBe('OK');
  });

  testWithXmlsec.each([
    ['', ''],
    ['xmlns="http://cfe.dgi.gub.uy" xmlns:b="urn:b" xmlns:a="urn:a"', ''],
    ['xmlns="http://cfe.dgi.gub.uy" xmlns:ds="urn:other"', 'p:'],
  ])('takes a signature with a prefix below a root with %j, as xmlsec1 does', (namespaces, prefix) => {
    const { certificate, privateKey } = authorityKeys();
    const signer = new SignedXml({
      privateKey,
      signatureAlgorithm: 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256',
      canonicalizationAlgorithm: 'http://www.w3.org/TR/2001/REC-xml-c14n-20010315',
      getKeyInfoContent: () =>
        `<ds:X509Data><ds:X509Certificate>${certificate.raw.toString('base64')}</ds:X509Certificate></ds:X509Data>`,
    });
    signer.addReference({
      xpath: '/*',
      isEmptyUri: true,
      digestAlgorithm: 'http://www.w3.org/2001/04/xmlenc#sha256',
      transforms: [`${DS}enveloped-signature`],
    });
    signer.computeSignature(
      `<${prefix}A ${namespaces}${prefix && ' xmlns:p="urn:p"'}><b>1</b></${prefix}A>`,
      {
        prefix: 'ds',
      },
    );
    const text = signer.getSignedXml();

    expect(textAt(verify(text).root, 'b')).toBe('1');
    expect(xmlsecVerify(text, { certificatePem: certificate.toString() })).toBe('OK');
  });

  const foreign = signCfe('<ACKSobre xmlns="http://cfe.dgi.gub.uy"><a>1</a></ACKSobre>', authorityKeys(), {
    keyInfo: authorityKeys({ name: 'stranger' }).certificate,
  });
  const signature = /<Signature[\s\S]*<\/Signature>/.exec(signed)?.[0] ?? '';
  const declaring = signCfe(
    '<ACKSobre xmlns="http://cfe.dgi.gub.uy"><A xmlns:q="z">1</A><A xmlns:q="z">2</A></ACKSobre>',
    authorityKeys(),
  );
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
    ['with an instruction in the place of its value', signed.replace('>4242<', '><?x 4242?><')],
    [
      'with an element hidden in a namespace',
      declaring.replace('<A xmlns:q="z">1</A><A xmlns:q="z">', `<A xmlns:q='z">1&lt;/A>&lt;A xmlns:q="z'>`),
    ],
    ['with an attribute that no canonical form shows', declaring.replace('<A ', '<A xmlnsEvil="x" ')],
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

  test.each([
    ['a modulus of 8,200 bits', 1_025, 3],
    ['an exponent of 100 bits', 256, 13],
  ])('reads no certificate with an RSA key of %s', (_, modulusBytes, exponentBytes) => {
    const certificate = forge.pki.certificateFromPem(authorityKeys().certificate.toString());
    certificate.publicKey = forge.pki.setRsaPublicKey(hugeNumber(modulusBytes), hugeNumber(exponentBytes));
    certificate.sign(forge.pki.privateKeyFromPem(rsaKey('company')), forge.md.sha256.create());
    const keyInfo = new X509Certificate(forge.pki.certificateToPem(certificate));

    const text = signCfe('<ACKSobre xmlns="http://cfe.dgi.gub.uy"/>', authorityKeys(), { keyInfo });

    expect(() => verify(text)).toThrow('no RSA certificate in KeyInfo');
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
    [
      'an element that declares many namespaces',
      signed.replace(
        '<Detalle',
        `<Detalle ${Array.from({ length: 33 }, (_, i) => `xmlns:n${i}="n"`).join(' ')}`,
      ),
    ],
  ])('does not read %s', (_, text) => {
    expect(() => verify(text)).toThrow(UnreadableXml);
  });
});
