import { X509Certificate } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { issueCertificate } from '../../../local/simulator/security/issuing.ts';
import { ISSUER_RUT } from '../../support/simulator/aCfe.ts';
import { signEnvelope } from '../../support/simulator/signing.ts';
import {
  officialFault,
  testWithOfficialFiles,
  testWithXmlsec,
  xmlsecVerify,
} from '../../support/simulator/tools.ts';
import {
  aCustomer,
  aSimulator,
  type Customer,
  field,
  fields,
  portal,
  type TestSimulator,
} from '../../support/simulator/world.ts';

let simulator: TestSimulator;
let customer: Customer;
beforeAll(async () => {
  simulator = await aSimulator();
  customer = await aCustomer(simulator.url);
});
afterAll(() => simulator.stop());

const ACTION = 'http://dgi.gub.uyaction/AWS_EFACTURA.EFACCONSULTARESTADOENVIO';
const CALL =
  '<d:WS_eFactura.EFACCONSULTARESTADOENVIO xmlns:d="http://dgi.gub.uy"><d:Datain><d:xmlData>x</d:xmlData></d:Datain></d:WS_eFactura.EFACCONSULTARESTADOENVIO>';
const signed = (): string => signEnvelope(CALL, customer.keys);
const keysOf = async (subject: { commonName: string; rut?: string }) => {
  const dates = { notBefore: new Date(Date.now() - 86_400_000), notAfter: new Date(Date.now() + 86_400_000) };
  const own = await issueCertificate({ subject, ...dates });
  return { certificate: new X509Certificate(own.certificate), privateKey: own.privateKey };
};

describe('the gateway lets through', () => {
  test.each(['sha1', 'sha256'] as const)('a Body signed with %s', async (hash) => {
    const answer = await customer.reception('EFACCONSULTARESTADOENVIO', 'x', customer.keys, hash);
    expect([answer.status, field(answer.payload, 'codigo')]).toEqual([200, '1']);
  });

  test('a SOAPAction without quotes', async () => {
    const response = await fetch(`${simulator.url}/production/ws_efactura`, {
      method: 'POST',
      headers: { soapaction: ACTION },
      body: signed(),
    });
    expect(response.status).toBe(200);
  });
});

