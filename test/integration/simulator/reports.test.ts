import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { montevideo } from '../../support/simulator/aCfe.ts';
import {
  aReport,
  type ReportOrder,
  type SectionOrder,
  usualAmounts,
} from '../../support/simulator/aReport.ts';
import { signCfe } from '../../support/simulator/signing.ts';
import { officialFault, testWithOfficialFiles } from '../../support/simulator/tools.ts';
import {
  aCustomer,
  aSimulator,
  type CaeFile,
  Customer,
  certificateFor,
  field,
  fields,
  portal,
  type SoapAnswer,
  type TestSimulator,
} from '../../support/simulator/world.ts';

let simulator: TestSimulator;
beforeAll(async () => {
  simulator = await aSimulator();
});
afterAll(() => simulator.stop());

const today = montevideo(new Date()).slice(0, 10);
const daysFrom = (day: string, days: number): string =>
  new Date(Date.parse(`${day}T00:00:00Z`) + days * 86_400_000).toISOString().slice(0, 10);
const yesterday = daysFrom(today, -1);
/** A moment of a day in Montevideo, in the form of TmstFirma. */
const noon = (day: string): string => `${day}T12:00:00-03:00`;

/** A RUC that no other test uses. */
let companies = 0;
function aRut(): string {
  companies += 1;
  const eleven = `2160${String(companies).padStart(5, '0')}00`;
  const weights = [4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2];
  const total = weights.reduce((all, weight, at) => all + weight * Number(eleven[at]), 0);
  const digit = (11 - (total % 11)) % 11;
  return digit === 10 ? aRut() : eleven + String(digit);
}

const aCompany = (url = simulator.url) => aCustomer(url, { rut: aRut() });
const sign = (customer: Customer, order: ReportOrder, keys = customer.keys): string =>
  signCfe(aReport({ rut: customer.rut, ...order }), keys);
const send = (customer: Customer, xml: string): Promise<SoapAnswer> =>
  customer.reception('EFACRECEPCIONREPORTE', xml);
async function report(customer: Customer, order: ReportOrder): Promise<string> {
  return (await send(customer, sign(customer, order))).payload;
}

interface Item {
  date: string | null;
  sequence: number | null;
  id_emisor: number;
  status: string;
  reasons: { code: string | null; detail: string }[];
  sha256: string;
}
/** The reports of a company as the portal shows them, once they were compared. */
async function reportsOf(customer: Customer, url = simulator.url): Promise<Item[]> {
  simulator.hurry(1_000);
  const query = `?rut=${customer.rut}&environment=${customer.environment}`;
  return ((await portal(url, 'GET', `/portal/reports${query}`)).json as { items: Item[] }).items;
}
async function lastOf(customer: Customer): Promise<Item | undefined> {
  return (await reportsOf(customer)).at(-1);
}
const detailsOf = (item: Item | undefined): string =>
  (item?.reasons ?? []).map(({ detail }) => detail).join('; ');

/** A company with e-Tickets 1 to `receipts`, signed today and accepted. */
async function withTickets(receipts: number, name?: (number: number) => string) {
  const customer = await aCompany();
  const cae = await customer.cae(101);
  await issue(
    customer,
    cae,
    101,
    Array.from({ length: receipts }, (_, at) => at + 1),
    name,
  );
  return { customer, cae };
}

async function issue(
  customer: Customer,
  cae: CaeFile,
  type: number,
  numbers: readonly number[],
  name: (number: number) => string = () => 'Producto',
): Promise<string> {
  return customer.verdict(numbers.map((number) => customer.cfe({ type, cae, number, name: name(number) })));
}

const tickets = (receipts: number, more: Partial<SectionOrder> = {}): SectionOrder => ({
  type: 101,
  rows: [usualAmounts(receipts, today)],
  used: [[1, receipts]],
  ...more,
});

