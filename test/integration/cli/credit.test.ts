import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { issueCfe } from '../../../src/commands/receipts/issueCfe.ts';
import { OutboxMessage } from '../../../src/db/entities/operations.ts';
import { Cfe } from '../../../src/db/entities/receipts.ts';
import { listAudit } from '../../../src/db/operations/audit.ts';
import type { Environment } from '../../../src/domain/receipts/cfeTypes.ts';
import { type Cli, cliOn } from '../../support/cli.ts';
import { anAccount, idleIssuing } from '../../support/commandDeps.ts';
import { cloneDatabase, type TestDatabase } from '../../support/database/database.ts';
import { aKeyPair } from '../../support/database/sealing.ts';
import { aReadyEnterprise, giveCae, giveCertificate } from '../../support/enterprises/enterprises.ts';
import { giveCfes } from '../../support/mail/receipts.ts';
import { aCfeBody, type Body } from '../../support/receipts/cfeBodies.ts';
import { fromJson } from '../../support/receipts/exactJson.ts';

interface Note {
  credits: string;
  cfe_id: string;
  cfe_type: string;
  pay_amount: number;
  idempotency_key: string;
  repeated: boolean;
}
interface Credit {
  amount: number;
  lines: { line_number: number; count: number; amount: number }[];
  notes: { cfe_id: string; cfe_status: string; amount: number }[];
}

const REASON = ['--reason', 'Devolución', '--by', 'Ana Sur'];
let db: TestDatabase;
let cli: Cli;
let account: string;
beforeAll(async () => {
  db = await cloneDatabase();
  cli = cliOn(db.urlOf('operator'), {
    CFE_SEALING_KEY: aKeyPair('k1').publicText,
    CFE_CERTIFICATE_CA_FILE: 'any',
  });
  account = await anAccount(db.orm);
});
afterAll(() => db[Symbol.asyncDispose]());

/** A receipt of two lines, of 122 pesos and of four books of 25: RUT and cfe_id. */
async function aReceipt(environment: Environment = 'production', of?: string): Promise<[string, string]> {
  const rut = of ?? (await aReadyEnterprise(db.orm, account));
  const body = aCfeBody() as { header: { totals: Body }; details: Body[] } & Body;
  const all = { total_amount: 222, pay_amount: 222, line_count: 2 };
  Object.assign(body.header.totals, { tax_free_amount: 100, ...all });
  const book = { item_name: 'Libro', count: 4, unit_price: 25, item_amount: 100 };
  body.details.push({ line_number: 2, iva_type: 'EXEMPT', ...book });
  const deps = { orm: db.orm, clock: () => new Date(), ...idleIssuing };
  const json = fromJson(JSON.stringify(body));
  const { sequence } = await issueCfe(deps, { accountId: account, rut, environment, body: json });
  return [rut, `101-${sequence}`];
}
const note = (of: readonly string[], ...words: string[]) =>
  cli.json<Note>('cfe', 'credit-note', ...of, ...REASON, ...words);
const credit = (of: readonly string[], ...words: string[]) =>
  cli.json<Credit>('cfe', 'credit', ...of, ...words);

test('what is left, a dry run, and notes of each kind', async () => {
  const of = await aReceipt();
  expect(await credit(of)).toMatchObject({
    cfe_id: of[1],
    currency: 'UYU',
    amount: 222,
    lines: [
      { line_number: 1, count: 1, amount: 100 },
      { line_number: 2, count: 4, amount: 100 },
    ],
    notes: [],
  });
  const planned = await note(of, '--lines', '2=1.5', '--line-amounts', '1=10', '--dry-run');
  expect(planned).toMatchObject({ credits: of[1], cfe_type: 'ETICKET_NC', pay_amount: 49.7 });
  expect((await credit(of)).notes).toEqual([]);

  const parts = await note(of, '--lines', '2=1.5', '--line-amounts', '1=10');
  expect(parts).toMatchObject({ cfe_id: '102-1', pay_amount: 49.7, repeated: false });
  expect((await note(of, '--percent', '10')).pay_amount).toBe(22.2);
  expect((await note(of, '--amount', '0.10')).pay_amount).toBe(0.1);
  expect((await note(of)).pay_amount).toBe(150);
  const { amount, lines, notes } = await credit(of);
  expect([amount, lines, notes.map((one) => one.amount)]).toEqual([0, [], [49.7, 22.2, 0.1, 150]]);

  const em = db.orm.em.fork();
  const first = await em.findOneOrFail(Cfe, { rut: of[0], type: 'ETICKET_NC', sequence: 1 });
  const acts = await listAudit(em, { subject: first.id }, 10);
  expect(acts).toMatchObject([
    { actor: 'cli:Ana Sur', action: 'cfe.credit', rut: of[0], reason: 'Devolución' },
  ]);
});

