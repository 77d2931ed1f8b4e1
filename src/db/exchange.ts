/** How CFEs come to receivers who are electronic issuers themselves. */
import { type EntityManager, LockMode } from '@mikro-orm/postgresql';
import { formatCfeId } from '../domain/cfeId.ts';
import { CFE_TYPE_NAMES, CFE_TYPES } from '../domain/cfeTypes.ts';
import type { DirectoryFacts, ExchangeState } from '../domain/directory.ts';
import { LEAST_UUID } from '../domain/uuid.ts';
import { newExchangeWorkflowId, type WorkflowMessage } from '../temporal.ts';
import { requireSigner } from './certificates.ts';
import { Exchange } from './entities/authority.ts';
import type { Certificate } from './entities/enterprises.ts';
import { Cfe } from './entities/receipts.ts';
import { insertMail } from './mails.ts';
import { insertMessagesSql } from './outbox.ts';
import type { UuidPage } from './page.ts';
import { nextIdemisor } from './sobres.ts';

/** The types that go to their receivers (docs/authority/sobres.md#who-gets-what). */
const EXCHANGED = CFE_TYPE_NAMES.filter((type) => CFE_TYPES[type].family === 'invoice');

const CODES = JSON.stringify(
  Object.fromEntries(EXCHANGED.map((type) => [type, String(CFE_TYPES[type].code)])),
);

/**
 * The part of a statement that stores, with a verdict, the exchange of the CFE and, in `exchanged`, the start of its workflow.
 * `decided`: a CTE with id, rut, environment, type, sequence and document. Its parameters: the moment, twice.
 */
export const verdictExchangeSql = (decided: string): string => `
  exchanges as (
    insert into exchange (cfe_uuid, rut, environment, receiver_rut, state, created_at)
    select id, rut, environment, document #>> '{receiver,document,number}', 'PENDING', ?::timestamptz from ${decided}
    where environment = 'production' and type in (${EXCHANGED.map((type) => `'${type}'`).join(', ')})
      and document #>> '{receiver,document,type}' = 'RUC'
    returning exchange.cfe_uuid),
  exchanged as (
    ${insertMessagesSql(
      'exchangeCfe',
      `'${newExchangeWorkflowId({ rut: '', cfeId: '', uuid: '' }).split(':', 1)[0]}:' || rut || ':' || name || ':' || left(id::text, 8),
       jsonb_build_object('cfeUuid', id),
       jsonb_build_object('EnterpriseRut', rut, 'Environment', environment, 'CfeType', type,
         'CfeId', jsonb_build_array(name)), ?::timestamptz`,
    )}
    from (select *, ('${CODES}'::jsonb ->> type) || '-' || sequence as name from ${decided}) as named
    join exchanges on cfe_uuid = id
    returning id)`;

function exchangeMessage({ id, rut, environment, type, sequence }: Cfe): WorkflowMessage {
  const cfeId = formatCfeId({ type, sequence });
  return {
    workflow: 'exchangeCfe',
    workflowId: newExchangeWorkflowId({ rut, cfeId, uuid: id }),
    input: { cfeUuid: id },
    searchAttributes: { EnterpriseRut: rut, Environment: environment, CfeType: type, CfeId: [cfeId] },
  };
}

/** The workflows of all CFEs of which it is not known yet whether they go to their receivers, of one enterprise or of all. */
export async function pendingExchangeMessages(
  em: EntityManager,
  { rut, page }: { rut?: string | undefined; page?: UuidPage | undefined },
): Promise<WorkflowMessage[]> {
  const whose = rut === undefined ? {} : { rut };
  const inPage = page ? { cfeUuid: { $gt: page.after || LEAST_UUID }, createdAt: { $lt: page.before } } : {};
  const rows = await em.find(
    Exchange,
    { ...whose, ...inPage, state: 'PENDING' },
    page ? { orderBy: { cfeUuid: 'asc' }, limit: page.limit } : { orderBy: { createdAt: 'asc' } },
  );
  const cfes = await em.find(
    Cfe,
    { id: { $in: rows.map(({ cfeUuid }) => cfeUuid) } },
    { orderBy: page ? { id: 'asc' } : { settledAt: 'asc' } },
  );
  return cfes.map(exchangeMessage);
}

