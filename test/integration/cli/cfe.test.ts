import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { issueCfe } from '../../../src/commands/receipts/issueCfe.ts';
import { storeAttempts } from '../../../src/db/authority/attempts.ts';
import { Cfe } from '../../../src/db/entities/receipts.ts';
import { recordAudit } from '../../../src/db/operations/audit.ts';
import { markStuck } from '../../../src/db/receipts/cfes.ts';
import type { AuthorityCallRecord } from '../../../src/domain/authority/attempt.ts';
import type { StuckReason } from '../../../src/domain/authority/stuckReason.ts';
import { formatCfeId } from '../../../src/domain/receipts/cfeId.ts';
import type { RejectionReason } from '../../../src/domain/receipts/rejection.ts';
import { aRequestKey } from '../../support/api/requestKeys.ts';
import { type Cli, cliOn } from '../../support/cli.ts';
import { anAccount } from '../../support/commandDeps.ts';
import { cloneDatabase, type TestDatabase } from '../../support/database/database.ts';
import { aReadyEnterprise } from '../../support/enterprises/enterprises.ts';
import { freePort } from '../../support/processes/services.ts';
import { aCfeBody } from '../../support/receipts/cfeBodies.ts';
import { fromJson } from '../../support/receipts/exactJson.ts';
import { theSobreOf } from '../../support/receipts/pendingCfes.ts';
import { webhookDeps } from '../../support/webhooks/deliveries.ts';

interface Row {
  rut?: string;
  cfe_id: string;
  stuck_reason: string | null;
  outcome?: string;
  message?: string;
}

