import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Authority, VerdictOutcomes } from '../../../../src/activities/authority/authority.ts';
import type { TakeDeps } from '../../../../src/activities/authority/takeToVerdict.ts';
import { addWebhook } from '../../../../src/commands/webhooks/webhooks.ts';
import { listSobresOfCfe } from '../../../../src/db/authority/sobres.ts';
import { Cfe } from '../../../../src/db/entities/receipts.ts';
import { markStuck } from '../../../../src/db/receipts/cfes.ts';
import type { VerdictOutcome } from '../../../../src/dgi/cfeAnswers.ts';
import type { FindSobreAnswer, SendAnswer } from '../../../../src/dgi/client.ts';
import { formatCfeId } from '../../../../src/domain/receipts/cfeId.ts';
import type { RejectionReason } from '../../../../src/domain/receipts/rejection.ts';
import { anAccount, eventsOf } from '../../../support/commandDeps.ts';
import { cloneDatabase, type TestDatabase } from '../../../support/database/database.ts';
import { SILENT, saying, sobreRow, take, takeDeps } from '../../../support/database/taking.ts';
import { aReadyEnterprise } from '../../../support/enterprises/enterprises.ts';
import { aSobreOf, givePendingCfes } from '../../../support/receipts/pendingCfes.ts';
import { webhookDeps } from '../../../support/webhooks/deliveries.ts';

const FIRST = { kind: 'received', idReceptor: '7', token: 'dG9rZW4=', askFrom: null } as const;
const OTHER = { kind: 'received', idReceptor: '8', token: 'b3RoZXI=', askFrom: null } as const;
const PATIENCE_SECONDS = 60;
const NOT_YET: VerdictOutcome = { kind: 'notYet', code: 'no verdict on it' };
const AWAY = { kind: 'repeat', description: 'no answer', reached: false } as const;
const accepted: VerdictOutcome = { kind: 'verdict', status: 'ACCEPTED', reasons: [] };
const stuckFor = (reason: 'verdict.unknown_state' | 'verdict.other_cfe' | 'duplicate.not_ours') =>
  ({ kind: 'stuck', reason, explanation: `It is ${reason}.` }) as const;
const reasonOf = (code: string): RejectionReason => ({ code, message: code, detail: null });

let db: TestDatabase;
let accountId: string;
let rut: string;
let now: Date;
beforeAll(async () => {
  db = await cloneDatabase({ worker: true });
  accountId = await anAccount(db.orm);
  await addWebhook(webhookDeps(db.orm), {
    accountId,
    url: 'https://hooks.example.com/',
    events: ['cfe.updated'],
  });
});
beforeEach(async () => {
  now = new Date('2026-11-20T12:00:00Z');
  rut = await aReadyEnterprise(db.orm, accountId, { caes: [{ type: 'ETICKET' }] });
});
afterAll(() => db[Symbol.asyncDispose]());

const later = (seconds: number) => {
  now = new Date(now.getTime() + seconds * 1_000);
};
const deps = (authority: Partial<Authority>, more: Partial<TakeDeps> = {}): TakeDeps =>
  takeDeps(db.worker, {
    clock: () => now,
    patienceSeconds: PATIENCE_SECONDS,
    authority: { ...SILENT, ...authority },
    ...more,
  });
const several = async (count: number): Promise<{ cfes: Cfe[]; sobreId: string; ids: string[] }> => {
  const cfes = await givePendingCfes(db.orm, { accountId, rut, count, from: now });
  return { cfes, sobreId: await aSobreOf(db.orm, cfes), ids: cfes.map(formatCfeId) };
};
const rows = (cfes: readonly Cfe[]) =>
  db.orm.em.fork().find(Cfe, { id: { $in: cfes.map(({ id }) => id) } }, { orderBy: { sequence: 'asc' } });
const statuses = async (cfes: readonly Cfe[]) => (await rows(cfes)).map(({ status }) => status);
const moves = async () =>
  (await eventsOf(db.orm, rut))
    .filter(({ event }) => event === 'cfe.updated')
    .map(({ data }) => [data['cfe_id'], data['status']]);