describe('the gateway refuses with a SOAP fault and HTTP 500', () => {
  const refused = async (envelope: string, words: string, action = ACTION): Promise<void> => {
    const answer = await customer.post('ws_efactura', action, envelope);
    expect([
      answer.status,
      field(answer.envelope, 'faultcode'),
      field(answer.envelope, 'faultstring'),
    ]).toEqual([500, 'env:Client', expect.stringContaining(words)]);
  };

  test.each<[string, (xml: string) => string, string]>([
    ['a Body changed after signing', (xml) => xml.replace('>x<', '>y<'), 'Digest value mismatch'],
    ['no signature', (xml) => xml.replace(/<ds:Signature.*<\/ds:Signature>/, ''), 'No signature in message!'],
    [
      'no security header',
      (xml) => xml.replace(/<soapenv:Header>.*<\/soapenv:Header>/, ''),
      'No signature in message!',
    ],
    [
      'a changed SignedInfo',
      (xml) => xml.replace(/<ds:SignedInfo>/, '<ds:SignedInfo Id="x">'),
      'Signature verification failed',
    ],
    [
      'a signature over something else than the Body',
      (xml) =>
        xml
          .replace('wsu:Id="id-1"', 'wsu:Id="id-2"')
          .replace('<wsse:BinarySecurityToken', '<wsse:Nonce wsu:Id="id-1"/><wsse:BinarySecurityToken'),
      'Digest value mismatch',
    ],
    [
      'an id that stands twice',
      (xml) =>
        xml.replace('<wsse:BinarySecurityToken', '<wsse:Nonce wsu:Id="id-1"/><wsse:BinarySecurityToken'),
      'more than one element',
    ],
    [
      'a token that is not there',
      (xml) => xml.replace('URI="#X509-1"', 'URI="#X509-2"'),
      'No BinarySecurityToken',
    ],
    [
      'a token that is no certificate',
      (xml) => xml.replace(/(<wsse:BinarySecurityToken[^>]*>)[^<]*/, '$1AAAA'),
      'Invalid BinarySecurityToken',
    ],
    [
      'another method',
      (xml) => xml.replace('xmldsig#rsa-sha1', 'xmldsig#hmac-sha1'),
      '*Unknown SignatureMethod algorithm',
    ],
    ['a DOCTYPE', (xml) => `<!DOCTYPE x>${xml}`, 'Malformed'],
    ['what is not XML', () => 'hola', 'Malformed'],
    ['two calls in one Body', (xml) => xml.replace(CALL, CALL + CALL), 'Invalid SOAP envelope'],
  ])('%s', async (_why, edit, words) => {
    await refused(edit(signed()), words);
  });

  test('a certificate that the authority did not give, whatever RUC it names, and one without a RUC', async () => {
    await refused(
      signEnvelope(CALL, await keysOf({ commonName: 'FALSO', rut: ISSUER_RUT })),
      'Certificate is not trusted',
    );
    await refused(signEnvelope(CALL, await keysOf({ commonName: 'SIN RUC' })), 'Certificate is not trusted');
  });

  test('a SOAPAction that is not known, or not that of the Body', async () => {
    await refused(signed(), 'No matching operation', 'http://dgi.gub.uyaction/AWS_EFACTURA.NADA');
    await refused(
      signed(),
      'do not name the same operation',
      ACTION.replace('EFACCONSULTARESTADOENVIO', 'EFACRECEPCIONSOBRE'),
    );
  });

  test('a Body with a second, unsigned one beside it', async () => {
    await refused(
      signed().replace('<soapenv:Body', `<soapenv:Body>${CALL}</soapenv:Body><soapenv:Body`),
      'Invalid SOAP envelope',
    );
  });
});

test('a GET on a SOAP path is 405, a request of more than 8 MB is 413', async () => {
  expect((await fetch(`${simulator.url}/production/ws_efactura`)).status).toBe(405);
  const huge = await fetch(`${simulator.url}/production/ws_efactura`, {
    method: 'POST',
    body: 'x'.repeat(9 * 1024 * 1024),
  }).then(
    ({ status }) => status,
    () => 413, // the connection may be closed before the client has read the answer
  );
  expect(huge).toBe(413);
});

test('every request and answer is kept byte for byte, and no password or private key of the portal', async () => {
  const envelope = signed();
  const { envelope: answer } = await customer.post('ws_efactura', ACTION, envelope);
  const folder = join(simulator.dataDir, 'simulator', 'exchanges');
  const [day] = readdirSync(folder);
  const files = readdirSync(join(folder, day ?? '')).filter((name) =>
    name.includes('production-EFACCONSULTARESTADOENVIO'),
  );
  const texts = files.map((name) => [name, readFileSync(join(folder, day ?? '', name), 'utf8')] as const);
  expect(texts.find(([name, text]) => name.endsWith('-request.xml') && text === envelope)).toBeDefined();
  expect(texts.find(([name, text]) => name.endsWith('-answer.xml') && text === answer)).toBeDefined();

  await portal(simulator.url, 'POST', '/portal/certificates', { rut: ISSUER_RUT, password: 'muy-secreta' });
  await portal(simulator.url, 'PUT', `/portal/credentials/${ISSUER_RUT}`, {
    username: 'u',
    password: 'muy-secreta',
    permissions: [],
  });
  const everything = readdirSync(join(simulator.dataDir, 'simulator'), {
    recursive: true,
    withFileTypes: true,
  })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'));
  expect(everything.filter((text) => text.includes('muy-secreta'))).toEqual([]);
});