describe('a report is received', () => {
  test('of a day without movement: AR, with an answer that names it; then DR', async () => {
    const customer = await aCompany();
    const ack = await report(customer, { date: yesterday, idEmisor: 7001 });

    const names = ['RUCReceptor', 'RUCEmisor', 'NomArch', 'IDEmisor', 'Estado', 'Motivo'];
    expect(names.map((name) => field(ack, name))).toEqual([
      '214844360018',
      customer.rut,
      '',
      '7001',
      'AR',
      undefined,
    ]);
    expect(Number(field(ack, 'IDReceptor'))).toBeGreaterThan(90_000);
    expect(await lastOf(customer)).toMatchObject({
      date: yesterday,
      sequence: 1,
      id_emisor: 7001,
      status: 'DR',
      reasons: [],
    });
  });

  testWithOfficialFiles('the answer is valid by the official schema, accepted or refused', async () => {
    const customer = await aCompany();
    for (const idEmisor of [1, 2]) {
      const ack = await report(customer, { date: yesterday, idEmisor });
      expect(officialFault('ACKRepDiario.xsd', ack)).toBe('');
    }
    expect((await reportsOf(customer)).map(({ status }) => status)).toEqual(['DR', 'BR']);
  });

  test('without an IDEmisor: the answer says 0', async () => {
    expect(field(await report(await aCompany(), { date: yesterday }), 'IDEmisor')).toBe('0');
  });

  test('of all nine types, with a hole, a rejection and numbers that were never sent: DR', async () => {
    const customer = await aCompany();
    await portal(simulator.url, 'PUT', `/portal/rates/${yesterday}`, { USD: '40.5' });
    const sections: SectionOrder[] = [];
    for (const type of [101, 111, 121]) {
      for (const [at, kind] of [type, type + 1, type + 2].entries()) {
        const cae = await customer.cae(kind);
        const cfe = (number: number, name = 'Producto') =>
          customer.cfe({
            type: kind,
            cae,
            number,
            name,
            ...(at === 0 ? {} : { reference: { type, number: 1 } }),
          });
        // 1 and 2 accepted, 3 rejected, 4 a hole, 5 accepted, 6 and 7 never sent.
        await customer.verdict([cfe(1), cfe(2), cfe(3, 'SIM REJECT E05'), cfe(5)]);
        const rate = at === 0 ? 40.5 : 40.125;
        sections.push({
          type: kind,
          rows: [kind > 120 ? { date: today, exported: (3000 * rate).toFixed(2) } : usualAmounts(3, today)],
          used: [
            [1, 3],
            [5, 7],
          ],
          annulled: [
            [3, 3],
            [6, 7],
          ],
        });
      }
    }
    expect(field(await report(customer, { date: today, sections }), 'Estado')).toBe('AR');
    const item = await lastOf(customer);
    expect([item?.status, item?.reasons]).toEqual(['DR', []]);
  });

  test('a correction is the next sequence, and what it replaces is FR', async () => {
    const { customer } = await withTickets(2);
    await report(customer, { date: today, sections: [tickets(1)] });
    expect((await lastOf(customer))?.status).toBe('ER');
    await report(customer, { date: today, sequence: 2, sections: [tickets(2)] });
    await report(customer, { date: yesterday });
    expect((await reportsOf(customer)).map(({ sequence, status }) => [sequence, status])).toEqual([
      [1, 'FR'],
      [2, 'DR'],
      [1, 'DR'],
    ]);
  });

  test('the numbers that it annuls are annulled: a receipt that comes later is refused with E01', async () => {
    const { customer, cae } = await withTickets(1);
    await report(customer, { date: today, sections: [tickets(1, { used: [[1, 4]], annulled: [[2, 4]] })] });
    expect(fields(await issue(customer, cae, 101, [3, 5]), 'Estado')).toEqual(['BE', 'AE']);
    expect(field(await issue(customer, cae, 101, [4]), 'Motivo')).toBe('E01');
  });

  test('sandbox and production are apart', async () => {
    const rut = aRut();
    const production = await aCustomer(simulator.url, { rut });
    const sandbox = await aCustomer(simulator.url, { rut, environment: 'sandbox' });
    expect(field(await report(production, { date: yesterday }), 'Estado')).toBe('AR');
    expect(field(await report(sandbox, { date: yesterday, idEmisor: 1 }), 'RUCReceptor')).toBe(
      '219999830019',
    );
    expect(await reportsOf(sandbox)).toHaveLength(1);
  });
});