/** The way of a CFE to its receiver, with the bytes of its sobre; throws where it has none. */
export const requireExchange = (em: EntityManager, cfeUuid: string): Promise<Exchange> =>
  em.findOneOrFail(Exchange, { cfeUuid }, { populate: ['xml'] });

/** Stores that there is nothing to send. What is settled stays. */
export async function settleExchange(
  em: EntityManager,
  cfeUuid: string,
  state: Exclude<ExchangeState, 'PENDING' | 'ON_ITS_WAY'>,
  now: Date,
): Promise<void> {
  await em.nativeUpdate(Exchange, { cfeUuid, state: 'PENDING' }, { state, settledAt: now });
}

/** What a CFE goes to its receiver in. */
export interface NewExchange {
  readonly destination: string;
  /** The bytes of the sobre, by its number. */
  readonly write: (cfe: Cfe, idemisor: bigint) => string;
  /** The Message-ID of its e-mail, by its number. */
  readonly messageId: (cfe: Cfe, idemisor: bigint) => string;
}

/**
 * Stores, with the open transaction, the sobre of a CFE with the next Idemisor, and the e-mail that brings it. Once for
 * each CFE: whoever comes second waits for the lock of its row and changes nothing.
 */
export async function queueExchange(
  em: EntityManager,
  cfeUuid: string,
  { destination, write, messageId }: NewExchange,
  now: Date,
): Promise<void> {
  const exchange = await em.findOneOrFail(Exchange, { cfeUuid }, { lockMode: LockMode.PESSIMISTIC_WRITE });
  if (exchange.state !== 'PENDING') return;
  const cfe = await em.findOneOrFail(Cfe, { id: cfeUuid }, { populate: ['signedXml'] });
  const idemisor = await nextIdemisor(em, exchange.rut, exchange.environment);
  const xml = write(cfe, idemisor);
  Object.assign(exchange, { state: 'ON_ITS_WAY', idemisor, xml, settledAt: now });
  const mail = { kind: 'EXCHANGE', destination, byHand: false, messageId: messageId(cfe, idemisor) } as const;
  insertMail(em, cfe, mail, now);
}

// The authority's list of electronic issuers, as far as it was told.

/**
 * Takes over what the list tells, in one statement: of a RUC that stands there twice the last counts. `askedAt`: when it
 * was asked about these alone; null where they came with others.
 */
export async function storeDirectoryEntries(
  em: EntityManager,
  facts: readonly DirectoryFacts[],
  { now, askedAt }: { now: Date; askedAt: Date | null },
): Promise<void> {
  const rows = [...new Map(facts.map((one) => [one.rut, one])).values()];
  await em.execute(
    `insert into directory_entry as mine (rut, name, mail, since, until, asked_at, changed_at)
     select rut, name, mail, since, until, ?::timestamptz, ?::timestamptz
     from jsonb_to_recordset(?::jsonb) as told (rut text, name text, mail text, since date, until date)
     on conflict (rut) do update set name = excluded.name, mail = excluded.mail, since = excluded.since,
       until = excluded.until, asked_at = coalesce(excluded.asked_at, mine.asked_at), changed_at = excluded.changed_at`,
    [askedAt, now, JSON.stringify(rows)],
  );
}

/** When the last load began that was stored to its end; null before the first. */
export async function readLastDirectoryLoad(em: EntityManager): Promise<Date | null> {
  const [row] = await em.execute<{ begun: number }[]>(
    'select extract(epoch from begun_at)::float8 * 1000 as begun from directory_load',
  );
  return row ? new Date(row.begun) : null;
}

/** Records that a load was stored to its end. */
export async function recordDirectoryLoad(em: EntityManager, begunAt: Date, loadedAt: Date): Promise<void> {
  await em.execute(
    `insert into directory_load (begun_at, loaded_at) values (?, ?)
     on conflict (only_row) do update set begun_at = excluded.begun_at, loaded_at = excluded.loaded_at`,
    [begunAt, loadedAt],
  );
}

/** A certificate to ask for the list with: of the READY enterprises' the one that lasts longest; null without any. */
export async function findDirectoryCertificate(em: EntityManager, now: Date): Promise<Certificate | null> {
  const [row] = await em.execute<{ id: string }[]>(
    `select certificate.id from certificate join enterprise using (rut)
     where environment = 'production' and replaced_at is null and enterprise.status = 'READY' and not_after > ?
     order by not_after desc, certificate.id limit 1`,
    [now],
  );
  return row ? requireSigner(em, row.id) : null;
}
