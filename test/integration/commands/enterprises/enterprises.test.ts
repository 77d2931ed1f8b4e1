import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createEnterprise } from '../../../../src/commands/enterprises/createEnterprise.ts';
import { resumeEnterprise, suspendEnterprise } from '../../../../src/commands/enterprises/suspension.ts';
import {
  type UpdateEnterpriseDeps,
  updateEnterprise,
} from '../../../../src/commands/enterprises/updateEnterprise.ts';
import { findEnterprise } from '../../../../src/db/enterprises/enterprises.ts';
import { Enterprise } from '../../../../src/db/entities/enterprises.ts';
import { anAccount, idleOutbox, outboxOf } from '../../../support/commandDeps.ts';
import { cloneDatabase, type TestDatabase } from '../../../support/database/database.ts';
import { enterpriseBody } from '../../../support/enterprises/enterprises.ts';
import { aRut } from '../../../support/receipts/papers.ts';

let db: TestDatabase;
let deps: UpdateEnterpriseDeps;
let accountId: string;

beforeAll(async () => {
  db = await cloneDatabase();
  deps = {
    orm: db.orm,
    clock: () => new Date(),
    outbox: idleOutbox,
    checkoutUrl: 'https://pay.example/checkout',
  };
  accountId = await anAccount(db.orm);
});
afterAll(async () => {
  await db[Symbol.asyncDispose]();
});

async function anEnterprise(): Promise<string> {
  const { rut } = await createEnterprise(deps, { accountId, enterprise: enterpriseBody() });
  return rut;
}

const stored = (rut: string) => findEnterprise(db.orm.em.fork(), rut);
const invalid = (code: string, path: string) => ({
  code: 'INVALID_INPUT',
  faults: [expect.objectContaining({ code, path })],
});

describe('createEnterprise', () => {
  test('stores a PENDING enterprise and starts its onboarding in the same transaction', async () => {
    const rut = await anEnterprise();

    expect(await stored(rut)).toMatchObject({
      rut,
      status: 'PENDING',
      ownerAccountId: accountId,
      permissions: [],
    });
    expect(await outboxOf(db.orm, `enterprise:${rut}`)).toEqual([
      { workflow: 'onboardEnterprise', signal: null, input: { rut } },
    ]);
  });

  test('of ten callers with one RUT one registers it and nine are told that it is there', async () => {
    const rut = aRut();

    const results = await Promise.allSettled(
      Array.from({ length: 10 }, () =>
        createEnterprise(deps, { accountId, enterprise: enterpriseBody(rut) }),
      ),
    );

    const refused = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
    expect(refused).toHaveLength(9);
    for (const refusal of refused) expect(refusal).toMatchObject({ code: 'ALREADY_EXISTS' });
    expect(await outboxOf(db.orm, `enterprise:${rut}`)).toHaveLength(1);
  });
});

describe('updateEnterprise', () => {
  test('what is left out stays as it is, and onboarding is told', async () => {
    const rut = await anEnterprise();
    const date = new Date('2026-03-01T12:00:00Z');

    await updateEnterprise(deps, { rut, update: { plan_id: 'FREE', frequency_id: 'MONTHLY' } });
    await updateEnterprise(deps, { rut, update: { scheduled_ready_date: date } });

    expect(await stored(rut)).toMatchObject({
      planId: 'FREE',
      frequencyId: 'MONTHLY',
      scheduledReadyDate: date,
    });
    expect((await outboxOf(db.orm, `enterprise:${rut}`)).map(({ signal }) => signal)).toEqual([
      null,
      'factsChanged',
      'factsChanged',
    ]);
  });

  test('a frequency alone changes that of the plan already set', async () => {
    const rut = await anEnterprise();
    await updateEnterprise(deps, { rut, update: { plan_id: 'STANDARD', frequency_id: 'MONTHLY' } });

    await updateEnterprise(deps, { rut, update: { frequency_id: 'YEARLY' } });

    expect(await stored(rut)).toMatchObject({ planId: 'STANDARD', frequencyId: 'YEARLY' });
  });

  test.each([
    [{ plan_id: 'GOLD', frequency_id: 'MONTHLY' }, 'plan.unknown', '/plan_id'],
    [{ plan_id: 'FREE', frequency_id: 'YEARLY' }, 'plan.unknown', '/plan_id'],
    [{ plan_id: 'FREE' }, 'plan.incomplete', '/frequency_id'],
    [{ frequency_id: 'MONTHLY' }, 'plan.incomplete', '/plan_id'],
  ])('%j is refused and changes nothing', async (update, code, path) => {
    const rut = await anEnterprise();

    await expect(updateEnterprise(deps, { rut, update })).rejects.toMatchObject(invalid(code, path));

    expect(await stored(rut)).toMatchObject({ planId: null, frequencyId: null });
  });

  test('an unknown RUT is NOT_FOUND', async () => {
    const update = { plan_id: 'FREE', frequency_id: 'MONTHLY' };
    await expect(updateEnterprise(deps, { rut: aRut(), update })).rejects.toMatchObject({
      code: 'NOT_FOUND',
    });
  });
});

describe('suspendEnterprise and resumeEnterprise', () => {
  test.each(['PENDING', 'READY'] as const)('a suspended enterprise goes back to %s', async (before) => {
    const rut = await anEnterprise();
    await db.orm.em.fork().nativeUpdate(Enterprise, { rut }, { status: before });

    await suspendEnterprise(deps, { rut, reason: 'Falta de pago' });
    expect(await stored(rut)).toMatchObject({ status: 'SUSPENDED', statusBeforeSuspension: before });

    await resumeEnterprise(deps, { rut });
    expect(await stored(rut)).toMatchObject({ status: before, statusBeforeSuspension: null });
    expect((await outboxOf(db.orm, `enterprise:${rut}`)).at(-1)).toMatchObject({ signal: 'factsChanged' });
  });

  test('suspending twice and resuming what is not suspended are refused', async () => {
    const rut = await anEnterprise();
    await expect(resumeEnterprise(deps, { rut })).rejects.toMatchObject({ code: 'INVALID_INPUT' });
    await suspendEnterprise(deps, { rut, reason: 'Falta de pago' });
    await expect(suspendEnterprise(deps, { rut, reason: 'Falta de pago' })).rejects.toMatchObject({
      code: 'INVALID_INPUT',
    });
  });
});