describe('the comparison with the receipts that the authority holds', () => {
  test.each<[string, Partial<SectionOrder>, RegExp]>([
    [
      'a receipt that the report lacks',
      { used: [[1, 2]], rows: [usualAmounts(2, today)] },
      /101 A 3: recibido y no figura/,
    ],
    [
      'a receipt reported as annulled',
      { annulled: [[3, 3]], rows: [usualAmounts(2, today)] },
      /101 A 3: recibido y figura como anulado/,
    ],
    [
      'an e-Ticket that never came, above what need not be sent',
      { used: [[1, 4]], rows: [{ ...usualAmounts(3, today), basicBase: '36000.00', basicVat: '7920.00' }] },
      /TotMntIVATasaBas: informa 36000.00, DGI suma 3000.00/,
    ],
    [
      'a sum',
      { rows: [{ ...usualAmounts(3, today), basicVat: '660.04' }] },
      /MntIVATasaBas: informa 660.04, DGI suma 660.00/,
    ],
    [
      'another branch',
      { rows: [{ ...usualAmounts(3, today), branch: 2 }] },
      /sucursal 2: no hay comprobantes.*sucursal 1: falta/,
    ],
    ['another day of issue', { rows: [usualAmounts(3, yesterday)] }, /no hay comprobantes/],
    ['e-Tickets above the limit in UI', { aboveLimit: 1 }, /informa 1 mayores al tope/],
  ])('ER tells of %s', async (_what, more, words) => {
    const { customer } = await withTickets(3);
    expect(field(await report(customer, { date: today, sections: [tickets(3, more)] }), 'Estado')).toBe('AR');
    const item = await lastOf(customer);
    expect(item?.status).toBe('ER');
    expect(detailsOf(item)).toMatch(words);
  });

  test('small e-Tickets are known from the report alone; an e-Factura that never came is not', async () => {
    const { customer } = await withTickets(2);
    await customer.cae(111);
    const small = tickets(3, { rows: [usualAmounts(2, yesterday), usualAmounts(1, today)] });
    const sections = [tickets(4, { used: [[1, 5]], annulled: [[5, 5]] })];
    await report(customer, { date: today, sections });
    expect(await lastOf(customer)).toMatchObject({ status: 'DR' });
    await report(customer, { date: today, sequence: 2, sections: [small] });
    expect(await lastOf(customer)).toMatchObject({ status: 'ER' });
    const invoice = { type: 111, rows: [usualAmounts(1, today)], used: [[1, 1]] } as const;
    await report(customer, { date: today, sequence: 3, sections: [...sections, invoice] });
    expect(detailsOf(await lastOf(customer))).toContain('111: informa 1 emitidos, DGI tiene 0');
  });

  test('a cent for each receipt is let pass', async () => {
    const { customer } = await withTickets(3);
    const rows = [{ ...usualAmounts(3, today), basicVat: '660.03' }];
    await report(customer, { date: today, sections: [tickets(3, { rows })] });
    expect((await lastOf(customer))?.status).toBe('DR');
  });

  test('a rejected receipt must be annulled, one refused with E06 may, one with E09 need not stand there', async () => {
    const names = ['Producto', 'SIM REJECT E05', 'SIM REJECT E06', 'SIM REJECT E09'];
    const { customer } = await withTickets(4, (number) => names[number - 1] ?? '');
    await report(customer, { date: today, sections: [tickets(1)] });
    expect(detailsOf(await lastOf(customer))).toMatch(
      /^101 A 2: rechazado \(E05\) y no figura como anulado$/,
    );
    await report(customer, {
      date: today,
      sequence: 2,
      sections: [tickets(1, { used: [[1, 2]], annulled: [[2, 2]] })],
    });
    expect((await lastOf(customer))?.status).toBe('DR');
    await report(customer, {
      date: today,
      sequence: 3,
      sections: [tickets(1, { used: [[1, 3]], annulled: [[2, 3]] })],
    });
    expect((await lastOf(customer))?.status).toBe('DR');
    await report(customer, { date: today, sequence: 4, sections: [tickets(2, { annulled: [] })] });
    expect(detailsOf(await lastOf(customer))).toMatch(/101 A 2: rechazado \(E05\) y figura como emitido/);
  });

  test('a receipt whose verdict is not out yet is left out', async () => {
    const { customer, cae } = await withTickets(1);
    await customer.send(
      customer.sobre([customer.cfe({ type: 101, cae, number: 2, name: 'SIM DELAY 86400' })]),
    );
    await report(customer, { date: today, sections: [tickets(1)] });
    expect((await lastOf(customer))?.status).toBe('DR');
    await report(customer, { date: today, sequence: 2, sections: [tickets(2)] });
    expect(detailsOf(await lastOf(customer))).toMatch(/101 A 2: figura en el reporte y aún no fue procesado/);
  });

  test('counts by the day of signature, sums by the day of issue', async () => {
    const customer = await aCompany();
    const cae = await customer.cae(101, { issue_date: daysFrom(today, -10) });
    const at = (number: number, signedAt: string) =>
      customer.cfe({
        type: 101,
        cae,
        number,
        signedAt,
        edit: (xml) =>
          xml
            .replace(/<FchEmis>[^<]*/, `<FchEmis>${yesterday}`)
            .replace(
              /<FecVenc>[^<]*/,
              `<FecVenc>${daysFrom(today, -10).replace(/^\d{4}/, (year) => String(Number(year) + 2))}`,
            ),
      });
    await customer.verdict([at(1, `${yesterday}T23:59:59-03:00`), at(2, `${today}T00:00:00-03:00`)]);
    const section = (number: number): SectionOrder => ({
      type: 101,
      rows: [usualAmounts(1, yesterday)],
      used: [[number, number]],
    });
    await report(customer, { date: yesterday, sections: [section(1)] });
    await report(customer, { date: today, sections: [section(2)] });
    expect((await reportsOf(customer)).map(({ status, reasons }) => [status, reasons])).toEqual([
      ['DR', []],
      ['DR', []],
    ]);
  });

  test('e-Tickets above 5,000 UI are counted, with a receiver or not', async () => {
    const customer = await aCompany();
    const cae = await customer.cae(101);
    const receiver =
      '<Receptor><TipoDocRecep>2</TipoDocRecep><CodPaisRecep>UY</CodPaisRecep><DocRecep>219000090011</DocRecep><RznSocRecep>CLIENTE SA</RznSocRecep><DirRecep>Avenida 1</DirRecep><CiudadRecep>Montevideo</CiudadRecep></Receptor>';
    const large = customer.cfe({
      type: 101,
      cae,
      number: 1,
      edit: (xml) =>
        xml
          .replace('</Emisor><Totales>', `</Emisor>${receiver}<Totales>`)
          .replace('<MntNoGrv>120.00', '<MntNoGrv>40000.00')
          .replace('<MntTotal>1670.00', '<MntTotal>41550.00')
          .replace('<MntPagar>1669.50', '<MntPagar>41549.50')
          .replace(
            '120.000000</PrecioUnitario><MontoItem>120.00',
            '40000.000000</PrecioUnitario><MontoItem>40000.00',
          ),
    });
    expect(field(await customer.verdict([large]), 'Estado')).toBe('AE');
    const rows = [{ ...usualAmounts(1, today), noVat: '40000.00' }];
    await report(customer, { date: today, sections: [tickets(1, { rows })] });
    expect(detailsOf(await lastOf(customer))).toMatch(/informa 0 mayores al tope en UI, DGI tiene 1/);
    await report(customer, { date: today, sequence: 2, sections: [tickets(1, { rows, aboveLimit: 1 })] });
    expect((await lastOf(customer))?.status).toBe('DR');
  });

  test('foreign currency: the closing of the day before, else of the last day with one; issued ahead, the receipt’s own', async () => {
    const customer = await aCompany();
    const cae = await customer.cae(121);
    const issuedOn = (number: number, day: string) =>
      customer.cfe({
        type: 121,
        cae,
        number,
        edit: (xml) => xml.replace(/<FchEmis>[^<]*/, `<FchEmis>${day}`),
      });
    const [early, ahead] = [daysFrom(today, -20), daysFrom(today, 5)];
    await portal(simulator.url, 'PUT', `/portal/rates/${daysFrom(early, -1)}`, { USD: null });
    await portal(simulator.url, 'PUT', `/portal/rates/${daysFrom(early, -2)}`, { USD: '39.999999' });
    await customer.verdict([issuedOn(1, early), issuedOn(2, ahead)]);
    await report(customer, {
      date: today,
      sections: [
        {
          type: 121,
          used: [[1, 2]],
          rows: [
            { date: early, exported: '40000.00' },
            { date: ahead, exported: '40125.00' },
          ],
        },
      ],
    });
    expect(await lastOf(customer)).toMatchObject({ status: 'DR', reasons: [] });
  });
});