describe('asking for the verdicts of several', () => {
  /** A sobre that the authority has had for so long that the next question is a while off. */
  async function received(count: number) {
    const made = await several(count);
    const authority: Partial<Authority> = {
      sendSobre: async () => FIRST,
      askVerdicts: (...asked) => {
        later(10);
        return saying(new Map(), NOT_YET)(...asked);
      },
    };
    await expect(take(deps(authority), made.sobreId)).rejects.toMatchObject({ type: 'NotYet' });
    return made;
  }
  const typeOf = ({ type }: { type?: string }) => type;

  test('each is decided for itself; what needs a person is told once and holds up nobody', async () => {
    const { cfes, sobreId, ids } = await received(7);
    const said = new Map<number, VerdictOutcome>([
      [1, accepted],
      [2, { kind: 'verdict', status: 'REJECTED', reasons: [reasonOf('E05')] }],
      [3, { kind: 'verdict', status: 'OBSERVED', reasons: [reasonOf('C03')] }],
      [5, stuckFor('verdict.unknown_state')],
      [6, stuckFor('verdict.other_cfe')],
      [7, stuckFor('duplicate.not_ours')],
    ]);
    const asked: number[][] = [];
    const authority: Partial<Authority> = {
      askVerdicts: (of, ...more) => {
        asked.push(of.map(({ numero }) => numero));
        return saying(said, NOT_YET)(of, ...more);
      },
    };

    const first = await take(deps(authority), sobreId);

    expect(first).toEqual({
      kind: 'stuck',
      step: 'ask',
      goesOn: true,
      stuck: [5, 6, 7].map((n) => {
        const { kind: _, ...why } = said.get(n) as ReturnType<typeof stuckFor>;
        return { ...why, cfeIds: [ids[n - 1]] };
      }),
    });
    expect(await rows(cfes)).toMatchObject([
      { status: 'ACCEPTED', rejection: null },
      { status: 'REJECTED', rejection: [{ code: 'E05' }] },
      { status: 'OBSERVED', rejection: [{ code: 'C03' }] },
      { status: 'RECEIVED', stuckReason: null },
      { status: 'RECEIVED', stuckReason: 'verdict.unknown_state' },
      { status: 'RECEIVED', stuckReason: 'verdict.other_cfe' },
      { status: 'RECEIVED', stuckReason: 'duplicate.not_ours' },
    ]);

    // The one that has no verdict yet is asked about alone; decided, the others wait for a person, each for its reason.
    said.set(4, accepted);
    expect(await take(deps(authority), sobreId)).toMatchObject({
      kind: 'stuck',
      step: 'ask',
      goesOn: false,
      stuck: [
        { reason: 'verdict.unknown_state', cfeIds: [ids[4]] },
        { reason: 'verdict.other_cfe', cfeIds: [ids[5]] },
        { reason: 'duplicate.not_ours', cfeIds: [ids[6]] },
      ],
    });
    expect(asked).toEqual([[1, 2, 3, 4, 5, 6, 7], [4]]);

    // Retried, they go on: each by itself.
    await markStuck(db.orm.em.fork(), [cfes[5]?.id ?? ''], null);
    said.set(6, accepted);
    expect(await take(deps(authority), sobreId)).toMatchObject({ kind: 'stuck', goesOn: false });
    await markStuck(db.orm.em.fork(), [cfes[4]?.id ?? '', cfes[6]?.id ?? ''], null);
    said.set(5, accepted).set(7, accepted);
    expect(await take(deps(authority), sobreId)).toEqual({
      kind: 'ended',
      endings: Object.fromEntries(
        ids.map((id, i) => [id, ['ACCEPTED', 'REJECTED', 'OBSERVED'][i] ?? 'ACCEPTED']),
      ),
      codes: ['E05'],
    });
    expect(asked.slice(2)).toEqual([[6], [5, 7]]);
    expect((await moves()).filter(([, status]) => status !== 'RECEIVED')).toHaveLength(7);
  });

  test('one that comes to need a person later is told beside those of before', async () => {
    const { sobreId, ids } = await received(3);
    const say = (said: [number, VerdictOutcome][]) =>
      take(deps({ askVerdicts: saying(new Map(said), NOT_YET) }), sobreId);
    expect(await say([[1, stuckFor('verdict.other_cfe')]])).toMatchObject({ goesOn: true });

    expect(
      await say([
        [2, stuckFor('verdict.unknown_state')],
        [3, accepted],
      ]),
    ).toMatchObject({
      goesOn: false,
      stuck: [
        { reason: 'verdict.unknown_state', cfeIds: [ids[1]] },
        { reason: 'verdict.other_cfe', cfeIds: [ids[0]] },
      ],
    });
  });

  test('undecided for longer than our patience: those of which nothing came, each of the others keeps its reason', async () => {
    const { cfes, sobreId, ids } = await received(3);
    const say = (said: [number, VerdictOutcome][]) =>
      take(deps({ askVerdicts: saying(new Map(said), NOT_YET) }), sobreId);
    await say([
      [1, stuckFor('verdict.other_cfe')],
      [2, accepted],
    ]);
    later(10);
    await expect(say([])).rejects.toMatchObject({ type: 'NotYet' });
    later(PATIENCE_SECONDS + 1);

    expect(await say([])).toMatchObject({
      kind: 'stuck',
      goesOn: false,
      stuck: [
        { reason: 'undecided', cfeIds: [ids[2]] },
        { reason: 'verdict.other_cfe', cfeIds: [ids[0]] },
      ],
    });
    expect((await rows(cfes)).map(({ stuckReason }) => stuckReason)).toEqual([
      'verdict.other_cfe',
      null,
      'undecided',
    ]);
  });

  test('one that an earlier sobre of ours brought is asked about by that one, whatever place it has here', async () => {
    const { cfes, sobreId, ids } = await received(3);
    const original = { kind: 'original', idReceptor: '3', token: 'ZWFybHk=' } as const;
    const asked: unknown[] = [];
    let earlier: VerdictOutcomes = { kind: 'answered', outcomes: [accepted] };
    const authority: Partial<Authority> = {
      askVerdicts: async (of, ticket, ...more) => {
        asked.push([ticket.idReceptor, of.map(({ numero, place }) => [numero, place])]);
        if (ticket.idReceptor === '3') return earlier;
        return saying(new Map([[2, original]]), NOT_YET)(of, ticket, ...more);
      },
    };
    await expect(take(deps(authority), sobreId)).rejects.toMatchObject({ type: 'NotYet' });
    expect(await statuses(cfes)).toEqual(['RECEIVED', 'RECEIVED', 'RECEIVED']);

    later(10);
    await expect(take(deps(authority), sobreId)).rejects.toMatchObject({ type: 'NotYet' });

    expect(await statuses(cfes)).toEqual(['RECEIVED', 'ACCEPTED', 'RECEIVED']);
    expect(asked.slice(1)).toEqual([
      [
        '7',
        [
          [1, 1],
          [3, 3],
        ],
      ],
      ['3', [[2, null]]],
    ]);
    earlier = AWAY;
    expect(await take(deps({ askVerdicts: saying(new Map(), accepted) }), sobreId)).toMatchObject({
      endings: Object.fromEntries(ids.map((id) => [id, 'ACCEPTED'])),
    });
  });

  test('many that earlier sobres of ours brought: each of those is asked about once for all that it brought', async () => {
    const { cfes, sobreId } = await received(6);
    const broughtBy = (n: number) => ['3', '4'][n % 2] ?? '';
    const asked: [unknown, number[]][] = [];
    const authority: Partial<Authority> = {
      askVerdicts: async (of, ticket, ...more) => {
        asked.push([ticket.idReceptor, of.map(({ numero }) => numero)]);
        if (ticket.idReceptor !== '7') return saying(new Map(), accepted)(of, ticket, ...more);
        const originals = cfes.map(({ numero }): [number, VerdictOutcome] => {
          const idReceptor = broughtBy(numero);
          return [numero, { kind: 'original', idReceptor, token: `token of ${idReceptor}` }];
        });
        return saying(new Map(originals), NOT_YET)(of, ticket, ...more);
      },
    };
    await expect(take(deps(authority), sobreId)).rejects.toMatchObject({ type: 'NotYet' });

    expect(await take(deps(authority), sobreId)).toMatchObject({ kind: 'ended' });

    expect(asked).toEqual([
      ['7', [1, 2, 3, 4, 5, 6]],
      ['4', [1, 3, 5]],
      ['3', [2, 4, 6]],
    ]);
    expect(await statuses(cfes)).toEqual(cfes.map(() => 'ACCEPTED'));
  });

  test('alone in its sobre (CFE_SOBRE_MOST is 1), one that an earlier sobre of ours brought ends by that one', async () => {
    const { cfes, sobreId, ids } = await received(1);
    const original = { kind: 'original', idReceptor: '3', token: 'ZWFybHk=' } as const;
    const asked: unknown[] = [];
    let earlier: VerdictOutcome = NOT_YET;
    const authority: Partial<Authority> = {
      askVerdicts: async ([cfe], { idReceptor, token }) => {
        asked.push([idReceptor, token, cfe?.place]);
        return { kind: 'answered', outcomes: [idReceptor === '3' ? earlier : original] };
      },
    };
    await expect(take(deps(authority), sobreId)).rejects.toMatchObject({ type: 'NotYet', nextRetryDelay: 1 });
    later(60);
    await expect(take(deps(authority), sobreId)).rejects.toMatchObject({ type: 'NotYet' });
    later(60);
    earlier = accepted;

    expect(await take(deps(authority), sobreId)).toMatchObject({ endings: { [ids[0] ?? '']: 'ACCEPTED' } });

    // Its own sobre is asked about no more.
    expect(asked).toEqual([
      ['7', FIRST.token, 1],
      ['3', 'ZWFybHk=', null],
      ['3', 'ZWFybHk=', null],
    ]);
    expect(await rows(cfes)).toMatchObject([{ status: 'ACCEPTED', rejection: null }]);
  });

  test.each<[string, VerdictOutcomes, string, object]>([
    ['is not known', { kind: 'recover' }, 'NotYet', { stuckReason: null }],
    ['has no verdict', { kind: 'notYet', code: '105' }, 'NotYet', { stuckReason: null }],
    ['cannot be asked about now', AWAY, 'AuthorityUnreachable', { stuckReason: null }],
    ['needs a person', stuckFor('verdict.unknown_state'), 'stuck', { stuckReason: 'verdict.unknown_state' }],
  ])('an earlier sobre that %s holds up no other', async (_, earlier, outcome, row) => {
    const { cfes, sobreId } = await received(2);
    const original = { kind: 'original', idReceptor: '3', token: 'ZWFybHk=' } as const;
    await take(deps({ askVerdicts: saying(new Map([[2, original]]), NOT_YET) }), sobreId).catch(typeOf);
    later(10);
    const authority: Partial<Authority> = {
      askVerdicts: async (of, ticket, ...more) =>
        ticket.idReceptor === '3' ? earlier : saying(new Map(), accepted)(of, ticket, ...more),
    };

    const came = await take(deps(authority), sobreId).then(({ kind }) => kind, typeOf);

    expect(came).toBe(outcome);
    expect(await rows(cfes)).toMatchObject([{ status: 'ACCEPTED' }, { status: 'RECEIVED', ...row }]);
  });

  test('a verdict that support has settled meanwhile stands, and the others of the answer are stored', async () => {
    const { cfes, sobreId, ids } = await received(2);
    const authority: Partial<Authority> = {
      askVerdicts: async (...asked) => {
        await db.orm.em
          .fork()
          .nativeUpdate(Cfe, { id: cfes[0]?.id ?? '' }, { status: 'REJECTED', settledAt: now });
        return saying(new Map(), accepted)(...asked);
      },
    };

    expect(await take(deps(authority), sobreId)).toMatchObject({
      kind: 'ended',
      endings: { [ids[0] ?? '']: 'REJECTED', [ids[1] ?? '']: 'ACCEPTED' },
    });
    expect(await statuses(cfes)).toEqual(['REJECTED', 'ACCEPTED']);
  });
});

