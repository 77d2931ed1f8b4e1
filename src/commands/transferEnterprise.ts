import type { EntityManager } from '@mikro-orm/postgresql';
import { requireAccount } from '../db/accounts.ts';
import { enterpriseObjectOf } from '../db/enterpriseObjects.ts';
import { lockEnterprise } from '../db/enterprises.ts';
import type { Enterprise } from '../db/entities/Enterprise.ts';
import { recordEvent } from '../db/events.ts';
import { deleteGrant, listGrants } from '../db/grants.ts';
import { enterpriseUpdated } from '../domain/webhookEvents.ts';
import { Refusal } from '../errors.ts';
import { audited } from './steps/audited.ts';
import type { CommandDeps } from './steps/deps.ts';

/**
 * Makes another account the owner of an enterprise; the one before has no role there any more. All else stays: its
 * certificate, its login, its CFEs and the roles that were granted to others. An operator's act. Both accounts are told,
 * each of its own role. Refuses an unknown RUT or account (NOT_FOUND), and the account that owns it (INVALID_INPUT).
 */
export async function transferEnterprise(
  deps: CommandDeps,
  input: { rut: string; accountId: string; reason: string },
): Promise<Enterprise> {
  const { rut, reason } = input;
  const transferred = await deps.orm.em.fork().transactional(async (em) => {
    const enterprise = await lockEnterprise(em, rut);
    if (!enterprise) throw new Refusal('NOT_FOUND', `No enterprise with RUT ${rut} is registered.`);
    const { id: accountId } = await requireAccount(em, input.accountId);
    const before = enterprise.ownerAccountId;
    if (before === accountId) {
      throw new Refusal('INVALID_INPUT', `The account ${accountId} already owns the enterprise ${rut}.`);
    }
    const now = deps.clock();
    const [granted] = await listGrants(em, { accountId, rut });
    await tell(em, enterprise, { accountId: before, from: 'OWNER', to: null }, now);
    await deleteGrant(em, { accountId, rut });
    enterprise.ownerAccountId = accountId;
    await em.flush();
    await tell(em, enterprise, { accountId, from: granted?.role ?? null, to: 'OWNER' }, now);
    audited(deps, em, { action: 'enterprise.transfer', subject: before, accountId, rut, reason }, now);
    return enterprise;
  });
  deps.outbox.dispatchSoon();
  return transferred;
}

async function tell(
  em: EntityManager,
  enterprise: Enterprise,
  { accountId, from, to }: { accountId: string; from: string | null; to: string | null },
  now: Date,
): Promise<void> {
  const object = await enterpriseObjectOf(em, enterprise, now);
  const about = { rut: enterprise.rut, environment: 'production' as const, accountId };
  await recordEvent(em, about, enterpriseUpdated(object, { role: { from, to } }), now);
}