describe('a report is refused', () => {
  const refusal = async (customer: Customer, xml: string) => {
    const ack = (await send(customer, xml)).payload;
    const detail = /<\/Glosa><Detalle>([^<]*)/.exec(ack)?.[1];
    return [field(ack, 'Estado'), field(ack, 'Motivo'), detail];
  };
  const R01: [string, (xml: string) => string][] = [
    ['is no XML', () => 'Reporte'],
    ['has a DOCTYPE', (xml) => `<!DOCTYPE Reporte>${xml}`],
    ['is another document', (xml) => xml.replaceAll('Reporte', 'Informe')],
    ['has no signature', (xml) => xml.replace(/<Signature[\s\S]*<\/Signature>/, '')],
    ['has no version', (xml) => xml.replace(' version="1.0"', '')],
    [
      'has its elements in another order',
      (xml) => xml.replace(/(<RUCEmisor>.*<\/RUCEmisor>)(<FechaResumen>.*<\/FechaResumen>)/, '$2$1'),
    ],
    ['has an element that nobody knows', (xml) => xml.replace('<SecEnvio>', '<Otro>1</Otro><SecEnvio>')],
    ['has a sequence of three digits', (xml) => xml.replace('<SecEnvio>1', '<SecEnvio>100')],
    [
      'has an amount with three decimals',
      (xml) => xml.replace('<TotMntNoGrv>120.00', '<TotMntNoGrv>120.000'),
    ],
    ['has a negative amount', (xml) => xml.replace('<TotMntNoGrv>120.00', '<TotMntNoGrv>-120.00')],
    ['has a number of eight digits', (xml) => xml.replace('<NroHasta>1<', '<NroHasta>10000000<')],
    ['has a type under another type’s element', (xml) => xml.replace('<TipoComp>101', '<TipoComp>102')],
  ];
  // What is refused uses nothing up, so one company will do.
  let same: Customer;
  let withCae: Customer;
  beforeAll(async () => {
    [same, withCae] = [await aCompany(), await aCompany()];
    await withCae.cae(101);
  });

  test.each(R01)('R01: it %s', async (_what, edit) => {
    const customer = same;
    const xml = edit(sign(customer, { date: today, sections: [tickets(1)] }));
    expect((await refusal(customer, xml)).slice(0, 2)).toEqual(['BR', 'R01']);
    expect(await lastOf(customer)).toMatchObject({ status: 'BR', reasons: [{ code: 'R01' }] });
  });

  test('R01 by the simulator’s own rules, where there are no official schemas', async () => {
    const other = await aSimulator({ xsdDir: '' });
    try {
      const customer = await aCompany(other.url);
      for (const [, edit] of R01) {
        const xml = edit(sign(customer, { date: today, sections: [tickets(1)] }));
        expect((await refusal(customer, xml)).slice(0, 2)).toEqual(['BR', 'R01']);
      }
    } finally {
      await other.stop();
    }
  });

  test('R02: it is another company’s, or its certificate is', async () => {
    const [customer, other] = [await aCompany(), await aCompany()];
    expect(await refusal(customer, sign(other, { date: yesterday }))).toEqual(
      expect.arrayContaining(['BR', 'R02']),
    );
    expect(await refusal(customer, sign(customer, { date: yesterday }, other.keys))).toEqual(
      expect.arrayContaining(['BR', 'R02']),
    );
  });

  test('R03: it was altered, or its certificate has expired, was not valid yet, or is nobody’s', async () => {
    const customer = await aCompany();
    const altered = sign(customer, { date: yesterday }).replace('<SecEnvio>1', '<SecEnvio>2');
    expect(await refusal(customer, altered)).toEqual(expect.arrayContaining(['BR', 'R03']));
    const expired = await certificateFor(simulator.url, customer.rut, {
      not_before: '2020-01-01',
      not_after: '2021-01-01',
    });
    expect(await refusal(customer, sign(customer, { date: yesterday }, expired))).toEqual(
      expect.arrayContaining(['BR', 'R03']),
    );
    const early = sign(customer, { date: yesterday, signedAt: noon('2020-01-01') });
    expect(await refusal(customer, early)).toEqual(expect.arrayContaining(['BR', 'R03']));
    const stranger = await aSimulator();
    try {
      const keys = await certificateFor(stranger.url, customer.rut);
      expect(await refusal(customer, sign(customer, { date: yesterday }, keys))).toEqual(
        expect.arrayContaining(['BR', 'R03']),
      );
    } finally {
      await stranger.stop();
    }
  });

  test.each<[string, Partial<ReportOrder> & { section?: Partial<SectionOrder> }, RegExp]>([
    ['the total count', { count: 7 }, /CantComprobantes: 7/],
    ['used numbers', { section: { usedCount: 4 } }, /RngDocsUtil: suma 3 y C26 es 4/],
    ['annulled numbers', { section: { annulledCount: 1, issuedCount: 2 } }, /RngDocsAnulados: suma 0/],
    ['issued', { section: { issuedCount: 2 } }, /CantDocsEmi: 2 y son 3 menos 0/],
    ['more above the limit than issued', { section: { aboveLimit: 4 } }, /CantDocsMay_topeUI/],
    [
      'ranges that overlap',
      {
        section: {
          used: [
            [1, 2],
            [2, 2],
          ],
        },
      },
      /se superponen/,
    ],
    [
      'a range that ends before it begins',
      {
        section: {
          used: [
            [1, 4],
            [9, 8],
            [9, 8],
          ],
          usedCount: 4,
        },
      },
      /NroHasta es menor/,
    ],
    ['annulled, and not used', { section: { annulled: [[9, 9]] } }, /A 9 no figura entre los utilizados/],
    [
      'outside of every CAE',
      {
        section: {
          used: [
            [1, 2],
            [20_000, 20_000],
          ],
        },
      },
      /A 20000 no está en un CAE/,
    ],
    ['of another serie', { section: { used: [[1, 3, 'B']] } }, /B 1 a 3 no está en un CAE/],
    ['issued ones without amounts', { section: { rows: [] } }, /Montos: falta/],
    ['amounts without issued ones', { section: { annulled: [[1, 3]] } }, /Montos: no va/],
    ['a total', { section: { rows: [{ ...usualAmounts(3, today), total: '1.00' }] } }, /C24 TotMntTotal/],
    ['a row twice', { section: { rows: [usualAmounts(1, today), usualAmounts(2, today)] } }, /repetido/],
    ['a day too far ahead', { section: { rows: [usualAmounts(3, daysFrom(today, 61))] } }, /es posterior a/],
    [
      'a rate',
      { edit: (xml) => xml.replace('<IVATasaBas>22.000', '<IVATasaBas>10.000') },
      /IVATasaBas .*debe ser 22/,
    ],
    [
      'other VAT without its base',
      { edit: (xml) => xml.replace('<MntIVAOtra>0.00', '<MntIVAOtra>1.00') },
      /MntIVAOtra/,
    ],
  ])('R04: %s', async (_what, { section, ...order }, words) => {
    const customer = withCae;
    const xml = sign(customer, { date: today, sections: [tickets(3, section)], ...order });
    const [state, code, detail] = await refusal(customer, xml);
    expect([state, code]).toEqual(['BR', 'R04']);
    expect(detail).toMatch(words);
  });

  test('a range may run over two CAEs that follow one another', async () => {
    const customer = await aCompany();
    await customer.cae(101, { number_start: 1, number_end: 2 });
    await customer.cae(101, { number_start: 3, number_end: 4 });
    const section = { type: 101, used: [[1, 4]], annulled: [[1, 4]] } as const;
    expect(await refusal(customer, sign(customer, { date: today, sections: [section] }))).toEqual(
      expect.arrayContaining(['AR']),
    );
  });

  test('R05: its sequence is not the next; a refused one uses none up', async () => {
    const customer = await aCompany();
    const sequences = [2, 0, 1, 1, 3, 2];
    const found: unknown[] = [];
    for (const [at, sequence] of sequences.entries()) {
      const xml = sign(customer, { date: yesterday, sequence, idEmisor: at });
      const [state, , detail] = await refusal(customer, xml);
      found.push([state, detail]);
    }
    expect(found).toEqual([
      ['BR', 'Secuencia esperada: 1'],
      ['BR', 'Secuencia esperada: 1'],
      ['AR', undefined],
      ['BR', 'Secuencia esperada: 2'],
      ['BR', 'Secuencia esperada: 2'],
      ['AR', undefined],
    ]);
  });

  test('R06: its day has not come; the same bytes are taken when it has', async () => {
    const other = await aSimulator();
    try {
      const customer = await aCompany(other.url);
      const xml = sign(customer, { date: daysFrom(today, 1) });
      expect(await refusal(customer, xml)).toEqual(expect.arrayContaining(['BR', 'R06']));
      other.hurry(86_400_000);
      expect(await refusal(customer, xml)).toEqual(expect.arrayContaining(['AR']));
    } finally {
      await other.stop();
    }
  });

  test('exception 109: the same bytes were accepted before, by whatever way they come', async () => {
    const customer = await aCompany();
    const xml = sign(customer, { date: yesterday });
    expect(field((await send(customer, xml)).payload, 'Estado')).toBe('AR');
    const again = (await send(customer, xml)).payload;
    expect([field(again, 'codigo'), field(again, 'Estado')]).toEqual(['109', undefined]);
    expect(await reportsOf(customer)).toHaveLength(1);
  });
});

