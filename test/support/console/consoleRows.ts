import { randomUUID } from 'node:crypto';
import { AuthorityEndpoint } from '../../../src/db/entities/authority.ts';
import { Cfe } from '../../../src/db/entities/receipts.ts';
import { Delivery, Event, Webhook } from '../../../src/db/entities/webhooks.ts';
import type { Orm } from '../../../src/db/orm.ts';
import type { StuckReason } from '../../../src/domain/authority/stuckReason.ts';
import { anAccount } from '../commandDeps.ts';
import { aReadyEnterprise } from '../enterprises/enterprises.ts';
import { day } from '../receipts/papers.ts';
import { givePendingCfes } from '../receipts/pendingCfes.ts';

/** One thing of everything that the console's first page tells of: an account of its own, and what stands there. */
export interface Troubled {
  accountId: string;
  rut: string;
  legalName: string;
  url: string;
}

/** An account whose enterprise has a CAE that ends soon, CFEs on their way and stuck ones, and a webhook that fails. */
export async function aTroubledAccount(
  orm: Orm,
  of: { name: string; stuck: StuckReason },
): Promise<Troubled> {
  const accountId = await anAccount(orm);
  const legalName = `${of.name} S.A.`;
  const url = `https://${of.name.toLowerCase().replaceAll(' ', '-')}.example/avisos/comprobantes`;
  const rut = await aReadyEnterprise(orm, accountId, {
    caes: [{ expirationDate: day(5), to: 4_000 }],
    values: { legalName },
  });
  const from = new Date(Date.now() - 3.5 * 3_600_000);
  const cfes = await givePendingCfes(orm, { accountId, rut, count: 5, from });
  const em = orm.em.fork();
  const stuck = cfes.slice(0, 3).map(({ id }) => id);
  await em.nativeUpdate(Cfe, { id: { $in: stuck } }, { stuckReason: of.stuck });
  const [webhookId, eventId, now] = [randomUUID(), randomUUID(), new Date()];
  await em.insert(Webhook, {
    id: webhookId,
    accountId,
    url,
    events: ['cfe.updated'],
    sealedSecret: 'sealed',
    sealedPreviousSecret: null,
    previousSecretUntil: null,
    enabled: true,
    disabledReason: null,
    createdAt: now,
    removedAt: null,
  });
  await em.insert(Event, {
    id: eventId,
    rut,
    name: 'cfe.updated',
    environment: 'production',
    body: '{}',
    createdAt: now,
  });
  await em.insert(Delivery, {
    id: randomUUID(),
    workflowId: `webhook ${eventId}`,
    webhookId,
    eventId,
    eventName: 'cfe.updated',
    status: 'FAILED',
    createdAt: now,
    settledAt: now,
  });
  return { accountId, rut, legalName, url };
}

/** The authority's reception is away since an hour. */
export async function closeReception(orm: Orm): Promise<void> {
  await orm.em.fork().nativeUpdate(
    AuthorityEndpoint,
    { name: 'production/reception' },
    {
      failures: 9,
      probes: 4,
      openSince: new Date(Date.now() - 3_600_000),
      nextProbeAt: new Date(Date.now() + 60_000),
    },
  );
}