describe('where the authority does not know the sobre by our number and token (104)', () => {
  let sobreId: string;
  let verdicts: VerdictOutcomes;
  let listed: FindSobreAnswer;
  beforeEach(async () => {
    verdicts = { kind: 'recover' };
    listed = FIRST;
    ({ sobreId } = await several(1));
  });
  const ask = () =>
    take(
      deps({
        sendSobre: async () => FIRST,
        findSobre: async () => listed,
        askVerdicts: async () => verdicts,
      }),
      sobreId,
    );

  test('those of its list are taken, and asked with', async () => {
    listed = OTHER;
    await expect(ask()).rejects.toMatchObject({ type: 'NotYet' });
    expect(await sobreRow(db.orm, sobreId)).toMatchObject({ idReceptor: '8', token: 'b3RoZXI=' });

    verdicts = { kind: 'answered', outcomes: [accepted] };
    expect(await ask()).toEqual({ kind: 'ended', endings: { '101-1': 'ACCEPTED' }, codes: [] });
  });

  test.each<[string, FindSobreAnswer]>([
    ['gives the same ones each time', FIRST],
    ['does not have it', { kind: 'absent' }],
  ])(
    'a list that %s: support is asked once patience is over, and retries for as long again',
    async (_, found) => {
      listed = found;
      await expect(ask()).rejects.toMatchObject({ type: 'NotYet' });
      later(PATIENCE_SECONDS + 1);

      expect(await ask()).toMatchObject({ kind: 'stuck', step: 'ask', stuck: [{ reason: 'undecided' }] });
      // It waits for support until that retries.
      expect(await ask()).toMatchObject({ kind: 'stuck' });
      await db.orm.em.fork().nativeUpdate(Cfe, { rut }, { stuckReason: null });

      await expect(ask()).rejects.toMatchObject({ type: 'NotYet' });
    },
  );
});

