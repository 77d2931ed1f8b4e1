import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  aCustomer,
  aSimulator,
  type CaeFile,
  type Customer,
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
const cfe = (name: string): string => {
  lastNumber += 1;
  return customer.cfe({ type: 101, cae, number: lastNumber, name });
};
const row = async (number: number): Promise<unknown> =>
  ((await portal(simulator.url, 'GET', '/portal/ledger')).json as { items: { numero: number }[] }).items.find(
    ({ numero }) => numero === number,
  );

describe('a directive in the name of the first line', () => {
  test.each(['E05', 'E06', 'E08', 'E10', 'E14', 'E15'])(
    'SIM REJECT %s refuses the receipt with that code',
    async (code) => {
      const verdict = await customer.verdict([cfe(`SIM REJECT ${code}`), cfe('Yerba')]);
      expect([fields(verdict, 'Estado'), fields(verdict, 'Motivo')]).toEqual([['BE', 'AE'], [code]]);
    },
  );

  test('SIM REJECT gives way to what is really wrong', async () => {
    const verdict = await customer.verdict([cfe('SIM REJECT E14').replace('EMPRESA SA', 'EMPRESA SB')]);
    expect(fields(verdict, 'Motivo')).toEqual(['E04']);
  });

  test('SIM OBSERVE observes the receipt', async () => {
    const verdict = await customer.verdict([cfe('SIM OBSERVE'), cfe('SIM OBSERVE C12')]);
    expect([
      fields(verdict, 'Estado'),
      fields(verdict, 'Motivo'),
      field(verdict, 'CantCFCObservados'),
    ]).toEqual([['CE', 'CE'], ['C06', 'C12'], '2']);
    expect(verdict).toContain('<ObsCFC>');
  });

  test('SIM STATE FE says so once; then the verdict, the same for ever', async () => {
    const ack = (await customer.send(customer.sobre([cfe('SIM STATE FE DELAY 0')]))).payload;
    const ask = async () => (await customer.ask(field(ack, 'IDReceptor'), field(ack, 'Token'))).payload;
    expect(field(await ask(), 'codigo')).toBe('105');
    expect(field(await ask(), 'Estado')).toBe('FE');
    const verdict = await ask();
    expect(field(verdict, 'Estado')).toBe('AE');
    expect(await ask()).toBe(verdict);
  });

  test('SIM SOBRE S04 refuses the sobre, and leaves no row', async () => {
    const ack = (await customer.send(customer.sobre([cfe('SIM SOBRE S04')]))).payload;
    expect([field(ack, 'Estado'), fields(ack, 'Motivo')]).toEqual(['BS', ['S04']]);
    expect(await row(lastNumber)).toBeUndefined();
  });

  test('SIM DELAY 20 keeps the verdict back for 20 seconds', async () => {
    const ack = (await customer.send(customer.sobre([cfe('SIM DELAY 20')]))).payload;
    const ask = async () => (await customer.ask(field(ack, 'IDReceptor'), field(ack, 'Token'))).payload;
    expect(field(await ask(), 'codigo')).toBe('105');
    simulator.hurry(18_000);
    expect(field(await ask(), 'codigo')).toBe('105');
    simulator.hurry(2_000);
    expect(field(await ask(), 'Estado')).toBe('AE');
  });

  test('SIM LOST stores the sobre and drops the connection; the same bytes again are S08', async () => {
    const sobre = customer.sobre([cfe('SIM LOST')]);
    await expect(customer.send(sobre)).rejects.toThrow('fetch failed');
    expect(await row(lastNumber)).toMatchObject({ times_received: 1 });
    expect(field((await customer.send(sobre)).payload, 'Motivo')).toBe('S08');
    expect(await row(lastNumber)).toMatchObject({ times_received: 2 });
  });

  test('SIM FAULT 2 answers two SOAP faults, then as ever; the faults store and count nothing', async () => {
    const sobre = customer.sobre([cfe('SIM FAULT 2')]);
    for (let time = 1; time <= 2; time += 1) {
      const answer = await customer.send(sobre);
      expect([answer.status, field(answer.envelope, 'faultcode')]).toEqual([500, 'env:Server']);
      expect(await row(lastNumber)).toBeUndefined();
    }
    expect(field((await customer.send(sobre)).payload, 'Estado')).toBe('AS');
    expect(await row(lastNumber)).toMatchObject({ times_received: 1 });
    const other = customer.sobre([cfe('SIM FAULT 2')]);
    expect((await customer.send(other)).status).toBe(500);
  });

  test('SIM DOWN 30 stores the sobre, then every SOAP path refuses for 30 s while the portal goes on', async () => {
    const sobre = customer.sobre([cfe('SIM DOWN 30')]);
    const ack = (await customer.send(sobre)).payload;
    expect(field(ack, 'Estado')).toBe('AS');

    expect((await customer.ask('1', 'x')).status).toBe(503);
    expect((await fetch(`${simulator.url}/sandbox/ws_consultas`, { method: 'POST', body: 'x' })).status).toBe(
      503,
    );
    expect(await row(lastNumber)).toMatchObject({ times_received: 1 });
    expect((await fetch(`${simulator.url}/livez`)).status).toBe(200);

    simulator.hurry(30_000);
    expect(field(await customer.await(field(ack, 'IDReceptor'), field(ack, 'Token')), 'Estado')).toBe('AE');
    expect(field((await customer.send(sobre)).payload, 'Motivo')).toBe('S08');
    expect((await customer.ask('1', 'x')).status).toBe(200);
  });

  test('a name that only looks like a directive orders nothing', async () => {
    expect(fields(await customer.verdict([cfe('SIMIENTE LOST'), cfe('SIM REJECT E77')]), 'Estado')).toEqual([
      'AE',
      'AE',
    ]);
  });
});