test('a command that is run again, or twice at once, answers the first note', async () => {
  const of = await aReceipt();
  const twins = await Promise.all([note(of, '--percent', '10'), note(of, '--percent', '10')]);
  expect(new Set(twins.map(({ cfe_id }) => cfe_id)).size).toBe(1);
  expect(twins.filter(({ repeated }) => repeated)).toHaveLength(1);
  const again = await note(of, '--percent', '10.0');
  expect(again).toMatchObject({ cfe_id: twins[0]?.cfe_id, repeated: true });
  const other = await note(of, '--percent', '10', '--idempotency-key', 'second of two');
  expect(other).toMatchObject({ repeated: false, idempotency_key: 'cli:second of two' });
  expect((await credit(of)).notes).toHaveLength(2);
  const reused = ['--percent', '20', '--idempotency-key', 'second of two'];
  const { code } = await cli.refusal('cfe', 'credit-note', ...of, ...REASON, ...reused);
  expect(code).toBe('IDEMPOTENCY_KEY_REUSED');
});

test('asked for again in other words, or after a rejection, none is issued, and the first is named', async () => {
  const of = await aReceipt();
  const { cfe_id: first } = await note(of, '--lines', '2=1,1=0.5');
  const words = ['cfe', 'credit-note', ...of, '--lines', '1=0.5,2=1'] as const;
  const reworded = await cli.refusal(...words, '--reason', 'goods are back');
  expect([reworded.code, reworded.message]).toEqual([
    'IDEMPOTENCY_KEY_REUSED',
    expect.stringContaining(first),
  ]);

  const em = db.orm.em.fork();
  const rejected = { status: 'REJECTED', settledAt: new Date(), rejection: [{ code: 'E05', detail: null }] };
  await em.nativeUpdate(Cfe, { rut: of[0], type: 'ETICKET_NC' }, rejected as never);
  expect((await cli.refusal(...words, ...REASON)).message).toContain('--idempotency-key');
  expect((await note(of, '--lines', '1=0.5,2=1', '--idempotency-key', 'again')).repeated).toBe(false);
});

test('different notes at once never credit more than there is', async () => {
  const of = await aReceipt();
  const calls = ['60', '70', '80'].map((percent) =>
    cli.call('cfe', 'credit-note', ...of, ...REASON, '--percent', percent, '--json'),
  );
  expect((await Promise.all(calls)).filter(({ code }) => code === 1)).toHaveLength(2);
  expect((await credit(of)).notes).toHaveLength(1);
});

test('what cannot be credited is refused with its field', async () => {
  const of = await aReceipt();
  const refused = async (...words: string[]) =>
    (await cli.refusal('cfe', 'credit-note', ...of, ...REASON, ...words)).message;
  expect(await refused('--percent', '100.5')).toMatch(/^percent: must come to at most the 222\.00 UYU/);
  expect(await refused('--percent', '1', '--amount', '1')).toContain(
    'at most one of lines, percent and amount',
  );
  expect(await refused('--lines', '3=1')).toContain('must be a line of the receipt');
  expect(await refused('--lines', '3:1')).toContain('such as 1=2,3=0.5');
  expect(await refused('--amount', '1,5')).toContain('a number such as 12.5');
  const { message } = await cli.refusal('cfe', 'credit', of[0], '101-999');
  expect(message).toContain('has no CFE 101-999');
  expect((await credit(of)).notes).toEqual([]);
});

test('in the sandbox too', async () => {
  const rut = await aReadyEnterprise(db.orm, account);
  await giveCertificate(db.orm, rut, { environment: 'sandbox' });
  for (const type of ['ETICKET', 'ETICKET_NC'] as const)
    await giveCae(db.orm, rut, { environment: 'sandbox', type, serie: 'T' });
  const of = await aReceipt('sandbox', rut);
  const sandbox = ['--environment', 'sandbox'];
  expect((await note(of, ...sandbox)).pay_amount).toBe(222);
  expect((await credit(of, ...sandbox)).amount).toBe(0);
});

test('a note that nothing waits for gets its sobre, whose run a worker’s relay starts', async () => {
  const rut = await aReadyEnterprise(db.orm, account);
  const [cfe] = await giveCfes(db.orm, { accountId: account, rut }, { status: 'ACCEPTED' });
  const { cfe_id } = await note([rut, `101-${cfe?.sequence}`]);
  const em = db.orm.em.fork();
  const { workflowId } = await em.findOneOrFail(Cfe, { rut, type: 'ETICKET_NC' });
  expect(workflowId).toMatch(new RegExp(`^cfe:${rut}:${cfe_id}:`));
  expect(await em.count(OutboxMessage, { workflowId: String(workflowId) })).toBe(1);
});
