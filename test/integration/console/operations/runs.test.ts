import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { AuditEntry, Run, RunItem } from '../../../../src/db/entities/operations.ts';
import { Cfe } from '../../../../src/db/entities/receipts.ts';
import { Webhook } from '../../../../src/db/entities/webhooks.ts';
import { storeRunOutcome } from '../../../../src/db/operations/runs.ts';
import { markStuck } from '../../../../src/db/receipts/cfes.ts';
import { refusalOf } from '../../../../src/words/refusals.ts';
import { type Browser, startConsole, type TestConsole } from '../../../support/console/console.ts';
import { aTroubledAccount, type Troubled } from '../../../support/console/consoleRows.ts';
import { cloneDatabase, type TestDatabase } from '../../../support/database/database.ts';

describe('bulk runs in the console, without script', () => {
  let db: TestDatabase;
  let site: TestConsole;
  let [ours, theirs]: Troubled[] = [];
  let support: Browser;
  beforeAll(async () => {
    db = await cloneDatabase();
    site = await startConsole(db.orm);
    ours = await aTroubledAccount(db.orm, { name: 'Zorzal', stuck: 'authority.certificate' });
    theirs = await aTroubledAccount(db.orm, { name: 'Teru', stuck: 'undecided' });
    support = await site.as(await site.anOperator('SUPPORT'));
  });
  afterAll(async () => {
    await site[Symbol.asyncDispose]();
    await db[Symbol.asyncDispose]();
  });

  const idOf = (to: string | null): string => to?.split('/').at(-1) ?? '';
  const runOf = (id: string): Promise<Run> => db.orm.em.fork().findOneOrFail(Run, { id });
  const subjects = async (id: string): Promise<string[]> =>
    (await db.orm.em.fork().find(RunItem, { runId: id }, { orderBy: { place: 'asc' } })).map(
      ({ subject }) => subject,
    );
  const stuckOf = async ({ rut }: Troubled): Promise<string[]> =>
    (
      await db.orm.em.fork().find(Cfe, { rut, stuckReason: { $ne: null } }, { orderBy: { createdAt: 'asc' } })
    ).map(({ id }) => id);
  const main = (text: string): string => /<main[\s\S]*<\/main>/.exec(text)?.[0] ?? '';

  test('from the reason to the preview, and from there to a run over all that were shown', async () => {
    const stuck = await support.get('/stuck?stuck_reason=authority.certificate');
    expect(stuck.status).toBe(200);
    expect(main(stuck.text)).toContain('Zorzal S.A.');
    expect(main(stuck.text).match(/<tr id="stuck-/g)).toHaveLength(3);
    expect(stuck.text).toContain('/runs/new?kind=abandon&amp;stuck_reason=authority.certificate');
    expect((await support.get('/stuck?rut=' + ours?.rut)).text).not.toContain(
      '/runs/new?kind=abandon&amp;rut=',
    );

    const path = '/runs/new?kind=retry&stuck_reason=authority.certificate';
    const preview = await support.get(path);
    expect(main(preview.text)).toMatch(/Comprobantes: 3\./);
    expect(main(preview.text)).toContain('101-1');
    const fields = { kind: 'retry', stuck_reason: 'authority.certificate', reason: 'renovado' };
    const fewer = await support.send('/runs', { ...fields, expected: '2' }, path);
    expect(fewer.to).toBe('/runs/new?kind=retry&stuck_reason=authority.certificate');
    expect((await support.get(path)).text).toContain('Ahora coinciden más de los que se mostraron.');

    const started = await support.send('/runs', { ...fields, expected: '3' }, path);
    expect(started).toMatchObject({ status: 303, to: expect.stringMatching(/^\/runs\/retry-/) });
    const id = idOf(started.to);
    expect(await subjects(id)).toEqual(await stuckOf(ours as Troubled));
    expect(await runOf(id)).toMatchObject({ reason: 'renovado', accountId: null, total: 3 });
    expect((await runOf(id)).actor).toMatch(/^console:/);
    expect((await support.get('/runs?state=RUNNING')).text).toContain(id);
  });

  test('what fails by a mistake of ours is listed with what to do, and nothing is offered for it', async () => {
    const [first = ''] = await stuckOf(theirs as Troubled);
    await markStuck(db.orm.em.fork(), [first], 'internal');
    try {
      const page = main((await support.get('/stuck?stuck_reason=internal')).text);
      expect(page.match(/<tr id="stuck-/g)).toHaveLength(1);
      expect(page).toContain('avise a desarrollo');
      expect(page).not.toMatch(/runs\/new\?[^"]*stuck_reason=internal/);
    } finally {
      await markStuck(db.orm.em.fork(), [first], 'undecided');
    }
  });

  test('those that were ticked, and no others; progress, refusals with their words and as CSV, and stopping', async () => {
    const [first = '', second = ''] = await stuckOf(theirs as Troubled);
    const ticked = { kind: 'settle', reason: 'consultado', ids: [first, second] };
    const started = await support.send('/runs', ticked, '/stuck');
    const id = idOf(started.to);
    expect(await subjects(id)).toEqual([first, second]);
    await storeRunOutcome(
      db.orm.em.fork(),
      { runId: id, place: 1 },
      { outcome: 'refused', message: '=La DGI no lo tiene' },
      new Date(),
    );
    await storeRunOutcome(
      db.orm.em.fork(),
      { runId: id, place: 2 },
      { outcome: 'refused', ...refusalOf('absent') },
      new Date(),
    );

    const shown = main((await support.get(`/runs/${id}`)).text);
    expect(shown).toContain('2 de 2');
    // One that was refused without a code has its words alone; the others have those of the page's language.
    expect(shown).toContain('La DGI no tiene ni el sobre ni el número: reintente o abandone.');
    const inEnglish = await support.get(`/runs/${id}`, { 'accept-language': 'en' });
    expect(inEnglish.text).toContain('DGI has neither the sobre nor the number');
    expect(shown).toContain('=La DGI no lo tiene');
    expect(shown).toContain(`/cfes/${theirs?.rut}/production/101-1`);
    const csv = await support.get(`/runs/${id}?format=csv&list=refused`);
    expect(csv.text).toContain(",'=La DGI no lo tiene");
    expect(csv.text).toContain(',absent,La DGI no tiene');
    expect(csv.text.trim().split('\r\n')).toHaveLength(3);

    await support.send(`/runs/${id}/stop`, {}, `/runs/${id}`);
    expect((await runOf(id)).stopAskedAt).toBeNull();
    const why = { reason: 'the wrong ones' };
    expect((await support.send(`/runs/${id}/stop`, why, `/runs/${id}`)).to).toBe(`/runs/${id}`);
    expect((await runOf(id)).stopAskedAt).not.toBeNull();
    expect(
      await db.orm.em.fork().findOneOrFail(AuditEntry, { action: 'run.stop', subject: id }),
    ).toMatchObject(why);
    expect(main((await support.get(`/runs/${id}`)).text)).not.toContain(`/runs/${id}/stop`);
  });

  test('what fits none of a group is not offered; a preview says how many would be refused, and why', async () => {
    const offered = (text: string, reason: string): string[] =>
      ['retry', 'settle', 'abandon'].filter((kind) =>
        text.includes(`/runs/new?kind=${kind}&amp;stuck_reason=${reason}&amp;environment=production`),
      );
    const [received = ''] = await stuckOf(theirs as Troubled);
    const stands = { status: 'RECEIVED', digest: 'AAAA', signedXml: '<CFE/>' } as const;
    await db.orm.em.fork().nativeUpdate(Cfe, { id: received }, stands);
    const { text } = await support.get('/stuck');
    // Nothing of the first group was ever sent.
    expect(offered(text, 'authority.certificate')).toEqual(['retry', 'abandon']);
    expect(offered(text, 'undecided')).toEqual(['retry', 'settle', 'abandon']);
    const ticks = (await support.get('/stuck?stuck_reason=authority.certificate')).text;
    expect(ticks).toContain('<option value="retry">');
    expect(ticks).not.toContain('<option value="settle">');

    const preview = async (kind: string) =>
      main((await support.get(`/runs/new?kind=${kind}&stuck_reason=undecided`)).text);
    expect(await preview('settle')).toMatch(
      /se pueden procesar 1\.[\s\S]*No se procesarían 2:\s+Nunca se envió/,
    );
    expect(await preview('abandon')).toMatch(
      /se pueden procesar 2\.[\s\S]*No se procesarían 1:\s+La DGI lo tiene/,
    );
    expect(await preview('retry')).not.toContain('No se procesarían');
  });

  test('nothing ticked, or no reason: told so, and nothing begins', async () => {
    const before = await db.orm.em.fork().count(Run, {});
    const nothing = await support.send('/runs', { kind: 'retry', reason: 'x' }, '/stuck');
    expect(nothing.to).toBe('/stuck');
    expect(main((await support.get('/stuck')).text)).toContain('Marque antes al menos una fila.');
    const blank = await support.send('/runs', { kind: 'retry', reason: ' ', expected: '3' }, '/stuck');
    expect(blank.to).toBe('/runs/new?kind=retry');
    expect(await db.orm.em.fork().count(Run, {})).toBe(before);
  });

  test('an operator who only reads is offered no action; a customer sends their own deliveries again, and nothing else', async () => {
    const reader = await site.as(await site.anOperator('VIEWER'));
    expect(main((await reader.get('/stuck')).text)).not.toMatch(/\/runs\/new|name="ids"/);
    const member = await site.as(await site.aMember(ours?.accountId ?? '', 'MEMBER'));
    expect((await member.get('/stuck')).status).toBe(403);
    expect((await member.get('/runs/new?kind=retry&rut=' + ours?.rut)).status).toBe(404);
    const webhookOf = async (of: Troubled | undefined): Promise<string> =>
      (await db.orm.em.fork().findOneOrFail(Webhook, { accountId: of?.accountId ?? '' })).id;
    const [own, foreign] = [await webhookOf(ours), await webhookOf(theirs)];
    expect((await member.get(`/runs/new?kind=redeliver&webhook=${foreign}`)).status).toBe(404);
    expect(main((await member.get(`/webhooks/${own}`)).text)).toContain('action="/runs/new"');
    const path = `/runs/new?kind=redeliver&webhook=${own}&since=2026-01-01`;
    const preview = await member.get(path);
    expect(main(preview.text)).toContain(ours?.url);
    const fields = { kind: 'redeliver', webhook: own, since: '2026-01-01', expected: '1', reason: 'volvió' };
    const started = await member.send('/runs', fields, path);
    expect(await runOf(idOf(started.to))).toMatchObject({
      kind: 'redeliver',
      total: 1,
      accountId: ours?.accountId,
    });
    const stranger = await site.as(await site.aMember(theirs?.accountId ?? '', 'OWNER'));
    expect((await stranger.get(`/runs/${idOf(started.to)}`)).status).toBe(404);
    expect(main((await stranger.get('/runs')).text)).not.toContain(idOf(started.to));
  });
});
