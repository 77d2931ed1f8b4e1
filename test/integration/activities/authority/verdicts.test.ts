import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type {
  Authority,
  PlacedCfe,
  VerdictOutcomes,
} from '../../../../src/activities/authority/authority.ts';
import { createTakeToVerdict } from '../../../../src/activities/authority/takeToVerdict.ts';
import { addWebhook } from '../../../../src/commands/webhooks/webhooks.ts';
import { Sobre } from '../../../../src/db/entities/authority.ts';
import { Cfe } from '../../../../src/db/entities/receipts.ts';
import type { VerdictOutcome } from '../../../../src/dgi/cfeAnswers.ts';
import type { FindSobreAnswer } from '../../../../src/dgi/client.ts';
import { formatCfeId } from '../../../../src/domain/receipts/cfeId.ts';
import { createGate } from '../../../../src/gate/gate.ts';
import { anAccount, eventsOf, idleGatekeeper, idleOutbox } from '../../../support/commandDeps.ts';
import { cloneDatabase, type TestDatabase } from '../../../support/database/database.ts';
import { signedAsItIs } from '../../../support/database/taking.ts';
import { aReadyEnterprise } from '../../../support/enterprises/enterprises.ts';
import { aSobreOf, givePendingCfes } from '../../../support/receipts/pendingCfes.ts';
import { asActivity } from '../../../support/temporal/activityContext.ts';
import { webhookDeps } from '../../../support/webhooks/deliveries.ts';

const FIRST = { kind: 'received', idReceptor: '7', token: 'dG9rZW4=', askFrom: null } as const;
const PATIENCE_SECONDS = 60;
const HUNDRED = 100;
const NOT_YET: VerdictOutcome = { kind: 'notYet', code: 'no verdict on it' };
const ACCEPTED: VerdictOutcome = { kind: 'verdict', status: 'ACCEPTED', reasons: [] };

