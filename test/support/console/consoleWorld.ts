import { randomUUID } from 'node:crypto';
import { saveFilter } from '../../../src/commands/people/filters.ts';
import { createUser } from '../../../src/commands/people/users.ts';
import { Branch, Customer, Enterprise, EnterpriseGrant } from '../../../src/db/entities/enterprises.ts';
import { Run, RunItem } from '../../../src/db/entities/operations.ts';
import { Account, ApiKey, Person } from '../../../src/db/entities/people.ts';
import { Cfe } from '../../../src/db/entities/receipts.ts';
import { Delivery, DeliveryAttempt, Event, Webhook } from '../../../src/db/entities/webhooks.ts';
import type { Orm } from '../../../src/db/orm.ts';
import { anAccount } from '../commandDeps.ts';
import { giveCfes, RECEIVER } from '../mail/receipts.ts';
import type { Browser, TestConsole, TestPerson } from './console.ts';
import { aTroubledAccount, closeReception } from './consoleRows.ts';

/** Script that a customer writes where a text may stand; a page shows it as it is written. */
export const EVIL = `"><script>window.hacked=1</script><img src=x onerror=window.hacked=1>`;

/** What one account has of everything that pages show. */
export interface Side {
  readonly accountId: string;
  readonly rut: string;
  /** A stuck one, `101-1`. */
  readonly cfeId: string;
  readonly cfeUuid: string;
  readonly webhookId: string;
  /** One that failed. */
  readonly deliveryId: string;
  readonly keyId: string;
  /** A bulk run of it, in progress, with a thing that was refused. */
  readonly runId: string;
  readonly branch: number;
  /** A colleague of the account. */
  readonly email: string;
  /** What names it: no page of another account holds any of them. */
  readonly words: readonly string[];
}

/** Two accounts, and the people who ask: operators, members of ours, and others. */
export interface World {
  readonly site: TestConsole;
  readonly ours: Side;
  readonly theirs: Side;
  /** A browser in which each is signed in. */
  readonly browsers: Readonly<Record<Who, Browser>>;
  readonly people: Readonly<Record<Exclude<Who, 'nobody'>, TestPerson>>;
}

/** Guest: OWNER of an account that was granted VIEWER at our enterprise. Stranger: OWNER of the other account. */
export const WHO = [
  'operator VIEWER',
  'operator SUPPORT',
  'operator ADMIN',
  'member VIEWER',
  'member MEMBER',
  'member OWNER',
  'guest',
  'stranger',
  'nobody',
] as const;
export type Who = (typeof WHO)[number];

/** Everything that pages may show, of two accounts. */
export async function aWorld(site: TestConsole): Promise<World> {
  const { orm } = site.deps;
  const ours = await aSide(site, { name: 'zorzal', digit: '1' });
  const theirs = await aSide(site, { name: 'teru', digit: '2' });
  await closeReception(orm);
  const guests = await anAccount(orm);
  await orm.em.fork().insert(EnterpriseGrant, { accountId: guests, rut: ours.rut, role: 'VIEWER' });
  const people = {
    'operator VIEWER': await site.anOperator('VIEWER'),
    'operator SUPPORT': await site.anOperator('SUPPORT'),
    'operator ADMIN': await site.anOperator('ADMIN'),
    'member VIEWER': await site.aMember(ours.accountId, 'VIEWER'),
    'member MEMBER': await site.aMember(ours.accountId, 'MEMBER'),
    'member OWNER': await site.aMember(ours.accountId, 'OWNER'),
    guest: await site.aMember(guests, 'OWNER'),
    stranger: await site.aMember(theirs.accountId, 'OWNER'),
  };
  const browsers: Partial<Record<Who, Browser>> = { nobody: site.aBrowser({ 'user-agent': EVIL }) };
  for (const who of WHO)
    if (who !== 'nobody') browsers[who] = await site.as(people[who], { 'user-agent': EVIL });
  await saveFilters(site, Object.values(people));
  return { site, ours, theirs, people, browsers: browsers as Record<Who, Browser> };
}

async function aSide(site: TestConsole, { name, digit }: { name: string; digit: string }): Promise<Side> {
  const { orm } = site.deps;
  const of = await aTroubledAccount(orm, { name, stuck: 'undecided' });
  const { accountId, rut } = of;
  const em = orm.em.fork();
  const own = { accountId, rut };
  await em.nativeUpdate(
    Account,
    { id: accountId },
    { name: `${name} ${EVIL}`, email: `${name}@example.com` },
  );
  await evilEnterprise(orm, rut, name);
  await giveCfes(orm, own, { status: 'ACCEPTED', count: 2 });
  const cfe = await em.findOneOrFail(Cfe, { rut, sequence: 1 });
  await evilReceipts(orm, rut, name);
  const webhook = await em.findOneOrFail(Webhook, { accountId });
  const url = `https://${name}.example/hook?of=${EVIL}`;
  await em.nativeUpdate(Webhook, { id: webhook.id }, { url });
  await em.nativeUpdate(
    Event,
    { rut },
    { body: JSON.stringify({ event: 'cfe.updated', data: { rut, text: `${name} ${EVIL}` } }) },
  );
  const delivery = await em.findOneOrFail(Delivery, { webhookId: webhook.id });
  await em.insert(DeliveryAttempt, {
    deliveryId: delivery.id,
    number: 1,
    execution: randomUUID(),
    at: new Date(),
    httpStatus: 500,
    error: null,
    answer: `${name} ${EVIL}`,
    milliseconds: 120,
  });
  const keyId = randomUUID();
  await em.insert(ApiKey, {
    id: keyId,
    publicId: `${name}publickey`,
    accountId,
    environment: 'production',
    scope: 'full',
    hash: Buffer.alloc(32, digit),
    label: `${name} ${EVIL}`,
    createdAt: new Date(),
    lastUsedAt: null,
    revokedAt: null,
  });
  const email = `colega.${name}@example.com`;
  await createUser(site.deps, { email, accountId, role: 'MEMBER' });
  return {
    ...own,
    cfeId: `101-${cfe.sequence}`,
    cfeUuid: cfe.id,
    webhookId: webhook.id,
    deliveryId: delivery.id,
    keyId,
    runId: await aRun(orm, { accountId, name, deliveryId: delivery.id }),
    branch: 2,
    email,
    words: [name, rut, accountId, webhook.id, delivery.id, keyId],
  };
}

