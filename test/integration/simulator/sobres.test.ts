import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { aCfe, ISSUER_RUT, montevideo, RECEIVER_RUT } from '../../support/simulator/aCfe.ts';
import { signCfe, signEnvelope } from '../../support/simulator/signing.ts';
import { testWithOfficialFiles } from '../../support/simulator/tools.ts';
import {
  aCustomer,
  aSimulator,
  type CaeFile,
  type Customer,
  certificateFor,
  field,
  fields,
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
const cfe = (name?: string): string => {
  lastNumber += 1;
  return customer.cfe({ type: 101, cae, number: lastNumber, ...(name === undefined ? {} : { name }) });
};
const ledger = async (): Promise<unknown[]> =>
  ((await (await fetch(`${simulator.url}/portal/ledger`)).json()) as { items: unknown[] }).items;

describe('a sobre in order', () => {
  test('is answered AS with what the verdict is asked for with', async () => {
    const before = Date.now();
    const answer = await customer.send(customer.sobre([cfe()], { idemisor: 7_000_000_001 }));
    const after = Date.now();

    expect([answer.status, answer.contentType]).toEqual([200, 'text/xml']);
    const ack = answer.payload;
    expect(ack).toMatch(
      /^<\?xml version="1.0" encoding="UTF-8"\?><ACKSobre xmlns="http:\/\/cfe.dgi.gub.uy" version="1.0">/,
    );
    expect([
      field(ack, 'Estado'),
      field(ack, 'RUCEmisor'),
      field(ack, 'RUCReceptor'),
      field(ack, 'IDEmisor'),
    ]).toEqual(['AS', ISSUER_RUT, '214844360018', '7000000001']);
    expect(Buffer.from(field(ack, 'Token') ?? '', 'base64')).toHaveLength(64);
    expect(field(ack, 'Fechahora')).toMatch(/-03:00$/);
    const at = Date.parse(field(ack, 'Fechahora') ?? '');
    expect(at).toBeGreaterThan(before - 1_000);
    expect(at).toBeLessThanOrEqual(after);
  });

  testWithOfficialFiles.each([101, 111, 121])(
    'all three types of the family of %i are received, by the official schema too',
    async (invoice) => {
      const [own, credit, debit] = await Promise.all(
        [0, 1, 2].map((more) => customer.cae(invoice + more, { series: 'F' })),
      );
      if (!own || !credit || !debit) throw new Error('no CAE');
      const order = { series: 'F', cae: own, type: invoice };
      expect(fields(await customer.verdict([customer.cfe(order)]), 'Estado')).toEqual(['AE']);

      const reference = { type: invoice, series: 'F', number: 1 };
      const notes = [
        customer.cfe({ ...order, cae: credit, type: invoice + 1, reference }),
        customer.cfe({ ...order, cae: debit, type: invoice + 2, reference }),
      ];
      expect(fields(await customer.verdict(notes), 'Estado')).toEqual(['AE', 'AE']);
    },
  );

  test('signed with sha1 is received as one with sha256, in the SOAP signature too', async () => {
    lastNumber += 1;
    const xml = signCfe(aCfe({ type: 101, cae, number: lastNumber }), customer.keys, { hash: 'sha1' });
    const answer = await customer.reception(
      'EFACRECEPCIONSOBRE',
      customer.sobre([xml]),
      customer.keys,
      'sha256',
    );
    expect(field(answer.payload, 'Estado')).toBe('AS');
    const verdict = await customer.await(field(answer.payload, 'IDReceptor'), field(answer.payload, 'Token'));
    expect(field(verdict, 'Estado')).toBe('AE');
  });

  test('may come in a CDATA section', async () => {
    const inner = `<d:WS_eFactura.EFACRECEPCIONSOBRE xmlns:d="http://dgi.gub.uy"><d:Datain><d:xmlData><![CDATA[${customer.sobre([cfe()])}]]></d:xmlData></d:Datain></d:WS_eFactura.EFACRECEPCIONSOBRE>`;
    const action = 'http://dgi.gub.uyaction/AWS_EFACTURA.EFACRECEPCIONSOBRE';
    const answer = await customer.post('ws_efactura', action, signEnvelope(inner, customer.keys));
    expect(field(answer.payload, 'Estado')).toBe('AS');
  });

  test('may declare the prefix of its own elements, as long as its receipts stand alone', async () => {
    const sobre = customer
      .sobre([cfe()])
      .replace('<EnvioCFE xmlns="http://cfe.dgi.gub.uy"', '<g:EnvioCFE xmlns:g="http://cfe.dgi.gub.uy"')
      .replace('</EnvioCFE>', '</g:EnvioCFE>')
      .replace(/<Caratula.*<\/Caratula>/, (text) => text.replace(/<(\/?)(\w)/g, '<$1g:$2'));
    const ack = (await customer.send(sobre)).payload;
    expect(field(ack, 'Estado')).toBe('AS');
    expect(field(await customer.await(field(ack, 'IDReceptor'), field(ack, 'Token')), 'Estado')).toBe('AE');
  });
});

describe('a sobre that is refused', () => {
  const refused = async (sobre: string, code: string): Promise<void> => {
    const rows = await ledger();
    const ack = (await customer.send(sobre)).payload;
    expect([field(ack, 'Estado'), fields(ack, 'Motivo')]).toEqual(['BS', [code]]);
    expect(ack).not.toContain('ParamConsulta');
    expect(await ledger()).toEqual(rows);
  };

  test.each([
    ['not XML at all', () => 'hola'],
    ['not well-formed', () => customer.sobre([cfe()]).replace('</EnvioCFE>', '')],
    ['with a DOCTYPE', () => customer.sobre([cfe()]).replace('<EnvioCFE', '<!DOCTYPE EnvioCFE><EnvioCFE')],
    ['with another root', () => customer.sobre([cfe()]).replaceAll('EnvioCFE', 'Envio')],
    ['of another namespace', () => '<EnvioCFE version="1.0"/>'],
  ])('S01: %s', async (_why, make) => {
    await refused(make(), 'S01');
  });

  test('S02: for another receiver, by another issuer, with another certificate, around a receipt of another', async () => {
    const other = await certificateFor(simulator.url, RECEIVER_RUT);
    await refused(customer.sobre([cfe()], { receiver: '219999830019' }), 'S02');
    await refused(customer.sobre([cfe()], { rut: RECEIVER_RUT }), 'S02');
    await refused(customer.sobre([cfe()], { certificate: other.certificate }), 'S02');
    await refused(customer.sobre([customer.cfe({ type: 101, cae, rut: RECEIVER_RUT })]), 'S02');
  });

  test.each([
    ['expired', { not_before: '2020-01-01', not_after: '2022-01-01' }],
    ['not valid yet', { not_before: '2040-01-01', not_after: '2042-01-01' }],
  ])('S03: a certificate that is %s', async (_why, dates) => {
    const keys = await certificateFor(simulator.url, ISSUER_RUT, dates);
    await refused(
      customer.sobre([customer.cfe({ type: 101, cae }, keys)], { certificate: keys.certificate }),
      'S03',
    );
  });

  test('S03: a certificate that cannot be read', async () => {
    await refused(
      customer
        .sobre([cfe()])
        .replace(/(<X509Certificate>)[^<]+(<\/X509Certificate><\/Caratula>)/, '$1AAAA$2'),
      'S03',
    );
  });

  test.each<[string, (sobre: string) => string]>([
    ['a Caratula without its date', (sobre) => sobre.replace(/<Fecha>[^<]*<\/Fecha>/, '')],
    [
      'a Caratula out of order',
      (sobre) => sobre.replace(/(<Idemisor>\d+<\/Idemisor>)(<CantCFE>\d+<\/CantCFE>)/, '$2$1'),
    ],
    ['no version', (sobre) => sobre.replace('<Caratula version="1.0">', '<Caratula>')],
    [
      'a stranger among the receipts',
      (sobre) => sobre.replace('</EnvioCFE>', '<Adenda>x</Adenda></EnvioCFE>'),
    ],
    ['no receipt', (sobre) => sobre.replace(/<CFE .*<\/CFE>/, '')],
    ['an Idemisor of eleven digits', (sobre) => sobre.replace(/<Idemisor>\d+/, '<Idemisor>12345678901')],
  ])('S04: %s', async (_why, edit) => {
    await refused(edit(customer.sobre([cfe()])), 'S04');
  });

  test('S05: a count that is not that of its receipts', async () => {
    await refused(customer.sobre([cfe()], { count: 2 }), 'S05');
  });

  test('S06: a receipt that names another certificate of the same company', async () => {
    const second = await certificateFor(simulator.url, ISSUER_RUT);
    await refused(customer.sobre([cfe(), customer.cfe({ type: 101, cae }, second)]), 'S06');
  });

  test('S07: more than 2 MB', async () => {
    const padded = customer
      .sobre([cfe()])
      .replace('</EnvioCFE>', `${' '.repeat(2 * 1024 * 1024)}</EnvioCFE>`);
    await refused(padded, 'S07');
  });

  test('S08: the same Idemisor again, whose receipts are counted once more', async () => {
    const sobre = customer.sobre([cfe()]);
    expect(field((await customer.send(sobre)).payload, 'Estado')).toBe('AS');
    const again = (await customer.send(sobre)).payload;
    expect([field(again, 'Estado'), fields(again, 'Motivo')]).toEqual(['BS', ['S08']]);
    expect(field(again, 'Glosa')).toBe('Sobre enviado ya existe en los registros de DGI');
    expect(await ledger()).toContainEqual(expect.objectContaining({ numero: lastNumber, times_received: 2 }));
  });

  test('leaves its Idemisor free: the mended sobre may come under the same', async () => {
    const idemisor = customer.nextIdemisor();
    const receipt = cfe();
    expect(
      field((await customer.send(customer.sobre([receipt], { idemisor, count: 9 }))).payload, 'Motivo'),
    ).toBe('S05');
    expect(field((await customer.send(customer.sobre([receipt], { idemisor }))).payload, 'Estado')).toBe(
      'AS',
    );
  });

  test('the same Idemisor of another company is another sobre', async () => {
    const other = await aCustomer(simulator.url, { rut: RECEIVER_RUT });
    const idemisor = customer.nextIdemisor();
    const theirs = other.cfe({ type: 101, cae: await other.cae(101) });
    expect(field((await customer.send(customer.sobre([cfe()], { idemisor }))).payload, 'Estado')).toBe('AS');
    expect(
      field(
        (await other.send(other.sobre([theirs], { idemisor, at: montevideo(new Date()) }))).payload,
        'Estado',
      ),
    ).toBe('AS');
  });
});
