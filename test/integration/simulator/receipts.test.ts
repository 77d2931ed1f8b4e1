import { createHash, generateKeyPairSync, X509Certificate } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { issueCertificate } from '../../../local/simulator/security/issuing.ts';
import { aCfe, type CfeOrder, ISSUER_RUT, montevideo, RECEIVER_RUT } from '../../support/simulator/aCfe.ts';
import { signCfe } from '../../support/simulator/signing.ts';
import {
  aCustomer,
  aSimulator,
  type CaeFile,
  type Customer,
  certificateFor,
  field,
  fields,
  portal,
  type TestSimulator,
} from '../../support/simulator/world.ts';

let simulator: TestSimulator;
let customer: Customer;
let cae: CaeFile;
beforeAll(async () => {
  simulator = await aSimulator();
  customer = await aCustomer(simulator.url);
  cae = await customer.cae(101);
});
afterAll(() => simulator.stop());

let lastNumber = 0;
const cfe = (more: Partial<CfeOrder> = {}): string => {
  const { number = (lastNumber += 1) } = more;
  return customer.cfe({ type: 101, cae, ...more, number });
};

/** The codes of a verdict on one receipt. */
const codes = (verdict: string): [string | undefined, string[]] => [
  field(verdict, 'Estado'),
  fields(verdict, 'Motivo'),
];
const expectRefused = async (xml: string, code: string): Promise<string> => {
  const verdict = await customer.verdict([xml]);
  expect([...codes(verdict), field(verdict, 'Detalle')]).toEqual(['BE', [code], expect.any(String)]);
  return verdict;
};