describe('sending', () => {
  const REFUSAL: SendAnswer = { kind: 'refused', reasons: [reasonOf('S03')] };
  const send = (sobreId: string, answer: SendAnswer, more: Partial<Authority> = {}) =>
    take(deps({ sendSobre: async () => answer, ...more }), sobreId);

  test('one alone that is refused as a whole ends REJECTED with the reasons', async () => {
    const { cfes, sobreId } = await several(1);

    expect(await send(sobreId, REFUSAL)).toEqual({
      kind: 'ended',
      endings: { '101-1': 'REJECTED' },
      codes: ['S03'],
    });
    expect(await rows(cfes)).toMatchObject([{ status: 'REJECTED', rejection: [{ code: 'S03' }] }]);
    expect(await sobreRow(db.orm, sobreId)).toMatchObject({ state: 'REFUSED', refusal: [{ code: 'S03' }] });
  });

  test('several that are refused as a whole: nobody knows whose the reasons are, and each goes alone, with the bytes it has', async () => {
    const { cfes, sobreId, ids } = await several(3);
    let signatures = 0;
    const signDocument = () => {
      signatures += 1;
      return { xml: `<CFE s="${signatures}"/>`, digest: `${signatures}` };
    };
    const refusing = deps({ sendSobre: async () => REFUSAL }, { signDocument });

    expect(await take(refusing, sobreId)).toEqual({
      kind: 'ended',
      endings: Object.fromEntries(ids.map((id) => [id, 'LEFT'])),
      codes: [],
    });

    expect(await sobreRow(db.orm, sobreId)).toMatchObject({ state: 'REFUSED', refusal: [{ code: 'S03' }] });
    const left = await rows(cfes);
    expect(left).toMatchObject(cfes.map(() => ({ status: 'PENDING', stuckReason: null, rejection: null })));
    const own = left.map(({ sobreId: each }) => each ?? '');
    expect(new Set([...own, sobreId]).size).toBe(4);
    // Made at one moment by the test's clock.
    for (const [i, { id }] of left.entries())
      expect((await listSobresOfCfe(db.orm.em.fork(), id)).toSorted((a, b) => b.size - a.size)).toMatchObject(
        [{ id: sobreId }, { id: own[i], size: 1, state: 'OPEN', slot: null }],
      );

    // Alone, the reasons are of the one that they are told of.
    const taking = (n: number, answer: SendAnswer) =>
      take(
        deps({ sendSobre: async () => answer, askVerdicts: saying(new Map(), accepted) }, { signDocument }),
        own[n] ?? '',
      );
    await taking(0, FIRST);
    await taking(1, REFUSAL);
    await taking(2, FIRST);
    expect(await statuses(cfes)).toEqual(['ACCEPTED', 'REJECTED', 'ACCEPTED']);
    expect(signatures).toBe(3);
    expect((await sobreRow(db.orm, own[2] ?? '')).xml).toContain('<CFE s="3"/>');
    expect((await moves()).filter(([, status]) => status === 'REJECTED')).toEqual([[ids[1], 'REJECTED']]);
  });

  test('a number that is taken at the first send: all of them go out in the next sobre', async () => {
    const { cfes, sobreId } = await several(2);

    expect(await send(sobreId, { kind: 'duplicate' })).toMatchObject({ kind: 'ended' });

    expect(await sobreRow(db.orm, sobreId)).toMatchObject({ state: 'REFUSED', refusal: [{ code: 'S08' }] });
    expect(await rows(cfes)).toMatchObject(cfes.map(() => ({ status: 'PENDING', sobreId: null })));
    const next = await aSobreOf(db.orm, await rows(cfes));
    expect(await send(next, FIRST, { askVerdicts: saying(new Map(), accepted) })).toMatchObject({
      endings: { '101-1': 'ACCEPTED', '101-2': 'ACCEPTED' },
    });
    expect(Number((await sobreRow(db.orm, next)).idemisor) % 10_000).toBe(3);
  });

  test('of which nothing came: the authority is asked before the same bytes go out again', async () => {
    const { cfes, sobreId } = await several(2);
    const sent: string[] = [];
    let answer: SendAnswer = { kind: 'fateUnknown', description: 'no answer' };
    let found: FindSobreAnswer = { kind: 'absent' };
    const asked: string[] = [];
    const authority: Partial<Authority> = {
      sendSobre: async ({ envelope }) => {
        sent.push(envelope);
        return answer;
      },
      findSobre: async () => {
        asked.push('findSobre');
        return found;
      },
      askVerdicts: saying(new Map(), accepted),
    };

    await expect(take(deps(authority), sobreId)).rejects.toMatchObject({ type: 'AuthorityUnreachable' });
    expect([sent.length, asked]).toEqual([1, []]);
    await expect(take(deps(authority), sobreId)).rejects.toMatchObject({ type: 'AuthorityUnreachable' });
    expect([sent.length, asked.length]).toEqual([2, 1]);
    expect(sent[1]).toBe(sent[0]);
    found = FIRST;
    answer = { kind: 'duplicate' };
    expect(await take(deps(authority), sobreId)).toMatchObject({ kind: 'ended' });

    expect([sent.length, asked.length]).toEqual([2, 2]);
    expect(await statuses(cfes)).toEqual(['ACCEPTED', 'ACCEPTED']);
  });

  test('what needs a person concerns all of the sobre; once one is to go on, they all do', async () => {
    const { cfes, sobreId, ids } = await several(2);
    const refusal = {
      kind: 'stuck',
      reason: 'sobre.unknown_refusal',
      explanation: 'S99, whatever it is.',
    } as const;
    const stuck = {
      kind: 'stuck',
      step: 'send',
      goesOn: false,
      stuck: [{ reason: refusal.reason, cfeIds: ids }],
    };
    expect(await send(sobreId, refusal)).toMatchObject(stuck);
    expect(await send(sobreId, refusal)).toMatchObject(stuck);

    await markStuck(db.orm.em.fork(), [cfes[1]?.id ?? ''], null);
    const found = { findSobre: async () => FIRST, askVerdicts: saying(new Map(), accepted) };

    expect(await send(sobreId, refusal, found)).toMatchObject({ kind: 'ended' });
    expect(await statuses(cfes)).toEqual(['ACCEPTED', 'ACCEPTED']);
  });
});