describe('what the portal orders', () => {
  const order = (customer: Customer, kind: string, times: number) =>
    portal(simulator.url, 'PUT', `/portal/report-faults/${customer.rut}`, { kind, times });

  test('LOST: kept and judged, and no answer goes out; the same bytes get 109', async () => {
    const customer = await aCompany();
    await order(customer, 'LOST', 2);
    const xml = sign(customer, { date: yesterday, idEmisor: 55 });
    await expect(send(customer, xml)).rejects.toThrow();
    expect(await reportsOf(customer)).toMatchObject([{ id_emisor: 55, status: 'DR' }]);
    // A refused one is lost, too, and judged anew when it comes again.
    const wrong = sign(customer, { date: yesterday, sequence: 9 });
    await expect(send(customer, wrong)).rejects.toThrow();
    expect(field((await send(customer, wrong)).payload, 'Motivo')).toBe('R05');
    expect(field((await send(customer, xml)).payload, 'codigo')).toBe('109');
  });

  test('FAULT: so many SOAP faults, and nothing is kept', async () => {
    const customer = await aCompany();
    await order(customer, 'FAULT', 2);
    const xml = sign(customer, { date: yesterday });
    for (const status of [500, 500, 200]) expect((await send(customer, xml)).status).toBe(status);
    expect(await reportsOf(customer)).toHaveLength(1);
  });

  test('DIFFERS: ER, although the receipts say the same', async () => {
    const customer = await aCompany();
    await order(customer, 'DIFFERS', 1);
    await report(customer, { date: yesterday });
    await report(customer, { date: yesterday, sequence: 2 });
    expect((await reportsOf(customer)).map(({ status }) => status)).toEqual(['FR', 'DR']);
    await order(customer, 'DIFFERS', 1);
    await report(customer, { date: yesterday, sequence: 3 });
    expect(await lastOf(customer)).toMatchObject({ status: 'ER', reasons: [{ code: null }] });
  });

  test('an outage refuses reports and questions about them', async () => {
    const customer = await aCompany();
    await portal(simulator.url, 'PUT', '/portal/outage', { seconds: 60 });
    expect((await send(customer, sign(customer, { date: yesterday }))).status).toBe(503);
    await portal(simulator.url, 'PUT', '/portal/outage', { seconds: 0 });
    expect(await reportsOf(customer)).toEqual([]);
  });

  test.each([
    ['PUT', '/portal/report-faults/12', { kind: 'LOST', times: 1 }],
    ['PUT', '/portal/report-faults/210154140015', { kind: 'LATE', times: 1 }],
    ['PUT', '/portal/report-faults/210154140015', { kind: 'LOST', times: -1 }],
    ['GET', '/portal/reports?date=2026-02-30', undefined],
    ['GET', '/portal/reports?day=2026-02-03', undefined],
    ['POST', '/portal/regularizations', { rut: '210154140015' }],
  ])('%s %s %j is refused', async (method, path, body) => {
    expect((await portal(simulator.url, method, path, body)).status).toBe(400);
  });

  test('a receipt refused with E06 is accepted by POST /portal/regularizations, and no other', async () => {
    const customer = await aCompany();
    const cae = await customer.cae(101);
    const names = ['Producto', 'SIM REJECT E06', 'SIM REJECT E05'];
    await issue(customer, cae, 101, [1, 2, 3], (number) => names[number - 1] ?? '');
    const regularize = (numero: number) =>
      portal(simulator.url, 'POST', '/portal/regularizations', {
        rut: customer.rut,
        cfe_type_code: '101',
        serie: 'A',
        numero,
      });
    const stateOf = async (number: number) =>
      field(
        (
          await customer.consult(
            'EFACCONSULTARESTADOCFE',
            `<dgi:Cfeid><dgi:TipoCFE>101</dgi:TipoCFE><dgi:Serie>A</dgi:Serie><dgi:Nro>${number}</dgi:Nro></dgi:Cfeid>`,
          )
        ).envelope,
        'EstadoCFE',
      );

    expect(await stateOf(2)).toBe('BE');
    expect((await Promise.all([1, 2, 3, 4].map(regularize))).map(({ status }) => status)).toEqual([
      400, 201, 400, 404,
    ]);
    expect(await stateOf(2)).toBe('AE');
    expect((await regularize(2)).status).toBe(400);
    await report(customer, {
      date: today,
      sections: [tickets(2, { used: [[1, 3]], annulled: [[3, 3]] })],
    });
    expect(await lastOf(customer)).toMatchObject({ status: 'DR', reasons: [] });
  });
});