describe('a receipt is refused with', () => {
  test('E01 when its number was reported as annulled', async () => {
    const report = {
      rut: ISSUER_RUT,
      cfe_type_code: '101',
      serie: 'A',
      number_start: 9000,
      number_end: 9002,
    };
    expect((await portal(simulator.url, 'POST', '/portal/annulments', report)).status).toBe(201);
    await expectRefused(cfe({ number: 9001 }), 'E01');
    expect(codes(await customer.verdict([cfe({ number: 9003 })]))).toEqual(['AE', []]);
  });

  test('E02 when its number is there already, with the sobre that brought it', async () => {
    const sobre = customer.sobre([cfe()]);
    const first = (await customer.send(sobre)).payload;
    const verdict = await expectRefused(cfe({ number: lastNumber }), 'E02');
    expect([
      field(verdict, 'IDReceptorSobre'),
      field(verdict, 'IDEmisorSobre'),
      field(verdict, 'IDRespSobre'),
      field(verdict, 'IDTokenSobre'),
    ]).toEqual([
      field(first, 'IDReceptor'),
      field(first, 'IDEmisor'),
      field(first, 'IDRespuesta'),
      field(first, 'Token'),
    ]);
  });

  test('E02 within one sobre, and the first of the two is received', async () => {
    const receipt = cfe();
    const verdict = await customer.verdict([receipt, receipt]);
    expect([
      fields(verdict, 'Estado'),
      fields(verdict, 'Motivo'),
      field(verdict, 'CantCFERechazados'),
    ]).toEqual([['AE', 'BE'], ['E02'], '1']);
  });

  test('E03 when its number or series lies outside the CAE', async () => {
    const small = await customer.cae(101, { series: 'B', number_start: 50, number_end: 60 });
    await expectRefused(cfe({ cae: small, series: 'B', number: 61 }), 'E03');
    await expectRefused(cfe({ cae: small, series: 'B', number: 49 }), 'E03');
    await expectRefused(cfe({ cae: small, series: 'C', number: 55 }), 'E03');
  });

  test('E04 when something was changed after signing', async () => {
    await expectRefused(cfe().replace('EMPRESA SA', 'EMPRESA SB'), 'E04');
  });

  test('E04 when its signature is of another key than its certificate', async () => {
    const { privateKey } = generateKeyPairSync('rsa', {
      modulusLength: 2048,
      publicKeyEncoding: { type: 'spki', format: 'pem' },
      privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    });
    lastNumber += 1;
    await expectRefused(
      signCfe(aCfe({ type: 101, cae, number: lastNumber }), { ...customer.keys, privateKey }),
      'E04',
    );
  });

  test('E04 when its certificate is nobody’s that the authority trusts', async () => {
    const own = await issueCertificate({
      subject: { commonName: 'SELF SIGNED', rut: ISSUER_RUT },
      notBefore: new Date(Date.now() - 86_400_000),
      notAfter: new Date(Date.now() + 86_400_000),
    });
    const keys = { certificate: new X509Certificate(own.certificate), privateKey: own.privateKey };
    lastNumber += 1;
    const receipt = signCfe(aCfe({ type: 101, cae, number: lastNumber }), keys);
    const ack = (await customer.send(customer.sobre([receipt], { certificate: keys.certificate }))).payload;
    const verdict = await customer.await(field(ack, 'IDReceptor'), field(ack, 'Token'));
    expect(codes(verdict)).toEqual(['BE', ['E04']]);
    expect(field(verdict, 'Detalle')).toBe('Error al validar el Certificado - certificate not trusted');
  });

  test('E04 when the certificate was not valid yet at the moment of signing', async () => {
    await expectRefused(cfe({ signedAt: montevideo(new Date(Date.now() - 10 * 86_400_000)) }), 'E04');
  });

  test('E04 without a signature, or when the signature covers something else', async () => {
    await expectRefused(cfe().replace(/<Signature.*<\/Signature>/, ''), 'E04');
    await expectRefused(cfe().replace('<Reference URI="">', '<Reference URI="#x">'), 'E04');
  });

  test('E05 when a sum is wrong', async () => {
    const verdict = await expectRefused(cfe({ edit: (xml) => xml.replaceAll('1669.50', '1669.51') }), 'E05');
    expect(field(verdict, 'Detalle')).toBe('A MntPagar: se esperaba 1669.50 y se informó 1669.51');
  });

  test('E07 when it was signed outside the dates of its CAE', async () => {
    const dates = { issue_date: '2024-01-01', expiration_date: '2026-01-01', series: 'D' };
    const expired = await customer.cae(101, dates);
    await expectRefused(cfe({ cae: expired, series: 'D', number: 1, caeExpires: '2026-01-01' }), 'E07');
    const future = await customer.cae(101, {
      issue_date: '2040-01-01',
      expiration_date: '2042-01-01',
      series: 'E',
    });
    await expectRefused(cfe({ cae: future, series: 'E', number: 1, caeExpires: '2042-01-01' }), 'E07');
  });

  test('E09 when the CAE is unknown, of another issuer or of another type; the number stays free', async () => {
    const other = await aCustomer(simulator.url, { rut: RECEIVER_RUT });
    const [foreign, invoices] = [await other.cae(101), await customer.cae(111)];
    lastNumber += 1;
    const number = lastNumber;
    for (const wrong of [foreign, invoices, { ...cae, authorization_number: '90260999990' }])
      await expectRefused(customer.cfe({ type: 101, cae: wrong, number }), 'E09');
    expect(codes(await customer.verdict([customer.cfe({ type: 101, cae, number })]))).toEqual(['AE', []]);
    const { items } = (await portal(simulator.url, 'GET', '/portal/ledger')).json as {
      items: { numero: number }[];
    };
    expect(items.filter(({ numero }) => numero === number)).toEqual([
      expect.objectContaining({ verdict: 'AE', code: null, times_received: 4 }),
    ]);
  });

  test('E09 when the CAE is of the other environment', async () => {
    const sandbox = await aCustomer(simulator.url, { environment: 'sandbox' });
    const theirs = await sandbox.cae(101);
    await expectRefused(cfe({ cae: theirs }), 'E09');
  });

  test('E11 when it does not say of which special kind its CAE is, or says so of a common one', async () => {
    const special = await customer.cae(101, { cae_especial: 1, causal: 12, series: 'G' });
    const exempt = (xml: string): string =>
      xml
        .replace(/<Item><NroLinDet>[12].*?<\/Item>/g, '')
        .replace(
          /<Totales>.*<\/Totales>/,
          '<Totales><TpoMoneda>UYU</TpoMoneda><MntNoGrv>120.00</MntNoGrv><MntTotal>120.00</MntTotal><CantLinDet>3</CantLinDet><MontoNF>-0.50</MontoNF><MntPagar>119.50</MntPagar></Totales>',
        )
        .replace(/<NroLinDet>(\d)/g, (_text, line: string) => `<NroLinDet>${Number(line) - 2}`);
    const named = (xml: string): string =>
      xml.replace('</CAEData>', '<CAEEspecial>1</CAEEspecial><CausalCAEEsp>12</CausalCAEEsp></CAEData>');
    const order = { cae: special, series: 'G' };
    await expectRefused(cfe({ ...order, number: 1, edit: exempt }), 'E11');
    expect(
      codes(await customer.verdict([cfe({ ...order, number: 2, edit: (xml) => named(exempt(xml)) })])),
    ).toEqual(['AE', []]);
    await expectRefused(cfe({ edit: (xml) => named(exempt(xml)) }), 'E11');
  });

  test('E12 when what it refers to is not in the records, refused there, or without a verdict yet', async () => {
    const notes = await customer.cae(102);
    const note = (number: number, to: number): string =>
      customer.cfe({ type: 102, cae: notes, number, reference: { type: 101, number: to } });
    await expectRefused(note(1, 8888), 'E12');
    await customer.verdict([cfe({ name: 'SIM REJECT E05' })]);
    await expectRefused(note(2, lastNumber), 'E12');
    await customer.send(customer.sobre([cfe({ name: 'SIM DELAY 60' })]));
    await expectRefused(note(3, lastNumber), 'E12');
  });

  test('nothing when what it refers to stands before it in the same sobre', async () => {
    const notes = await customer.cae(102, { series: 'H' });
    const original = cfe();
    const note = customer.cfe({
      type: 102,
      cae: notes,
      series: 'H',
      number: notes.number_start,
      reference: { type: 101, number: lastNumber },
    });
    expect(fields(await customer.verdict([original, note]), 'Estado')).toEqual(['AE', 'AE']);
  });

  test('E13 when the authorization it names is one for paper', async () => {
    const paper = await customer.cae(101, { kind: 'F', series: 'I' });
    await expectRefused(cfe({ cae: paper, series: 'I', number: 1 }), 'E13');
  });

  test('each code once, when several apply', async () => {
    const small = await customer.cae(101, { series: 'J', number_start: 5, number_end: 6 });
    const xml = cfe({
      cae: small,
      series: 'J',
      number: 7,
      edit: (text) => text.replaceAll('1670.00', '1671.00'),
    });
    const verdict = await customer.verdict([xml]);
    expect(codes(verdict)).toEqual(['BE', ['E05', 'E03']]);
  });
});

