import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Authority } from '../../../../src/activities/authority/authority.ts';
import { createTakeToVerdict } from '../../../../src/activities/authority/takeToVerdict.ts';
import { createSupportCfe } from '../../../../src/activities/operations/supportCfe.ts';
import { auditSupportRequest } from '../../../../src/commands/operations/supportCfe.ts';
import { issueCfe } from '../../../../src/commands/receipts/issueCfe.ts';
import { addWebhook } from '../../../../src/commands/webhooks/webhooks.ts';
import { endSobre, listSobresOfCfe, markSending } from '../../../../src/db/authority/sobres.ts';
import type { SobreState } from '../../../../src/db/entities/authority.ts';
import { Cfe } from '../../../../src/db/entities/receipts.ts';
import { listAudit } from '../../../../src/db/operations/audit.ts';
import { searchCfes } from '../../../../src/db/receipts/cfeSearch.ts';
import { markStuck, requireCfe } from '../../../../src/db/receipts/cfes.ts';
import type { VerdictOutcome } from '../../../../src/dgi/cfeAnswers.ts';
import type { StuckReason } from '../../../../src/domain/authority/stuckReason.ts';
import type { SupportAction } from '../../../../src/domain/operations/supportAction.ts';
import { formatCfeId } from '../../../../src/domain/receipts/cfeId.ts';
import type { Gate } from '../../../../src/gate/gate.ts';
import { anAccount, eventsOf, idleGatekeeper, idleOutbox } from '../../../support/commandDeps.ts';
import { cloneDatabase, type TestDatabase } from '../../../support/database/database.ts';
import { take, takeDeps } from '../../../support/database/taking.ts';
import { aReadyEnterprise } from '../../../support/enterprises/enterprises.ts';
import { aCfeBody } from '../../../support/receipts/cfeBodies.ts';
import { fromJson } from '../../../support/receipts/exactJson.ts';
import { aSobreOf, putSobre, theSobreOf } from '../../../support/receipts/pendingCfes.ts';
import { asActivity } from '../../../support/temporal/activityContext.ts';
import { webhookDeps } from '../../../support/webhooks/deliveries.ts';

const NOW = new Date();
const ADDRESS = '198.51.100.7';
const MINUTE = 60_000;
const minutesAgo = (minutes: number) => new Date(NOW.getTime() - minutes * MINUTE);
const TICKET = { idReceptor: '4242', token: 'dG9rZW4=', askFrom: null };
const AWAY = { kind: 'repeat', description: 'no answer', reached: false } as const;
const OTHER_CFE = { kind: 'stuck', reason: 'verdict.other_cfe', explanation: 'Another receipt.' } as const;
const NOT_OURS = { kind: 'stuck', reason: 'duplicate.not_ours', explanation: 'It is another’s.' } as const;

/** What the authority answers where a test says nothing: it was not to be asked. */
const SILENT: Authority = {
  signSobre: () => Promise.reject(new Error('it was to be sent')),
  sendSobre: () => Promise.reject(new Error('it was sent to')),
  findSobre: () => Promise.reject(new Error('it was asked for the sobre')),
  findReceipt: () => Promise.reject(new Error('it was asked for the number')),
  findState: () => Promise.reject(new Error('it was asked for the state of the number')),
  askVerdicts: () => Promise.reject(new Error('it was asked for the verdict')),
};
/** A gate that lets nothing through. */
const CLOSED: Gate = {
  enter: () => Promise.reject(new Error('it wanted to send')),
  untilSlot: async () => false,
  wait: async () => {},
  afterFailure: async () => 'waits',
  leave: async () => {},
  giveUp: async () => {},
  untilQuestion: async () => null,
};
type Says = Partial<{ [K in 'findSobre' | 'findReceipt']: Awaited<ReturnType<Authority[K]>> }> & {
  /** Of the one CFE that is asked about. */
  askVerdict?: VerdictOutcome | { kind: 'recover' };
};
const saying = ({ findSobre, findReceipt, askVerdict }: Says): Authority => ({
  ...SILENT,
  ...(findSobre ? { findSobre: async () => findSobre } : {}),
  ...(findReceipt ? { findReceipt: async () => findReceipt } : {}),
  ...(askVerdict
    ? {
        askVerdicts: async () =>
          askVerdict.kind === 'recover' ? askVerdict : { kind: 'answered', outcomes: [askVerdict] },
      }
    : {}),
});
const NO_KEY = { kind: 'stuck', reason: 'signing', explanation: 'No key opens.' } as const;
const NOWHERE: Says = { findSobre: { kind: 'absent' }, findReceipt: { kind: 'absent' } };

