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
/** Sends the CFEs in one sobre; what it was answered, and how to ask for the verdicts. */
async function sent(cfes: readonly string[]) {
  const { payload } = await customer.send(customer.sobre(cfes));
  const ask = async () => (await customer.ask(field(payload, 'IDReceptor'), field(payload, 'Token'))).payload;
  return { payload, ask };
}
/** Which receipts an answer is about, with the state of each, and what the Caratula counts. */
const told = (ack: string) => ({
  states: fields(ack, 'Nro_ordinal').map((ordinal, at) => `${ordinal} ${fields(ack, 'Estado')[at]}`),
  counts: ['CantenSobre', 'CantResponden', 'CantCFEAceptados', 'CantCFERechazados', 'CantCFCObservados'].map(
    (name) => Number(field(ack, name)),
  ),
});
const ledgerOf = async (numero: number): Promise<unknown> =>
  ((await portal(simulator.url, 'GET', '/portal/ledger')).json as { items: { numero: number }[] }).items.find(
    (row) => row.numero === numero,
  );

describe('a sobre of many CFEs', () => {
  test('of 250: each is judged on its own', async () => {
    const names = Array.from({ length: 250 }, (_, at) => (at % 100 === 7 ? 'SIM REJECT E14' : 'Yerba'));
    const { payload, ask } = await sent(names.map(cfe));
    expect([field(payload, 'Estado'), field(payload, 'CantidadCFE')]).toEqual(['AS', '250']);

    await ask();
    simulator.hurry(1_000);
    const { states, counts } = told(await ask());

    expect(counts).toEqual([250, 250, 247, 3, 0]);
    expect(states.filter((state) => state.endsWith('BE'))).toEqual(['8 BE', '108 BE', '208 BE']);
  });

  test('those that are late are left out of the answer until then; the last answer names all and stays', async () => {
    const names = ['Yerba', 'SIM LATE 20', 'SIM REJECT E14', 'SIM OBSERVE LATE 40'];
    const { ask } = await sent(names.map(cfe));
    const late = lastNumber;
    expect(field(await ask(), 'codigo')).toBe('105');

    simulator.hurry(1_000);
    expect(told(await ask())).toEqual({ states: ['1 AE', '3 BE'], counts: [4, 2, 1, 1, 0] });
    expect(await ledgerOf(late)).toMatchObject({ verdict: null });
    simulator.hurry(20_000);
    expect(told(await ask())).toEqual({ states: ['1 AE', '2 AE', '3 BE'], counts: [4, 3, 2, 1, 0] });
    simulator.hurry(20_000);
    const last = await ask();
    expect(told(last)).toEqual({ states: ['1 AE', '2 AE', '3 BE', '4 CE'], counts: [4, 4, 2, 1, 1] });
    expect(await ask()).toBe(last);
  });

  test('where all are late there is no answer yet', async () => {
    const { ask } = await sent([cfe('SIM LATE 30'), cfe('SIM LATE 30')]);
    await ask();
    simulator.hurry(5_000);
    expect(field(await ask(), 'codigo')).toBe('105');
    simulator.hurry(25_000);
    expect(told(await ask()).counts).toEqual([2, 2, 2, 0, 0]);
  });

  test('one that is unknown is in no answer and no record, until it comes in another sobre', async () => {
    const lost = cfe('SIM UNKNOWN');
    const unknown = lastNumber;
    const { ask } = await sent([cfe('Yerba'), lost]);
    await ask();
    simulator.hurry(1_000);

    expect(told(await ask())).toEqual({ states: ['1 AE'], counts: [2, 1, 1, 0, 0] });
    expect(await ledgerOf(unknown)).toBeUndefined();
    const state = await customer.consult(
      'EFACCONSULTARESTADOCFE',
      `<d:Cfeid xmlns:d="http://dgi.gub.uy"><d:TipoCFE>101</d:TipoCFE><d:Serie>A</d:Serie><d:Nro>${unknown}</d:Nro></d:Cfeid>`,
    );
    expect(field(state.envelope, 'IdReceptor')).toBe('0');

    expect(told(await customer.verdict([lost])).states).toEqual(['1 AE']);
    expect(await ledgerOf(unknown)).toMatchObject({ verdict: 'AE', times_received: 1 });
  });

  test('a state that no rule covers is that of its own receipt, once', async () => {
    const { ask } = await sent([cfe('Yerba'), cfe('SIM STATE FE'), cfe('SIM LATE 9 STATE FE')]);
    await ask();
    simulator.hurry(1_000);
    expect(told(await ask()).states).toEqual(['1 AE', '2 FE']);
    expect(told(await ask()).states).toEqual(['1 AE', '2 AE']);
    simulator.hurry(9_000);
    expect(told(await ask()).states).toEqual(['1 AE', '2 AE', '3 FE']);
    expect(told(await ask()).states).toEqual(['1 AE', '2 AE', '3 AE']);
  });
});

describe('the wait that Fechahora asks for', () => {
  const waiting = (seconds: number) => portal(simulator.url, 'PUT', '/portal/query-delay', { seconds });

  test('is as it was set, from the next sobre on, and a question before it is answered "not yet"', async () => {
    const before = await sent([cfe('Yerba')]);
    expect((await waiting(300)).json).toEqual({ seconds: 300 });
    const { payload, ask } = await sent([cfe('Yerba')]);
    const at = (name: string): number => Date.parse(field(payload, name) ?? '');
    expect(at('Fechahora') - at('FecHRecibido')).toBe(300_000);

    simulator.hurry(298_000);
    expect(field(await ask(), 'codigo')).toBe('105');
    await before.ask();
    expect(told(await before.ask()).states).toEqual(['1 AE']);
    simulator.hurry(2_000);
    expect(told(await ask()).states).toEqual(['1 AE']);
  });

  test('one question after it is enough', async () => {
    await waiting(19);
    const { ask } = await sent([cfe('Yerba'), cfe('Yerba')]);
    simulator.hurry(19_000);
    expect(told(await ask()).states).toEqual(['1 AE', '2 AE']);
  });

  test('outlives a restart; nobody asks for more than an hour', async () => {
    await waiting(19);
    expect((await waiting(3_601)).status).toBe(400);
    await simulator.close();
    simulator = await aSimulator({ dataDir: simulator.dataDir });
    const again = await aCustomer(simulator.url, { rut: '214844360018' });
    const own = await again.cae(101);
    const { payload } = await again.send(again.sobre([again.cfe({ type: 101, cae: own, number: 1 })]));
    const at = (name: string): number => Date.parse(field(payload, name) ?? '');
    expect(at('Fechahora') - at('FecHRecibido')).toBe(19_000);
  });
});

test('the SOAP calls are counted by operation, those of an outage apart', async () => {
  const counted = async () => (await portal(simulator.url, 'GET', '/portal/calls')).json;
  const one = await aCustomer(simulator.url, { environment: 'sandbox' });
  await one.ask('1', 'x');
  await one.ask('1', 'x');
  await portal(simulator.url, 'PUT', '/portal/outage', { seconds: 60 });
  await one.ask('1', 'x');
  await portal(simulator.url, 'PUT', '/portal/outage', { seconds: 0 });

  expect(await counted()).toMatchObject({
    items: expect.arrayContaining([
      { environment: 'sandbox', operation: 'EFACCONSULTARESTADOENVIO', answered: 2, refused: 1 },
    ]),
  });
});