describe('the ledger', () => {
  test('keeps one row a fiscal number and the bytes of the first arrival', async () => {
    const receipt = cfe({ name: 'Ñandú & «comillas»'.replace('&', '&amp;') });
    await customer.verdict([receipt]);
    await customer.verdict([cfe({ number: lastNumber })]);

    const path = `/portal/ledger/${ISSUER_RUT}/101/A/${lastNumber}`;
    const { status, bytes } = await portal(simulator.url, 'GET', path);
    expect([status, bytes.toString('utf8')]).toEqual([200, receipt]);
    const { items } = (await portal(simulator.url, 'GET', `/portal/ledger?rut=${ISSUER_RUT}`)).json as {
      items: { numero: number; sha256: string }[];
    };
    expect(items.filter(({ numero }) => numero === lastNumber)).toEqual([
      expect.objectContaining({
        times_received: 2,
        verdict: 'AE',
        sha256: createHash('sha256').update(receipt).digest('hex'),
      }),
    ]);
  });

  test('shows no verdict before there is one', async () => {
    await customer.send(customer.sobre([cfe({ name: 'SIM DELAY 60' })]));
    const { items } = (await portal(simulator.url, 'GET', '/portal/ledger')).json as { items: unknown[] };
    expect(items).toContainEqual(expect.objectContaining({ numero: lastNumber, verdict: null, code: null }));
  });

  test('a company that signs with a renewed certificate is received under it', async () => {
    const renewed = await certificateFor(simulator.url, ISSUER_RUT);
    lastNumber += 1;
    const receipt = customer.cfe({ type: 101, cae, number: lastNumber }, renewed);
    const ack = (
      await customer.send(customer.sobre([receipt], { certificate: renewed.certificate }), renewed)
    ).payload;
    expect(field(await customer.await(field(ack, 'IDReceptor'), field(ack, 'Token')), 'Estado')).toBe('AE');
  });
});
