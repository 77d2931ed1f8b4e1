import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { asyncLocalStorage, type Context } from '@temporalio/activity';
import type { Authority, VerdictAnswer } from '../../../src/activities/authority.ts';
import { createDgiActivities } from '../../../src/activities/dgi.ts';
import { Cfe } from '../../../src/db/entities/Cfe.ts';
import { Sobre } from '../../../src/db/entities/Sobre.ts';
import type { FindSobreAnswer } from '../../../src/dgi/client.ts';
import { createGate } from '../../../src/gate/gate.ts';
import { anAccount, idleOutbox } from '../../support/commandDeps.ts';
import { cloneDatabase, type TestDatabase } from '../../support/database.ts';
import { aReadyEnterprise } from '../../support/enterprises.ts';
import { givePendingCfes } from '../../support/pendingCfes.ts';

const FIRST = { kind: 'received', idReceptor: '7', token: 'dG9rZW4=', askFrom: null } as const;
const OTHER = { kind: 'received', idReceptor: '8', token: 'b3RoZXI=', askFrom: null } as const;
const PATIENCE_SECONDS = 60;

describe('awaitVerdict where the authority does not know the sobre by our number and token (104)', () => {
  let db: TestDatabase;
  let cfe: Cfe;
  let now: Date;
  let verdict: VerdictAnswer;
  let listed: FindSobreAnswer;
  beforeEach(async () => {
    db = await cloneDatabase();
    now = new Date('2026-11-20T12:00:00Z');
    verdict = { kind: 'recover' };
    listed = FIRST;
    const accountId = await anAccount(db.orm);
    const rut = await aReadyEnterprise(db.orm, accountId, { caes: [{ type: 'ETICKET' }] });
    [cfe] = (await givePendingCfes(db.orm, { accountId, rut, count: 1, from: now })) as [Cfe];
    await db.orm.em.fork().nativeUpdate(Cfe, { id: cfe.id }, { signedXml: '<CFE/>', digest: 'eA==' });
    await activities().submitCfe(cfe.id);
  });
  afterEach(() => db[Symbol.asyncDispose]());

  const clock = () => now;
  const authority: Authority = {
    sendSobre: async () => FIRST,
    findSobre: async () => listed,
    askVerdict: async () => verdict,
    findReceipt: () => Promise.reject(new Error('not asked here')),
  };
  const activities = () =>
    createDgiActivities({
      orm: db.orm,
      clock,
      outbox: idleOutbox,
      authority,
      gate: createGate({ orm: db.orm, clock, sendsPerSecond: 10 }),
      authorityRut: { production: '214844360018', sandbox: '219999830019' },
      pollLongestSeconds: 60,
      patienceSeconds: PATIENCE_SECONDS,
    });
  /** A second attempt, as Temporal would make it. */
  const ask = () =>
    asyncLocalStorage.run({ info: { attempt: 2 } } as unknown as Context, () =>
      activities().awaitVerdict(cfe.id),
    );
  const ticket = () => db.orm.em.fork().findOneOrFail(Sobre, { cfeId: cfe.id });

  test('those of its list are taken, and asked with', async () => {
    listed = OTHER;
    await expect(ask()).rejects.toMatchObject({ type: 'NotYet' });
    expect(await ticket()).toMatchObject({ idReceptor: '8', token: 'b3RoZXI=' });

    verdict = { kind: 'verdict', status: 'ACCEPTED', reasons: [] };
    expect(await ask()).toEqual({ status: 'ACCEPTED' });
  });

  test.each<[string, FindSobreAnswer]>([
    ['gives the same ones each time', FIRST],
    ['does not have it', { kind: 'absent' }],
  ])(
    'a list that %s: support is asked once patience is over, and retries for as long again',
    async (_, found) => {
      listed = found;
      await expect(ask()).rejects.toMatchObject({ type: 'NotYet' });
      now = new Date(now.getTime() + PATIENCE_SECONDS * 1_000 + 1);

      expect(await ask()).toMatchObject({ stuck: 'undecided' });

      await expect(ask()).rejects.toMatchObject({ type: 'NotYet' });
    },
  );
});
