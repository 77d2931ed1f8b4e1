import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { createAwaitVerdict } from '../../../src/activities/awaitVerdict.ts';
import type { Authority, VerdictOutcome } from '../../../src/activities/steps/authority.ts';
import { createSubmitCfe } from '../../../src/activities/submitCfe.ts';
import { Sobre } from '../../../src/db/entities/authority.ts';
import { Cfe } from '../../../src/db/entities/receipts.ts';
import type { FindSobreAnswer } from '../../../src/dgi/client.ts';
import { createGate } from '../../../src/gate/gate.ts';
import { asActivity } from '../../support/activityContext.ts';
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
  let verdict: VerdictOutcome;
  let listed: FindSobreAnswer;
  beforeEach(async () => {
    db = await cloneDatabase({ worker: true });
    now = new Date('2026-11-20T12:00:00Z');
    verdict = { kind: 'recover' };
    listed = FIRST;
    const accountId = await anAccount(db.orm);
    const rut = await aReadyEnterprise(db.orm, accountId, { caes: [{ type: 'ETICKET' }] });
    [cfe] = (await givePendingCfes(db.orm, { accountId, rut, count: 1, from: now })) as [Cfe];
    await db.orm.em.fork().nativeUpdate(Cfe, { id: cfe.id }, { signedXml: '<CFE/>', digest: 'eA==' });
    await asActivity(() => createSubmitCfe(deps())(cfe.id));
  });
  afterEach(() => db[Symbol.asyncDispose]());

  const clock = () => now;
  const authority: Authority = {
    sendSobre: async () => FIRST,
    findSobre: async () => listed,
    askVerdict: async () => verdict,
    findReceipt: () => Promise.reject(new Error('not asked here')),
    findState: () => Promise.reject(new Error('not asked here')),
  };
  const deps = () => ({
    orm: db.worker,
    clock,
    outbox: idleOutbox,
    authority,
    gate: createGate({ orm: db.worker, clock, sendsPerSecond: 10 }),
    authorityRut: { production: '214844360018', sandbox: '219999830019' },
    pollLongestSeconds: 60,
    patienceSeconds: PATIENCE_SECONDS,
  });
  const ask = () => asActivity(() => createAwaitVerdict(deps())(cfe.id));
  const ticket = () => db.orm.em.fork().findOneOrFail(Sobre, { cfeUuid: cfe.id });

  test('those of its list are taken, and asked with', async () => {
    listed = OTHER;
    await expect(ask()).rejects.toMatchObject({ type: 'NotYet' });
    expect(await ticket()).toMatchObject({ idReceptor: '8', token: 'b3RoZXI=' });

    verdict = { kind: 'verdict', status: 'ACCEPTED', reasons: [] };
    expect(await ask()).toEqual({ kind: 'decided', status: 'ACCEPTED', codes: [] });
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

      expect(await ask()).toMatchObject({ kind: 'stuck', reason: 'undecided' });

      await expect(ask()).rejects.toMatchObject({ type: 'NotYet' });
    },
  );
});