describe('consultations', () => {
  const ask = async (customer: Customer, more: string, date = yesterday) =>
    (
      await customer.consult(
        'EFACCONSULTARENVIOSREPORTE',
        `<dgi:Consultaenviosreporte><dgi:FechaResumen>${date}</dgi:FechaResumen>${more}</dgi:Consultaenviosreporte>`,
      )
    ).envelope;
  const rowsIn = (envelope: string) =>
    fields(envelope, 'IdEmisor').map((id, at) => [id, fields(envelope, 'Estado')[at]]);

  test('EFACCONSULTARENVIOSREPORTE lists the caller’s reports of a day as they stand now', async () => {
    const customer = await aCompany();
    const ids: (string | undefined)[] = [];
    for (const [idEmisor, sequence] of [
      [31, 1],
      [32, 5],
      [33, 2],
    ] as const)
      ids.push(field(await report(customer, { date: yesterday, idEmisor, sequence }), 'IDReceptor'));
    const all = await ask(customer, '');
    expect(all).toContain('WS_eFactura_Consultas.EFACCONSULTARENVIOSREPORTEResponse');
    expect(fields(all, 'IdReceptor')).toEqual(ids);
    expect(field(all, 'FechaHoraRecepcion')).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/);
    simulator.hurry(1_000);
    expect(
      rowsIn(await ask(customer, '<dgi:Secuencia>0</dgi:Secuencia><dgi:IdEmisor>0</dgi:IdEmisor>')),
    ).toEqual([
      ['31', 'FR'],
      ['32', 'BR'],
      ['33', 'DR'],
    ]);
    expect(rowsIn(await ask(customer, '<dgi:Secuencia>2</dgi:Secuencia>'))).toEqual([['33', 'DR']]);
    expect(rowsIn(await ask(customer, '<dgi:IdEmisor>32</dgi:IdEmisor>'))).toEqual([['32', 'BR']]);
    expect(rowsIn(await ask(customer, '', today))).toEqual([]);
    expect(rowsIn(await ask(await aCompany(), ''))).toEqual([]);
    expect(await ask(customer, '', '20260310')).toContain('Fault');
  });

  test('EFACCONSULTARRESPUESTAREPORTE gives the answer again, word for word, to its owner only', async () => {
    const customer = await aCompany();
    const ack = await report(customer, { date: yesterday, idEmisor: 9 });
    const again = (who: Customer) =>
      who.consult(
        'EFACCONSULTARRESPUESTAREPORTE',
        `<dgi:Consultarespuestareporte><dgi:IdReceptor>${field(ack, 'IDReceptor')}</dgi:IdReceptor></dgi:Consultarespuestareporte>`,
      );
    const answer = await again(customer);
    expect(answer.envelope).toContain('<Ackrepdiario>');
    expect(answer.payload).toBe(ack);
    expect((await again(await aCompany())).payload).toBe('');
  });
});

