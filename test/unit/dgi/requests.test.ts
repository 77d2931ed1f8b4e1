import { X509Certificate } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { SignedXml } from 'xml-crypto';
import { OPERATIONS, wrapInXmlData, writeCall, writeVerdictQuery } from '../../../src/dgi/soap.ts';
import { signEnvelope } from '../../../src/dgi/wsSecurity.ts';
import { elementAt, findNamed, parseXml, textAt } from '../../../src/dgi/xml/parse.ts';
import { credentialsOf } from '../../support/dgi/answers.ts';
import { sample } from '../../support/dgi/samples.ts';
import { testWithOfficialFiles, testWithXmlsec, xmlsecVerify } from '../../support/simulator/tools.ts';

const credentials = credentialsOf();
const certificatePem = new X509Certificate(credentials.certificateDer).toString();
const root = (text: string) => parseXml(text, { mostCharacters: 1_000_000 });
const SOBRE =
  '<?xml version="1.0" encoding="UTF-8"?><EnvioCFE xmlns="http://cfe.dgi.gub.uy"><A>ñ &amp; &lt; ]]&gt; ú\n</A></EnvioCFE>';

describe('wrapInXmlData', () => {
  test.each([
    ['a sobre', SOBRE],
    ['a text with the end mark of CDATA', '<a><![CDATA[x]]></a>'],
    ['two end marks', ']]>]]>'],
  ])('%s comes back as it was', (_, text) => {
    expect(root(wrapInXmlData(text)).textContent).toBe(text);
  });
});

test('the token of a question stands verbatim, its signs of markup escaped', () => {
  const question = root(root(writeVerdictQuery({ idReceptor: '42', token: 'a+/=<&' })).textContent ?? '');
  expect(question.namespaceURI).toBe('http://dgi.gub.uy');
  expect(textAt(question, 'Token')).toBe('a+/=<&');
  expect(textAt(question, 'IdReceptor')).toBe('42');
});

test('the actions are the services’ own, with the missing slash and the letter A', () => {
  expect(Object.values(OPERATIONS).map(({ soapAction }) => soapAction)).toEqual([
    'http://dgi.gub.uyaction/AWS_EFACTURA.EFACRECEPCIONSOBRE',
    'http://dgi.gub.uyaction/AWS_EFACTURA.EFACCONSULTARESTADOENVIO',
    'http://dgi.gub.uyaction/AWS_EFACTURA_CONSULTAS.EFACCONSULTARENVIOSSOBRE',
    'http://dgi.gub.uyaction/AWS_EFACTURA_CONSULTAS.EFACCONSULTARESTADOCFE',
    'http://dgi.gub.uyaction/AWS_EFACTURA.EFACRECEPCIONREPORTE',
    'http://dgi.gub.uyaction/AWS_EFACTURA_CONSULTAS.EFACCONSULTARENVIOSREPORTE',
    'http://dgi.gub.uyaction/AWS_EFACTURA_CONSULTAS.EFACCONSULTARRESPUESTAREPORTE',
    'http://dgi.gub.uyaction/AWS_EFACTURA_CONSULTAS.EFACCONSULTARRUCEMISORESTRANSICIONCOMPRIMIDOPROV',
    'DGI_Modernizacion_Consolidadoaction/AWS_PERSONAGETACTEMPRESARIAL.Execute',
  ]);
});

describe('signEnvelope', () => {
  const signed = (hash: 'sha1' | 'sha256') =>
    signEnvelope(writeCall('sendSobre', wrapInXmlData(SOBRE)), { credentials, hash });

  testWithXmlsec.each(['sha1', 'sha256'] as const)('xmlsec1 verifies the Body, %s', (hash) => {
    expect(xmlsecVerify(signed(hash), { certificatePem, bodyId: true })).toBe('OK');
  });

  test.each(['sha1', 'sha256'] as const)('xml-crypto verifies the Body, %s', (hash) => {
    const verifier = new SignedXml({ publicCert: certificatePem, idMode: 'wssecurity' });
    const envelope = signed(hash);
    verifier.loadSignature(/<ds:Signature [\s\S]*<\/ds:Signature>/.exec(envelope)?.[0] ?? '');
    expect(verifier.checkSignature(envelope)).toBe(true);
    expect(verifier.getSignedReferences()).toHaveLength(1);
  });

  testWithXmlsec.each([
    ['the end mark of CDATA', '<a>x]]>y]]>]]></a>'],
    ['signs of markup, and ends of lines of every kind', '&<>"\' \r\n \r \n \t'],
    ['letters of every plane', 'ñ Ω 漢 😀'],
    ['nothing', ''],
  ])('xmlsec1 verifies a Body with %s', (_, document) => {
    const envelope = signEnvelope(writeCall('sendSobre', wrapInXmlData(document)), {
      credentials,
      hash: 'sha256',
    });
    expect(xmlsecVerify(envelope, { certificatePem, bodyId: true })).toBe('OK');
  });

  testWithXmlsec('a changed Body does not verify; the sobre as escaped text does', () => {
    const envelope = signed('sha1');
    expect(xmlsecVerify(envelope.replace('<A>ñ', '<A>n'), { certificatePem, bodyId: true })).not.toBe('OK');
    const escaped = SOBRE.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
    const asText = envelope.replace(`<![CDATA[${SOBRE}]]>`, escaped);
    expect(asText).not.toBe(envelope);
    expect(xmlsecVerify(asText, { certificatePem, bodyId: true })).toBe('OK');
  });

  test('carries the sobre byte for byte and the certificate as the token that the signature points at', () => {
    const envelope = signed('sha1');
    expect(envelope).toContain(`<![CDATA[${SOBRE}]]>`);
    const security = elementAt(root(envelope), 'Header', 'Security');
    const token = elementAt(security, 'BinarySecurityToken');
    const reference = elementAt(security, 'Signature', 'KeyInfo', 'SecurityTokenReference', 'Reference');
    expect(reference?.getAttribute('URI')).toBe(`#${token?.getAttribute('wsu:Id')}`);
    expect(token?.textContent).toBe(Buffer.from(credentials.certificateDer).toString('base64'));
  });

  test('signs the registry’s call, whose namespace is a relative URI', () => {
    const envelope = signEnvelope(writeCall('lookUpRut', '<Rut>219000090011</Rut>'), {
      credentials,
      hash: 'sha1',
    });
    const call = findNamed(root(envelope), 'WS_PersonaGetActEmpresarial.Execute');
    expect(call?.namespaceURI).toBe('DGI_Modernizacion_Consolidado');
  });

  testWithOfficialFiles('is built as the sample that the official documents lead to', () => {
    const names = (text: string) => {
      const security = elementAt(root(text), 'Header', 'Security');
      const info = elementAt(security, 'Signature', 'SignedInfo');
      const algorithm = (...path: string[]) => elementAt(info, ...path)?.getAttribute('Algorithm');
      return {
        token: ['EncodingType', 'ValueType'].map((name) =>
          elementAt(security, 'BinarySecurityToken')?.getAttribute(name),
        ),
        canonicalisation: algorithm('CanonicalizationMethod'),
        method: algorithm('SignatureMethod'),
        transform: algorithm('Reference', 'Transforms', 'Transform'),
        digest: algorithm('Reference', 'DigestMethod'),
        mustUnderstand: security?.getAttribute('soapenv:mustUnderstand'),
      };
    };
    expect(names(signed('sha1'))).toEqual(names(sample('soap/synth_req_ESTADOENVIO_wss_signed.xml')));
  });
});