describe('cfe list, cfe show and cfe retry', () => {
  let db: TestDatabase;
  let cli: Cli;
  let accountId: string;
  let [rut, other] = ['', ''];
  /** Which cfe_ids stand how. */
  const ids: Record<string, string> = {};
  beforeAll(async () => {
    db = await cloneDatabase();
    cli = cliOn(db.urlOf('operator'), { TEMPORAL_ADDRESS: `127.0.0.1:${await freePort()}` });
    accountId = await anAccount(db.orm);
    rut = await aReadyEnterprise(db.orm, accountId);
    other = await aReadyEnterprise(db.orm, accountId);
    ids['well'] = await aCfe(rut);
    ids['signing'] = await aCfe(rut, { stuck: 'signing' });
    ids['undecided'] = await aCfe(rut, { stuck: 'undecided', status: 'RECEIVED' });
    ids['abandoned'] = await aCfe(rut, { rejected: ['abandoned'] });
    ids['toOthers'] = await aCfe(rut, { rejected: ['abandoned', 'duplicate.not_ours'] });
    ids['noteInVain'] = await aCfe(rut, { rejected: ['reference.rejected'] });
    ids['rejected'] = await aCfe(rut, { rejected: ['E05'] });
    ids['withoutReason'] = await aCfe(rut, { rejected: [] });
    ids['refused'] = await aCfe(rut, { rejected: ['S03'] });
    ids['repeated'] = await aCfe(rut, { rejected: ['E05', 'E02'] });
    ids['waitedFor'] = await aCfe(rut, { rejected: ['E09'] });
    ids['undecidedYet'] = await aCfe(rut, { rejected: ['E06'] });
    ids['undecidedAndWrong'] = await aCfe(rut, { rejected: ['E06', 'E05'] });
    ids['elsewhere'] = await aCfe(other, { stuck: 'signing' });
  });
  afterAll(() => db[Symbol.asyncDispose]());

  async function aCfe(
    of: string,
    wishes: { stuck?: StuckReason; status?: 'RECEIVED'; rejected?: string[] } = {},
  ): Promise<string> {
    const deps = webhookDeps(db.orm);
    const body = fromJson(JSON.stringify(aCfeBody()));
    const cfe = await issueCfe(deps, { accountId, rut: of, environment: 'production', body });
    const em = db.orm.em.fork();
    const { stuck, status, rejected } = wishes;
    await theSobreOf(db.orm, cfe.id);
    if (status) await em.nativeUpdate(Cfe, { id: cfe.id }, { status });
    if (stuck) await markStuck(em, [cfe.id], stuck);
    if (rejected) {
      const rejection = rejected.map((code): RejectionReason => ({ code, message: code, detail: null }));
      await em.nativeUpdate(Cfe, { id: cfe.id }, { status: 'REJECTED', rejection, settledAt: new Date() });
    }
    return formatCfeId(cfe);
  }
  const list = async (...filter: string[]): Promise<string[]> =>
    (await cli.json<Row[]>('cfe', 'list', '--rut', rut, ...filter)).map(({ cfe_id }) => cfe_id);
  const dryRun = async (...words: string[]) =>
    (await cli.json<Row[]>('cfe', 'retry', ...words, '--reason', 'look', '--dry-run')).map(
      (row) => [row.rut, row.cfe_id, row.outcome] as const,
    );
  const named = (...names: string[]) => names.map((name) => ids[name] ?? '');

  test('list without --rut: of all enterprises, by the names that people have of a CFE', async () => {
    const found = async (...filter: string[]): Promise<string[]> =>
      (await cli.json<Row[]>('cfe', 'list', ...filter)).map((row) => `${row.rut} ${row.cfe_id}`);
    const em = db.orm.em.fork();
    const caes = [{}, { type: 'EFACTURA', serie: 'BC', from: 70 }] as const;
    const third = await aReadyEnterprise(db.orm, accountId, { caes: [...caes] });
    await aCfe(third);
    await em.nativeUpdate(Cfe, { rut: third }, { requestId: 'request-0001', createdAt: new Date(0) });
    const body = fromJson(JSON.stringify(aCfeBody({ type: 'EFACTURA' })));
    const idempotency = aRequestKey('pedido 7');
    const input = { accountId, rut: third, environment: 'production', body, idempotency } as const;
    await issueCfe(webhookDeps(db.orm), input);
    expect(await found('--serie', 'BC', '--numero', '70')).toEqual([`${third} 111-1`]);
    expect(await found('--receiver', '219999830019')).toEqual([`${third} 111-1`]);
    expect(await found('--idempotency-key', 'pedido 7')).toEqual([`${third} 111-1`]);
    expect(await found('--request-id', 'request-0001')).toEqual([`${third} 101-1`]);
    expect(await found('--created-to', '1970-01-02')).toEqual([`${third} 101-1`]);
    expect(await found('--type', 'EFACTURA', '--created-from', '2026-01-01')).toEqual([`${third} 111-1`]);
    expect(await found('--from', '2011-01-01', '--to', '2011-01-01')).toEqual([]);
    expect((await found('--limit', '100')).length).toBe(16);
    // What waits for a person is work, wherever it was issued: `cfe retry` acts on both.
    const stuckInSandbox = { environment: 'sandbox', stuckReason: 'verdict.other_cfe' } as const;
    await em.nativeUpdate(Cfe, { rut: third, idempotencyKey: null }, stuckInSandbox);
    expect(await found('--stuck-reason', 'verdict.other_cfe')).toEqual([`${third} 101-1`]);
    expect(await found('--needs-support')).toContain(`${third} 101-1`);
    expect(await found('--needs-support', '--environment', 'production')).not.toContain(`${third} 101-1`);
    await em.nativeUpdate(Cfe, { rut: third }, { stuckReason: null });
    const { message } = await cli.refusal('cfe', 'list', '--created-from', 'yesterday');
    expect(message).toContain('a date and time with its zone');
  });

  test('list --needs-support: those that need attention, newest first', async () => {
    expect(await list('--needs-support')).toEqual(named('undecided', 'signing'));
    expect(await list('--needs-support', '--status', 'PENDING')).toEqual(named('signing'));
  });

  test('list --stuck-reason: those that wait for that reason', async () => {
    expect(await list('--stuck-reason', 'undecided')).toEqual(named('undecided'));
    expect(await list('--stuck-reason', 'authority.user')).toEqual([]);
  });

  test('list --annulled: all that were rejected, but for numbers that stay, that may be accepted yet, or are others’', async () => {
    expect(await list('--annulled')).toEqual(
      named('undecidedAndWrong', 'refused', 'withoutReason', 'rejected', 'noteInVain', 'abandoned'),
    );
    expect(await list('--annulled', '--status', 'PENDING')).toEqual([]);
  });

  test('retry with filters, dry: the oldest first, over all enterprises', async () => {
    const signing = [rut, ids['signing'], 'dry_run'];
    const undecided = [rut, ids['undecided'], 'dry_run'];
    const elsewhere = [other, ids['elsewhere'], 'dry_run'];
    expect(await dryRun('--environment', 'production')).toEqual([signing, undecided, elsewhere]);
    expect(await dryRun('--environment', 'production', '--limit', '2')).toEqual([signing, undecided]);
    expect(await dryRun('--environment', 'sandbox')).toEqual([]);
    expect(await dryRun('--stuck-reason', 'signing')).toEqual([signing, elsewhere]);
    expect(await dryRun('--status', 'RECEIVED')).toEqual([undecided]);
    expect(await dryRun('--rut', other)).toEqual([elsewhere]);
    expect(await dryRun(rut, '--stuck-reason', 'signing')).toEqual([signing]);
    expect(await list('--needs-support')).toEqual(named('undecided', 'signing'));
  });

  test('retry of one, dry: what would be asked for, or why nothing', async () => {
    const dry = (name: string) =>
      cli.json<Row>('cfe', 'retry', rut, ids[name] ?? '', '--reason', 'look', '--dry-run');
    expect(await dry('signing')).toMatchObject({
      rut,
      cfe_id: ids['signing'],
      environment: 'production',
      needs_support: true,
      stuck_reason: 'signing',
      history: expect.any(Array),
      action: 'retry',
      outcome: 'dry_run',
      message: 'Would be done: retry.',
    });
    expect(await dry('abandoned')).toMatchObject({
      outcome: 'nothing_to_do',
      message: 'Nothing to do: it has its verdict, REJECTED.',
    });
    expect(await dry('well')).toMatchObject({ outcome: 'nothing_to_do' });
  });

  test('show: where it stands and since when, what it waits for, what can be done, and what happened', async () => {
    const cfe = await db.orm.em
      .fork()
      .findOneOrFail(Cfe, { rut, stuckReason: 'undecided' }, { orderBy: { sequence: 'asc' } });
    const call = (at: string, answer: string, result: string): AuthorityCallRecord => ({
      operation: 'askVerdict',
      answer,
      result,
      at: new Date(at),
      milliseconds: 120,
      detail: null,
      reasons: [{ code: '100', message: 'Excepci\u00f3n\u001b[31m', detail: null }],
      request: '<x/>',
      response: null,
    });
    const first = call('2026-11-20T12:00:00Z', 'code 100', 'repeat');
    const last = call('2026-11-20T12:05:00Z', 'code 100', 'repeat');
    await storeAttempts(db.orm.em.fork(), cfe.id, [first, last], null);
    const act = { action: 'cfe.retry', subject: cfe.id, rut, requestId: 'request-1' } as const;
    const origin = { keyId: null, address: '198.51.100.7' };
    const ana = { ...act, actor: 'console:ana@example.com', origin, reason: 'seen to' } as const;
    await db.orm.em.fork().transactional(async (em) => {
      recordAudit(em, ana, new Date());
      recordAudit(em, { ...ana, outcome: 'retried' }, new Date());
      recordAudit(em, { ...ana, action: 'cfe.settle', requestId: 'request-2' }, new Date());
      const typed = { actor: 'unverified', reason: 'eva: mended', requestId: 'typed' } as const;
      recordAudit(em, { ...act, ...typed, outcome: 'refused' }, new Date());
    });

    const shown = await cli.json('cfe', 'show', rut, ids['undecided'] ?? '');
    expect(shown).toMatchObject({
      explanation: expect.stringContaining('has not decided in the time allowed'),
      next: 'support',
      fitting_actions: ['retry', 'settle'],
      last_error: 'code 100: An error inside DGI: we ask again.',
      attempts: [{ operation: 'askVerdict', answer: 'code 100', count: 2 }],
      stuck: [{ reason: 'undecided', until: null }],
      history: expect.arrayContaining([{ at: cfe.createdAt.toISOString(), what: 'numbered' }]),
      acts: [
        { actor: 'console:ana@example.com', address: '198.51.100.7', verified: true, outcome: null },
        { actor: 'console:ana@example.com', verified: true, outcome: 'retried', request_id: 'request-1' },
        { actor: 'console:ana@example.com', verified: true, outcome: null, request_id: 'request-2' },
        { actor: 'unverified', address: null, verified: false, outcome: 'refused' },
      ],
    });
    const text = (await cli.call('cfe', 'show', rut, ids['undecided'] ?? '')).stdout;
    for (const words of [
      `RECEIVED, since ${String(shown['since'])}`,
      'You can     retry:',
      'settle: Asks DGI what it has and stores the answer.',
      'An error inside DGI: we ask again (100)',
      'We asked DGI for its answer · first of 2 · 120 ms',
      'Needs attention: no answer for too long',
      'Retry: the step was repeated',
      'console:ana@example.com from 198.51.100.7: seen to',
      'Ask DGI: requested; no result yet',
      'Retry: not done; nothing changed',
      'unverified: requested in Temporal, which has no users: eva: mended',
    ])
      expect(text).toContain(words);
    // What was asked for and done stands there once.
    expect(text.match(/Retry: requested/)).toBeNull();
    expect(text).not.toContain('\u001b');
    const audit = await cli.json<Record<string, unknown>[]>(
      'audit',
      'list',
      '--rut',
      rut,
      '--cfe',
      ids['undecided'] ?? '',
    );
    expect(audit.map((row) => [row['actor'], row['verified'], row['request_id']])).toEqual([
      ['console:ana@example.com', true, 'request-1'],
      ['console:ana@example.com', true, 'request-1'],
      ['console:ana@example.com', true, 'request-2'],
      ['unverified', false, 'typed'],
    ]);
  });

  test('show of one that ended, and of one that is to be signed', async () => {
    expect(await cli.json('cfe', 'show', rut, ids['undecidedYet'] ?? '')).toMatchObject({
      next: 'portal',
      fitting_actions: ['settle', 'abandon'],
      explanation: expect.stringContaining('DGI’s portal within 60 days'),
    });
    expect(await cli.json('cfe', 'show', rut, ids['rejected'] ?? '')).toMatchObject({
      next: 'ended',
      fitting_actions: [],
      last_error: null,
    });
    expect(await cli.json('cfe', 'show', rut, ids['well'] ?? '')).toMatchObject({
      next: 'sign',
      attempts: [],
      document: {
        header: { receiver: null, totals: { currency: 'UYU', pay_amount: 122, tax_basic_amount: 22 } },
        details: [{ line_number: 1, iva_type: 'BASIC_RATE', count: 1, item_amount: 100 }],
        references: [],
      },
      notes: [],
    });
    const { stdout } = await cli.call('cfe', 'show', rut, ids['well'] ?? '');
    expect(stdout).toMatch(/^ {4}1 {2}BASIC_RATE {2}1 × 100\.00 = 100\.00 {2}\S/m);
    expect(stdout).toContain('VAT 22.00, total 122.00, to pay 122.00, prices without VAT');
  });

  test('retry refuses what is not there, what is no reason, and to act while Temporal is away', async () => {
    expect(await cli.refusal('cfe', 'retry', rut, '101-999', '--reason', 'x')).toEqual({
      code: 'NOT_FOUND',
      message: `The enterprise ${rut} has no CFE 101-999 in production.`,
    });
    expect(await cli.refusal('cfe', 'retry', rut, ids['signing'] ?? '', '--reason', ' ')).toMatchObject({
      code: 'INVALID_INPUT',
    });
    const away = { code: 'UNAVAILABLE', message: 'Temporal cannot be reached.' };
    expect(await cli.refusal('cfe', 'retry', rut, ids['signing'] ?? '', '--reason', 'x')).toEqual(away);
    const unset = cliOn(db.urlOf('operator'), { TEMPORAL_ADDRESS: undefined });
    expect(await unset.refusal('cfe', 'retry', rut, ids['signing'] ?? '', '--reason', 'x')).toMatchObject({
      code: 'UNAVAILABLE',
      message: expect.stringContaining('TEMPORAL_ADDRESS'),
    });
    expect(await list('--needs-support')).toEqual(named('undecided', 'signing'));
  });
});