/** A bulk run whose every text is evil. */
async function aRun(
  orm: Orm,
  { accountId, name, deliveryId }: { accountId: string; name: string; deliveryId: string },
): Promise<string> {
  const em = orm.em.fork();
  const [id, now, text] = [`redeliver-2026-11-22-${name}`, new Date(), `${name} ${EVIL}`];
  await em.insert(Run, {
    id,
    kind: 'redeliver',
    accountId,
    actor: `console:${name}@example.com`,
    address: null,
    reason: text,
    filter: { since: now.toISOString() },
    state: 'RUNNING',
    total: 3,
    done: 1,
    unneeded: 0,
    refused: 1,
    createdAt: now,
    movedAt: now,
    stopAskedAt: null,
    stopAskedBy: null,
    endedAt: null,
  });
  const refused = { outcome: 'refused', message: text, attempts: 1, at: now } as const;
  await em.insert(RunItem, { runId: id, place: 1, subject: deliveryId, was: 'cfe.updated', ...refused });
  return id;
}

/** An enterprise, a branch of it and a customer whose every text is evil. */
async function evilEnterprise(orm: Orm, rut: string, name: string): Promise<void> {
  const em = orm.em.fork();
  const text = `${name} ${EVIL}`;
  await em.nativeUpdate(
    Enterprise,
    { rut },
    {
      legalName: text,
      tradeName: text,
      departmentName: text,
      localityName: text,
      streetName: text,
      phoneNumber: text,
      email: text,
      website: `javascript:alert("${name}")`,
      resolution: text,
      exemptionNorm: text,
    },
  );
  const place = { streetName: text, localityName: text, departmentName: text, phoneNumber: text };
  await em.insert(Branch, { rut, branch: 2, ...place, usedAt: null, closedAt: null, createdAt: new Date() });
  await em.insert(Customer, {
    rut,
    docNumber: text,
    givenNumber: text,
    docType: 'RUC',
    id: randomUUID(),
    legalName: text,
    legalNameSearch: text,
    fiscalAddress: text,
    city: text,
    department: text,
    country: text,
    countryCode: 'UY',
    notifications: [],
    createdAt: new Date(),
    updatedAt: new Date(),
  });
}

/** Every text of a receipt that a customer writes, and what the authority said of it. */
async function evilReceipts(orm: Orm, rut: string, name: string): Promise<void> {
  const em = orm.em.fork();
  const text = `${name} ${EVIL}`;
  // Those that givePendingCfes made have next to no document: all get that of one that has.
  const { document } = await em.findOneOrFail(Cfe, { rut, status: 'ACCEPTED', sequence: 6 });
  const evil = {
    ...document,
    issuer: { ...document.issuer, legalName: text, address: text, city: text, department: text },
    receiver: { ...document.receiver, document: RECEIVER, legalName: text },
    lines: document.lines.map((line) => ({ ...line, name: text })),
  };
  for (const { id, sequence, numero } of await em.find(Cfe, { rut })) {
    const idempotencyKey = `${name}${sequence}"><img src=x>`;
    const values = {
      document: { ...evil, numero },
      extra: { adenda: text },
      idempotencyKey,
      idempotencyHash: Buffer.alloc(32),
      idempotencyOutline: { check: '', body: {} },
    };
    await em.nativeUpdate(Cfe, { id }, values);
  }
  await em.nativeUpdate(
    Cfe,
    { rut, sequence: 7 },
    {
      status: 'REJECTED',
      rejection: [{ code: 'E20', message: text, detail: text }],
    },
  );
}

/** A filter with an evil name on each list, for everybody. */
async function saveFilters(site: TestConsole, people: readonly TestPerson[]): Promise<void> {
  const em = site.deps.orm.em.fork();
  for (const { email } of people) {
    const { id } = await em.findOneOrFail(Person, { email });
    for (const path of ['/cfes', '/stuck', '/deliveries', '/enterprises', '/reports', '/audit', '/accounts'])
      await saveFilter(site.deps, { personId: id, path, name: EVIL.slice(0, 60), query: 'rut=219999830019' });
  }
}