test('reports, faults, rates and what was annulled are there after a restart', async () => {
  const first = await aSimulator();
  const customer = await aCompany(first.url);
  const cae = await customer.cae(101);
  await issue(customer, cae, 101, [1]);
  const xml = sign(customer, { date: today, sections: [tickets(1, { used: [[1, 2]], annulled: [[2, 2]] })] });
  expect(field((await send(customer, xml)).payload, 'Estado')).toBe('AR');
  await portal(first.url, 'PUT', `/portal/report-faults/${customer.rut}`, { kind: 'FAULT', times: 1 });
  await portal(first.url, 'PUT', '/portal/rates/2026-03-10', { USD: '33.25' });
  await first.close();

  const second = await aSimulator({ dataDir: first.dataDir });
  try {
    const back = new Customer(second.url, customer.keys, customer.rut, 'production');
    expect((await send(back, xml)).status).toBe(500);
    expect(field((await send(back, xml)).payload, 'codigo')).toBe('109');
    second.hurry(60_000);
    const { items } = (await portal(second.url, 'GET', `/portal/reports?rut=${customer.rut}`)).json as {
      items: Item[];
    };
    expect(items).toMatchObject([
      { status: 'DR', sha256: createHash('sha256').update(xml).digest('hex'), date: today },
    ]);
    back.nextIdemisor();
    expect(field(await issue(back, cae, 101, [2]), 'Motivo')).toBe('E01');
    expect((await portal(second.url, 'PUT', '/portal/rates/2026-03-10', {})).json).toMatchObject({
      rates: { USD: '33.25' },
    });
  } finally {
    await second.stop();
  }
});