describe('what the authority signs', () => {
  testWithXmlsec('verifies with xmlsec1: both answers, the CAE, and the Body around them', async () => {
    const { pems } = await authorityPems();
    const [production = ''] = pems;
    const { cae_b64, ...cae } = await customer.cae(101);
    expect(xmlsecVerify(Buffer.from(cae_b64, 'base64').toString(), { certificatePem: production })).toBe(
      'OK',
    );

    const receipt = customer.cfe({ type: 101, cae, name: 'SIM REJECT E14' });
    expect(xmlsecVerify(receipt, { certificatePem: customer.keys.certificate.toString() })).toBe('OK');
    const answer = await customer.send(customer.sobre([receipt]));
    expect(xmlsecVerify(answer.payload, { certificatePem: production })).toBe('OK');
    expect(xmlsecVerify(answer.envelope, { certificatePem: production, bodyId: true })).toBe('OK');
    const verdict = await customer.await(field(answer.payload, 'IDReceptor'), field(answer.payload, 'Token'));
    expect(xmlsecVerify(verdict, { certificatePem: production })).toBe('OK');
    const refused = (await customer.send(customer.sobre([receipt], { count: 7 }))).payload;
    expect(xmlsecVerify(refused, { certificatePem: production })).toBe('OK');
    expect(xmlsecVerify(verdict.replace('BE<', 'AE<'), { certificatePem: production })).not.toBe('OK');
  });

  testWithOfficialFiles('is valid by the official schemas, also about receipts that are not', async () => {
    const { cae_b64, ...cae } = await customer.cae(101, { series: 'V' });
    const order = { type: 101, cae, series: 'V' };
    const receipts = [
      customer.cfe({ ...order, number: 1 }),
      customer.cfe({ ...order, number: 1 }),
      customer.cfe({ ...order, number: 2, name: 'SIM OBSERVE' }),
      customer.cfe({ ...order, number: 3, edit: (xml) => xml.replace(/<FchEmis>[^<]*/, '<FchEmis>ayer') }),
      customer.cfe({ ...order, number: 4, edit: (xml) => xml.replace(/<TmstFirma>[^<]*/, '<TmstFirma>hoy') }),
      customer.cfe({ ...order, number: 5, edit: (xml) => xml.replace('<TipoCFE>101', '<TipoCFE>999') }),
      customer.cfe({ ...order, number: 6, edit: (xml) => xml.replace('<Nro>6<', '<Nro>0<') }),
    ];
    const ack = (await customer.send(customer.sobre(receipts))).payload;
    const verdict = await customer.await(field(ack, 'IDReceptor'), field(ack, 'Token'));
    const refused = (await customer.send('nada')).payload;
    const notYet = await customer.ask('999999', 'x');

    expect(fields(verdict, 'Estado')).toEqual(['AE', 'BE', 'CE', 'BE', 'BE', 'BE', 'BE']);
    expect(officialFault('CAE.xsd', Buffer.from(cae_b64, 'base64').toString())).toBe('');
    expect(officialFault('ACKSobre.xsd', ack)).toBe('');
    expect(officialFault('ACKSobre.xsd', refused)).toBe('');
    expect(officialFault('ACKCFE_DGI.xsd', verdict)).toBe('');
    expect(officialFault('ExcepcionesServicios.xsd', notYet.payload)).toBe('');
  });

  test('carries the RUC of the environment in its certificate', async () => {
    const { pems } = await authorityPems();
    expect(pems.map((pem) => /serialNumber=(RUC\d+)/.exec(new X509Certificate(pem).subject)?.[1])).toEqual([
      'RUC214844360018',
      'RUC219999830019',
    ]);
  });

  const authorityPems = async () => {
    const text = (await portal(simulator.url, 'GET', '/portal/authority-certificates')).bytes.toString();
    return { pems: text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----\n?/g) ?? [] };
  };
});