describe('the authority is asked about a sobre', () => {
  let db: TestDatabase;
  let rut: string;
  let accountId: string;
  let cfes: Cfe[];
  let sobreId: string;
  let now: Date;
  let answers: VerdictOutcomes;
  let sent: FindSobreAnswer;
  let asked: { places: (number | null)[]; idReceptor: string | null }[];
  /** What the last attempt has left to the next. */
  let kept: unknown;
  beforeEach(async () => {
    db = await cloneDatabase({ worker: true });
    now = new Date('2026-11-20T12:00:00Z');
    asked = [];
    sent = FIRST;
    kept = undefined;
    accountId = await anAccount(db.orm);
    rut = await aReadyEnterprise(db.orm, accountId, { caes: [{ type: 'ETICKET' }] });
  });
  afterEach(() => db[Symbol.asyncDispose]());

  /** So many CFEs in a sobre that is sent at the first attempt. */
  async function aSobre(count: number): Promise<void> {
    cfes = await givePendingCfes(db.orm, { accountId, rut, count, from: now });
    sobreId = await aSobreOf(db.orm, cfes, { slot: now });
  }
  const says = (...outcomes: VerdictOutcome[]): void => {
    answers = { kind: 'answered', outcomes };
  };
  const authority: Authority = {
    signSobre: signedAsItIs,
    sendSobre: async () => sent as typeof FIRST,
    findSobre: () => Promise.reject(new Error('not asked here')),
    async askVerdicts(of: readonly PlacedCfe[], { idReceptor }) {
      asked.push({ places: of.map(({ place }) => place), idReceptor });
      if (answers.kind !== 'answered') return answers;
      return { kind: 'answered', outcomes: answers.outcomes.slice(0, of.length) };
    },
    findReceipt: () => Promise.reject(new Error('not asked here')),
    findState: () => Promise.reject(new Error('not asked here')),
  };
  const passes = (milliseconds: number): void => {
    now = new Date(now.getTime() + milliseconds);
  };
  const ask = (attempt = 2, pollLongestSeconds = 900) =>
    asActivity(
      () =>
        createTakeToVerdict({
          orm: db.worker,
          clock: () => now,
          outbox: idleOutbox,
          gatekeeper: idleGatekeeper,
          authority,
          gate: createGate({
            orm: db.worker,
            clock: () => now,
            sendsPerSecond: 10,
            questionsPerSecond: 1_000,
            pause: async (ms) => passes(ms),
          }),
          signDocument: ({ numero }) => ({ xml: `<CFE n="${numero}"/>`, digest: `d${numero}` }),
          authorityRut: { production: '214844360018', sandbox: '219999830019' },
          // Pauses come to the attempt's end at once.
          pollLongestSeconds,
          patienceSeconds: PATIENCE_SECONDS,
        })(sobreId),
      {
        attempt,
        heartbeatDetails: kept,
        heartbeat: (details) => {
          kept = details;
        },
      },
    );
  const rows = () => db.orm.em.fork().find(Cfe, { rut }, { orderBy: { sequence: 'asc' } });
  const statuses = async () => (await rows()).map(({ status }) => status);
  const cfeId = (place: number) => formatCfeId(cfes[place] as Cfe);
  /** The authority may be asked from then on: so nothing is waited for within the attempt. */
  const isReceived = async (): Promise<void> => {
    sent = { ...FIRST, askFrom: new Date(now.getTime() + 5_000) };
    await expect(ask()).rejects.toMatchObject({ type: 'NotYet', nextRetryDelay: 5_000 });
    passes(15_000);
  };

  test('not before the moment that it named, for which one wait is made, however long', async () => {
    await aSobre(1);
    sent = { ...FIRST, askFrom: new Date(now.getTime() + 300_000) };
    await expect(ask()).rejects.toMatchObject({ type: 'NotYet', nextRetryDelay: 300_000 });
    expect(asked).toEqual([]);
    expect(await statuses()).toEqual(['RECEIVED']);

    passes(300_000);
    says(ACCEPTED);
    expect(await ask()).toEqual({ kind: 'ended', endings: { [cfeId(0)]: 'ACCEPTED' }, codes: [] });
  });

  test('the pauses grow with the age of what was asked about, not with the attempts', async () => {
    await aSobre(1);
    await isReceived();
    says(NOT_YET);
    const pauses: unknown[] = [];
    for (const age of [0, 20_000, 500_000, 600_000, 3_600_000]) {
      passes(age);
      pauses.push(await ask().catch((error: { nextRetryDelay?: unknown }) => error.nextRetryDelay));
      await db.orm.em.fork().nativeUpdate(Sobre, { id: sobreId }, { undecidedSince: null });
    }
    expect(pauses).toEqual([10_000, 30_000, 60_000, 300_000, 900_000]);
    // The operator may want them shorter.
    await expect(ask(2, 45)).rejects.toMatchObject({ nextRetryDelay: 45_000 });
  });

  test('the pauses of an authority that is away double with its failures, whatever attempts "not yet" has taken', async () => {
    await aSobre(1);
    await isReceived();
    const pause = async (attempt: number): Promise<number> =>
      ask(attempt).then(
        () => 0,
        (error: { nextRetryDelay?: number }) => error.nextRetryDelay ?? 0,
      );
    const away = (): void => {
      answers = { kind: 'repeat', reached: false, description: 'no connection' };
    };
    const isAbout = async (attempt: number, seconds: number): Promise<void> => {
      const milliseconds = await pause(attempt);
      expect(milliseconds).toBeGreaterThanOrEqual(seconds * 800);
      expect(milliseconds).toBeLessThanOrEqual(seconds * 1_000);
    };
    says(NOT_YET);
    await pause(8);
    away();
    await isAbout(9, 1);
    await isAbout(10, 2);
    await isAbout(11, 4);
    says(NOT_YET);
    await pause(12);
    away();
    await isAbout(13, 1);
  });

  test('a hundred verdicts are stored once each, with what customers’ servers hear of them', async () => {
    await addWebhook(webhookDeps(db.orm), {
      accountId,
      url: 'https://hooks.example.com/',
      events: ['cfe.updated'],
    });
    await aSobre(HUNDRED);
    await isReceived();
    says(...Array.from({ length: HUNDRED }, () => ACCEPTED));

    expect(await ask()).toMatchObject({ kind: 'ended' });

    expect(new Set(await statuses())).toEqual(new Set(['ACCEPTED']));
    const events = (await eventsOf(db.orm, rut)).map(({ data }) =>
      [data['cfe_id'], data['status']].map(String).join(' '),
    );
    expect(events.toSorted()).toEqual(
      cfes.flatMap((cfe) => [`${formatCfeId(cfe)} ACCEPTED`, `${formatCfeId(cfe)} RECEIVED`]).toSorted(),
    );
    const [counted] = await db.orm.em.fork().execute<{ deliveries: number; starts: number }[]>(
      `select (select count(*)::integer from delivery) as deliveries,
           (select count(*)::integer from outbox where workflow = 'deliverWebhook') as starts`,
    );
    expect(counted).toEqual({ deliveries: 2 * HUNDRED, starts: 2 * HUNDRED });
  });
});