describe('what support may do', () => {
  let db: TestDatabase;
  let accountId: string;
  let rut: string;
  beforeAll(async () => {
    db = await cloneDatabase({ worker: true });
    accountId = await anAccount(db.orm);
    rut = await aReadyEnterprise(db.orm, accountId);
    const url = 'https://hooks.example.com/';
    await addWebhook(webhookDeps(db.orm), { accountId, url, events: ['cfe.updated'] });
  });
  afterAll(() => db[Symbol.asyncDispose]());

  const deps = (authority: Authority) => ({
    orm: db.worker,
    clock: () => NOW,
    outbox: idleOutbox,
    gatekeeper: idleGatekeeper,
    authority,
  });
  const issue = (body = aCfeBody()) =>
    issueCfe(
      { ...webhookDeps(db.orm), clock: () => NOW },
      { accountId, rut, environment: 'production', body: fromJson(JSON.stringify(body)) },
    );

  /** A CFE that waits for support; `sobre` is where its sobre stands, and when it was last sent. */
  async function aStuckCfe(
    sobre: { state: SobreState; sendingAt: Date | null } | null = null,
    reason: StuckReason = 'signing',
  ): Promise<string> {
    const { id } = await issue();
    const sobreId = await putSobre(db.orm, id, sobre ?? { state: 'OPEN' });
    // One that was refused is followed by the next.
    if (sobre?.state === 'REFUSED') {
      await db.orm.em
        .fork()
        .transactional((em) =>
          endSobre(em, { id: sobreId, state: 'REFUSED' }, { state: 'REFUSED', now: NOW }),
        );
      await theSobreOf(db.orm, id);
    }
    await markStuck(db.orm.em.fork(), [id], reason);
    return id;
  }
  /** CFEs in one sobre, which stands there, each waiting for support; its id. */
  async function together(
    ids: readonly string[],
    sobre: { state: SobreState; sendingAt: Date | null },
  ): Promise<string> {
    const em = db.orm.em.fork();
    await em.nativeUpdate(Cfe, { id: { $in: [...ids] } }, { sobreId: null });
    const cfes = await em.find(Cfe, { id: { $in: [...ids] } }, { orderBy: { sequence: 'asc' } });
    await aSobreOf(db.orm, cfes);
    const sobreId = await putSobre(db.orm, ids[0] ?? '', sobre);
    if (sobre.state === 'RECEIVED')
      await em.nativeUpdate(Cfe, { id: { $in: [...ids] } }, { status: 'RECEIVED' });
    await markStuck(em, ids, 'undecided');
    return sobreId;
  }
  /** What the console writes before it asks. */
  const asked = (subject: string, action: SupportAction, requestId: string) =>
    auditSupportRequest(
      { ...webhookDeps(db.orm), actor: 'console:ana@example.com', origin: { keyId: null, address: ADDRESS } },
      { action: `cfe.${action}`, subject, rut, reason: 'the customer asks', requestId },
    );
  async function askOf(
    authority: Authority,
    cfeUuid: string,
    action: SupportAction,
    requestId: string = randomUUID(),
  ) {
    const act = { cfeUuid, requestId, action };
    await asked(cfeUuid, action, requestId);
    const { kind: outcome, message } = await createSupportCfe(deps(authority))(act);
    return { outcome, message };
  }
  const ask = (cfeUuid: string, action: SupportAction, says: Says, requestId?: string) =>
    askOf(saying(says), cfeUuid, action, requestId);
  const row = (id: string) => requireCfe(db.orm.em.fork(), id);
  /** What was done to a CFE, without the rows of who asked. */
  const auditOf = async (id: string) =>
    (await listAudit(db.orm.em.fork(), { rut, subject: id }, 100)).filter(({ outcome }) => outcome !== null);
  const ownTicketOf = async (id: string): Promise<string | null> => {
    const [place] = await db.orm.em
      .fork()
      .execute<{ own: string | null }[]>('select id_receptor as own from sobre_cfe where cfe_uuid = ?', [id]);
    return place?.own ?? null;
  };
  const movesOf = async (id: string) => {
    const cfe_id = formatCfeId(await row(id));
    return (await eventsOf(db.orm, rut))
      .filter(({ event, data }) => event === 'cfe.updated' && data['cfe_id'] === cfe_id)
      .map(({ data }) => data['status']);
  };
  const isToBeAnnulled = async (id: string) =>
    (
      await searchCfes(
        db.orm.em.fork(),
        null,
        { rut, environment: 'production', annulled: true },
        { limit: 1_000 },
      )
    ).cfes.some((cfe) => cfe.id === id);

  test('retry: it waits for nobody any more, and the audit has who and why, once', async () => {
    const id = await aStuckCfe();

    const first = await ask(id, 'retry', {}, 'request-1');
    const again = await ask(id, 'retry', {}, 'request-1');

    expect([first.outcome, again.outcome]).toEqual(['retried', 'retried']);
    expect(await row(id)).toMatchObject({ status: 'PENDING', stuckReason: null });
    expect(await auditOf(id)).toMatchObject([
      {
        actor: 'console:ana@example.com',
        address: ADDRESS,
        action: 'cfe.retry',
        subject: id,
        rut,
        reason: 'the customer asks',
        outcome: 'retried',
        requestId: 'request-1',
      },
    ]);
    await ask(id, 'retry', {}, 'request-2');
    expect(await auditOf(id)).toHaveLength(2);
  });

  test.each<[string, (id: string) => Promise<string>]>([
    ['a request that nobody recorded', async () => randomUUID()],
    [
      'a request for another act on the CFE',
      async (id) => {
        await asked(id, 'settle', 'for-another-act');
        return 'for-another-act';
      },
    ],
    [
      'a request that was done, on another CFE',
      async () => {
        await ask(await aStuckCfe(), 'retry', {}, 'done-elsewhere');
        return 'done-elsewhere';
      },
    ],
    ['the name of a run that was never started', async () => 'retry-2026-11-22-3f9a1c:1'],
  ])('%s: it is done, and recorded as unverified, whoever they say they are', async (_, requestOf) => {
    const id = await aStuckCfe();
    const act = { cfeUuid: id, requestId: await requestOf(id), action: 'retry' } as const;
    const says = { by: 'ana@example.com', reason: 'renewed' };

    expect(await createSupportCfe(deps(SILENT))({ ...act, ...says })).toMatchObject({ kind: 'retried' });
    expect(await createSupportCfe(deps(SILENT))({ ...act, ...says })).toMatchObject({ kind: 'retried' });

    expect(await auditOf(id)).toMatchObject([
      { actor: 'unverified', address: null, reason: 'ana@example.com: renewed', outcome: 'retried' },
    ]);
  });

  test('what is typed beside a request that somebody asked for in the console counts for nothing', async () => {
    const id = await aStuckCfe();
    await asked(id, 'retry', 'of-ana');
    const act = { cfeUuid: id, requestId: 'of-ana', action: 'retry', by: 'eva', reason: 'because' } as const;
    await createSupportCfe(deps(SILENT))(act);
    expect(await auditOf(id)).toMatchObject([
      { actor: 'console:ana@example.com', address: ADDRESS, reason: 'the customer asks' },
    ]);
  });

  describe('settle', () => {
    const SENT = { state: 'SENDING', sendingAt: minutesAgo(60) } as const;
    const TAKEN = { state: 'RECEIVED', sendingAt: minutesAgo(60) } as const;

    test.each<[string, { state: SobreState; sendingAt: Date | null }, Says, string, string[]]>([
      ['its list has it', SENT, { findSobre: { kind: 'received', ...TICKET } }, 'RECEIVED', ['RECEIVED']],
      [
        'the number is there, by a sobre of ours',
        SENT,
        { findSobre: { kind: 'absent' }, findReceipt: { kind: 'received', ...TICKET } },
        'RECEIVED',
        ['RECEIVED'],
      ],
      [
        'the sobre is listed as refused, the number is there',
        SENT,
        { findSobre: { kind: 'refused' }, findReceipt: { kind: 'received', ...TICKET } },
        'RECEIVED',
        ['RECEIVED'],
      ],
      [
        'it has decided',
        TAKEN,
        { askVerdict: { kind: 'verdict', status: 'ACCEPTED', reasons: [] } },
        'ACCEPTED',
        ['ACCEPTED'],
      ],
      ['it has not decided', TAKEN, { askVerdict: { kind: 'notYet', code: '105' } }, 'RECEIVED', []],
      [
        'another sobre of ours brought it',
        TAKEN,
        { askVerdict: { kind: 'original', idReceptor: '4242', token: 'dG9rZW4=' } },
        'RECEIVED',
        [],
      ],
      [
        'it knows it by another token',
        TAKEN,
        { askVerdict: { kind: 'recover' }, findSobre: { kind: 'received', ...TICKET } },
        'RECEIVED',
        [],
      ],
    ])('%s: it goes on from there', async (_, sobre, says, status, moves) => {
      const id = await aStuckCfe(sobre, 'undecided');

      const { outcome } = await ask(id, 'settle', says);

      expect(outcome).toBe('settled');
      expect(await row(id)).toMatchObject({ status, stuckReason: null });
      expect(await movesOf(id)).toEqual(moves);
      expect(await auditOf(id)).toMatchObject([{ action: 'cfe.settle', outcome: 'settled' }]);
      const [kept] = await listSobresOfCfe(db.orm.em.fork(), id);
      const own = await ownTicketOf(id);
      if (JSON.stringify(says).includes('4242')) expect(own ?? kept?.idReceptor).toBe('4242');
    });

    test.each<[string, { state: SobreState; sendingAt: Date | null } | null, Says, RegExp]>([
      ['it was never sent', null, { findReceipt: { kind: 'absent' } }, /never sent/],
      [
        'it was never sent, says our database',
        null,
        { findReceipt: { kind: 'received', ...TICKET } },
        /not known here: was the database restored/,
      ],
      ['it was prepared only', { state: 'PREPARED', sendingAt: null }, { findReceipt: AWAY }, /never sent/],
      ['it has nothing', SENT, NOWHERE, /neither the sobre nor the number/],
      [
        'it refused the sobre',
        SENT,
        { findSobre: { kind: 'refused' }, findReceipt: { kind: 'absent' } },
        /rejected the sobre/,
      ],
      [
        'the number is another’s',
        SENT,
        { findSobre: { kind: 'absent' }, findReceipt: { kind: 'others' } },
        /not ours/,
      ],
      ['it is away', SENT, { findSobre: AWAY }, /no usable answer \(no answer\)/],
      ['it is away at the second question', SENT, { ...NOWHERE, findReceipt: AWAY }, /no usable answer/],
      ['it cannot be asked', SENT, { findSobre: NO_KEY }, /No key opens/],
      [
        'it says something unknown',
        TAKEN,
        {
          askVerdict: { kind: 'stuck', reason: 'verdict.unknown_state', explanation: 'FE, whatever it is.' },
        },
        /FE, whatever/,
      ],
      [
        'it signed for the sobre and does not find it',
        TAKEN,
        { askVerdict: { kind: 'recover' }, findSobre: { kind: 'absent' } },
        /signed for the sobre and does not find it/,
      ],
    ])('%s: it stays stuck, and is told so', async (_, sobre, says, words) => {
      const id = await aStuckCfe(sobre, 'undecided');
      const before = await row(id);

      const { outcome, message } = await ask(id, 'settle', says);

      expect([outcome, message]).toEqual(['refused', expect.stringMatching(words)]);
      expect(await row(id)).toMatchObject({ status: before.status, stuckReason: 'undecided' });
      expect(await auditOf(id)).toMatchObject([{ action: 'cfe.settle', outcome: 'refused' }]);
    });
  });

  describe('abandon', () => {
    const sent = (minutes: number, state: SobreState = 'SENDING') => ({
      state,
      sendingAt: minutesAgo(minutes),
    });
    const REFUSED: Says = { findSobre: { kind: 'refused' }, findReceipt: { kind: 'absent' } };

    test.each<[string, { state: SobreState; sendingAt: Date | null } | null, Says, StuckReason]>([
      ['no sobre was made', null, { findReceipt: { kind: 'absent' } }, 'signing'],
      ['no sobre was made, and nobody can ask', null, { findReceipt: NO_KEY }, 'signing'],
      ['its sobre never went out', { state: 'PREPARED', sendingAt: null }, { findReceipt: AWAY }, 'signing'],
      ['its sobre was refused just now', sent(1), REFUSED, 'sobre.unknown_refusal'],
      ['its sobre was refused without reasons', sent(1), REFUSED, 'sobre.refused_without_reasons'],
      ['its sobre is listed as refused for long', sent(11), REFUSED, 'authority.user'],
      ['a refused sobre was its last', sent(11, 'REFUSED'), { findReceipt: { kind: 'absent' } }, 'signing'],
      ['it was sent long ago, and is nowhere', sent(11), NOWHERE, 'authority.unknown_code'],
    ])('%s: REJECTED, its number to be annulled', async (_, sobre, says, reason) => {
      const id = await aStuckCfe(sobre, reason);

      const { outcome, message } = await ask(id, 'abandon', says);

      expect([outcome, message]).toEqual(['abandoned', expect.stringContaining('is to be annulled')]);
      expect(await row(id)).toMatchObject({
        status: 'REJECTED',
        stuckReason: null,
        settledAt: NOW,
        rejection: [{ code: 'abandoned' }],
      });
      expect(await isToBeAnnulled(id)).toBe(true);
      expect(await movesOf(id)).toEqual(['REJECTED']);
      expect(await auditOf(id)).toMatchObject([
        {
          actor: 'console:ana@example.com',
          action: 'cfe.abandon',
          reason: 'the customer asks',
          outcome: 'abandoned',
        },
      ]);
    });

    test.each<[string, { state: SobreState; sendingAt: Date | null } | null, Says]>([
      ['before it was sent', null, { findReceipt: { kind: 'others' } }],
      ['before any receipt', sent(1), { findSobre: { kind: 'absent' }, findReceipt: { kind: 'others' } }],
      ['by its verdict', sent(1, 'RECEIVED'), { askVerdict: NOT_OURS, findReceipt: { kind: 'others' } }],
      ['by another verdict', sent(1, 'RECEIVED'), { askVerdict: OTHER_CFE, findReceipt: { kind: 'others' } }],
      [
        'its sobre taken for an older one',
        sent(1, 'RECEIVED'),
        { askVerdict: OTHER_CFE, findReceipt: { kind: 'received', ...TICKET, idReceptor: '7' } },
      ],
    ])('its number is another system’s (%s): REJECTED, and the number must stand', async (_, sobre, says) => {
      const id = await aStuckCfe(sobre, 'duplicate.not_ours');

      const { outcome, message } = await ask(id, 'abandon', says);

      expect([outcome, message]).toEqual(['abandoned', expect.stringContaining('must not be annulled')]);
      expect((await row(id)).rejection?.map(({ code }) => code)).toEqual(['abandoned', 'duplicate.not_ours']);
      expect(await isToBeAnnulled(id)).toBe(false);
    });

    test.each<[string, { state: SobreState; sendingAt: Date | null } | null, Says, RegExp]>([
      ['it was sent a moment ago', sent(9), NOWHERE, /may still appear: ask again from 20\d\d-.*Z/],
      ['its sobre was refused, and sent again since', sent(9), REFUSED, /may still appear/],
      ['it is in the list', sent(60), { findSobre: { kind: 'received', ...TICKET } }, /ask DGI \(settle\)/],
      [
        'its number is there, by a sobre of ours',
        sent(60),
        { findSobre: { kind: 'absent' }, findReceipt: { kind: 'received', ...TICKET } },
        /ask DGI \(settle\)/,
      ],
      [
        'it was never sent, says our database',
        null,
        { findReceipt: { kind: 'received', ...TICKET } },
        /settle/,
      ],
      ['the authority is away', sent(60), { findSobre: AWAY }, /no usable answer/],
      [
        'the authority is away at the second question',
        sent(60),
        { ...NOWHERE, findReceipt: AWAY },
        /no answer/,
      ],
      ['the authority cannot be asked', sent(60), { findSobre: NO_KEY }, /No key opens/],
      [
        'it was received, and not decided',
        sent(60, 'RECEIVED'),
        { askVerdict: { kind: 'notYet', code: '105' } },
        /ask DGI \(settle\)/,
      ],
      [
        'it was received, and is not found now',
        sent(60, 'RECEIVED'),
        { askVerdict: { kind: 'recover' }, findSobre: { kind: 'absent' } },
        /signed for the sobre/,
      ],
      [
        'it was rejected by the authority itself',
        sent(60, 'RECEIVED'),
        { askVerdict: { kind: 'verdict', status: 'REJECTED', reasons: [] } },
        /ask DGI \(settle\)/,
      ],
      [
        'another receipt has its place, and nobody has the number',
        sent(60, 'RECEIVED'),
        { askVerdict: OTHER_CFE, findReceipt: { kind: 'absent' } },
        /Another receipt/,
      ],
      [
        'the number is called another’s, and is ours by the consultation',
        sent(60, 'RECEIVED'),
        { askVerdict: NOT_OURS, findReceipt: { kind: 'received', ...TICKET } },
        /ask DGI \(settle\)/,
      ],
      [
        'the number is called another’s, and is in the very sobre that was asked about',
        sent(60, 'RECEIVED'),
        { askVerdict: NOT_OURS, findReceipt: { kind: 'received', ...TICKET, idReceptor: '7' } },
        /another’s/,
      ],
    ])('%s: refused with the reason, and nothing is changed', async (_, sobre, says, words) => {
      const id = await aStuckCfe(sobre, 'undecided');
      const before = await row(id);

      const { outcome, message } = await ask(id, 'abandon', says);

      expect([outcome, message]).toEqual(['refused', expect.stringMatching(words)]);
      expect(await row(id)).toMatchObject({
        status: before.status,
        stuckReason: 'undecided',
        rejection: null,
      });
      expect(await movesOf(id)).toEqual([]);
      expect(await auditOf(id)).toMatchObject([{ action: 'cfe.abandon', outcome: 'refused' }]);
    });

    test('by an attempt that is repeated: once, and the repeat says so', async () => {
      const id = await aStuckCfe();

      const first = await ask(id, 'abandon', NOWHERE, 'once');
      const again = await ask(id, 'abandon', NOWHERE, 'once');

      expect([first.outcome, again.outcome]).toEqual(['abandoned', 'abandoned']);
      expect(await movesOf(id)).toEqual(['REJECTED']);
      expect(await auditOf(id)).toHaveLength(1);
    });

    test('of a CFE that has its verdict by now: the verdict stands, and it goes on to its end', async () => {
      const id = await aStuckCfe();
      await ask(id, 'abandon', NOWHERE);

      expect(await ask(id, 'abandon', NOWHERE)).toEqual({
        outcome: 'settled',
        message: 'It has its verdict: REJECTED.',
      });
      expect(await movesOf(id)).toEqual(['REJECTED']);
    });

    test('releases the notes that wait for it', async () => {
      const id = await aStuckCfe();
      const note = await issue(aCfeBody({ type: 'ETICKET_NC', reference: formatCfeId(await row(id)) }));
      expect((await row(note.id)).held).toBe(true);

      await ask(id, 'abandon', NOWHERE);

      expect((await row(note.id)).held).toBe(false);
    });

    test('a send that begins while the authority is asked: refused', async () => {
      const id = await aStuckCfe(sent(60));
      const [sobre] = await listSobresOfCfe(db.orm.em.fork(), id);
      const authority: Authority = {
        ...saying(NOWHERE),
        async findReceipt() {
          // An attempt of a worker that was thought lost.
          if (sobre) await markSending(db.worker.em.fork(), sobre, NOW);
          return { kind: 'absent' };
        },
      };

      const { outcome, message } = await askOf(authority, id, 'abandon');

      expect([outcome, message]).toEqual(['refused', expect.stringContaining('moved on')]);
      expect((await row(id)).status).toBe('PENDING');
    });

    test('a sobre that is made while it is given up does not go out: neither is anything sent by a lost attempt', async () => {
      const id = await aStuckCfe({ state: 'PREPARED', sendingAt: null });
      const [sobre] = await listSobresOfCfe(db.orm.em.fork(), id);
      if (!sobre) throw new Error('no sobre');
      await ask(id, 'abandon', NOWHERE);

      expect(await markSending(db.worker.em.fork(), sobre, NOW)).toBe(false);

      const takeToVerdict = createTakeToVerdict({
        ...deps(SILENT),
        gate: CLOSED,
        signDocument: () => {
          throw new Error('it was signed');
        },
        authorityRut: { production: '214844360018', sandbox: '219999830019' },
        pollLongestSeconds: 1,
        patienceSeconds: 60,
      });
      expect(await asActivity(() => takeToVerdict(sobre.id))).toEqual({
        kind: 'ended',
        endings: { [formatCfeId(await row(id))]: 'REJECTED' },
        codes: ['abandoned'],
      });
      expect(await listSobresOfCfe(db.orm.em.fork(), id)).toMatchObject([
        { state: 'DISSOLVED', sendingAt: null },
      ]);
    });

    test('of one of several whose sobre was not received: that is dissolved, and the others go on without it', async () => {
      const [one, other] = [await issue(), await issue()];
      const sobreId = await together([one.id, other.id], { state: 'SENDING', sendingAt: minutesAgo(60) });

      expect((await ask(one.id, 'abandon', NOWHERE)).outcome).toBe('abandoned');

      expect(await row(one.id)).toMatchObject({ status: 'REJECTED', sobreId });
      expect(await row(other.id)).toMatchObject({ status: 'PENDING', sobreId: null, stuckReason: null });
      expect((await listSobresOfCfe(db.orm.em.fork(), other.id)).map(({ state }) => state)).toContain(
        'DISSOLVED',
      );
    });

    test('of one of several whose sobre was received: the others are asked about as before', async () => {
      const [one, other] = [await issue(), await issue()];
      const sobreId = await together([one.id, other.id], { state: 'RECEIVED', sendingAt: minutesAgo(60) });
      const says: Says = { askVerdict: NOT_OURS, findReceipt: { kind: 'others' } };

      expect((await ask(one.id, 'abandon', says)).outcome).toBe('abandoned');

      expect(await row(other.id)).toMatchObject({ status: 'RECEIVED', sobreId });
      const [last] = (await listSobresOfCfe(db.orm.em.fork(), other.id)).filter(({ id }) => id === sobreId);
      expect(last).toMatchObject({ state: 'RECEIVED' });
    });

    test('what a lost attempt says late makes no CFE wait that has its verdict', async () => {
      const id = await aStuckCfe();
      await ask(id, 'abandon', NOWHERE);

      await markStuck(db.orm.em.fork(), [id], 'undecided');

      expect((await row(id)).stuckReason).toBeNull();
    });
  });

  test('of two sends that begin at once from the same state, one goes out', async () => {
    const id = await aStuckCfe({ state: 'PREPARED', sendingAt: null });
    const [sobre] = await listSobresOfCfe(db.orm.em.fork(), id);
    if (!sobre) throw new Error('no sobre');

    const begun = await Promise.all([1, 2, 3].map(() => markSending(db.worker.em.fork(), sobre, NOW)));

    expect(begun.filter((one) => one)).toHaveLength(1);
  });

  test('settle of one of several: that the authority has the sobre is stored for all of them', async () => {
    const [one, other] = [await issue(), await issue()];
    await together([one.id, other.id], { state: 'SENDING', sendingAt: minutesAgo(60) });

    expect((await ask(one.id, 'settle', { findSobre: { kind: 'received', ...TICKET } })).outcome).toBe(
      'settled',
    );

    expect([(await row(one.id)).status, (await row(other.id)).status]).toEqual(['RECEIVED', 'RECEIVED']);
    expect(await movesOf(other.id)).toEqual(['RECEIVED']);
  });

  test('settle of one alone by the number, which an earlier sobre of ours brought: that one is asked about from then on', async () => {
    const id = await aStuckCfe({ state: 'SENDING', sendingAt: minutesAgo(60) }, 'undecided');
    const { sobreId } = await row(id);
    const earlier = { kind: 'received', ...TICKET, idemisor: '3' } as const;

    const says: Says = { findSobre: { kind: 'absent' }, findReceipt: earlier };
    expect((await ask(id, 'settle', says)).outcome).toBe('settled');

    expect(await row(id)).toMatchObject({ status: 'RECEIVED', stuckReason: null });
    expect(await ownTicketOf(id)).toBe('4242');
    const asked: unknown[] = [];
    const authority: Authority = {
      ...SILENT,
      askVerdicts: async (cfes, ticket) => {
        asked.push([ticket, cfes.map(({ place }) => place)]);
        return { kind: 'answered', outcomes: [{ kind: 'verdict', status: 'OBSERVED', reasons: [] }] };
      },
    };
    const ended = await take(takeDeps(db.worker, { clock: () => NOW, authority }), sobreId ?? '');
    expect(Object.values(ended.kind === 'ended' ? ended.endings : {})).toEqual(['OBSERVED']);
    // By what is said of it there, wherever it stands in that one.
    expect(asked).toEqual([[{ idReceptor: '4242', token: TICKET.token }, [null]]]);
    expect(await movesOf(id)).toEqual(['RECEIVED', 'OBSERVED']);
  });

  test('settle of one of several by the number alone, which an earlier sobre of ours brought: refused', async () => {
    const [one, other] = [await issue(), await issue()];
    await together([one.id, other.id], { state: 'SENDING', sendingAt: minutesAgo(60) });
    const earlier = { kind: 'received', ...TICKET, idemisor: '3' } as const;

    const says: Says = { findSobre: { kind: 'absent' }, findReceipt: earlier };
    expect((await ask(one.id, 'settle', says)).outcome).toBe('refused');

    expect([(await row(one.id)).status, (await row(other.id)).status]).toEqual(['PENDING', 'PENDING']);
  });
});
