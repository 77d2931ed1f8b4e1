/** Sends CFEs to receivers that are electronic issuers. */

import { type EntityManager, LockMode } from '@mikro-orm/postgresql';
import type { DirectoryRecord, ExchangeState } from '../../domain/mail/directory.ts';
import { formatCfeId } from '../../domain/receipts/cfeId.ts';
import { CFE_TYPE_NAMES, CFE_TYPES } from '../../domain/receipts/cfeTypes.ts';
import { montevideoDate } from '../../domain/values/montevideo.ts';
import { LEAST_UUID } from '../../domain/values/uuid.ts';
import { newExchangeWorkflowId, type WorkflowMessage } from '../../temporal.ts';
import { nextIdemisor } from '../authority/sobres.ts';
import { requireSigner } from '../enterprises/certificates.ts';
import { Exchange } from '../entities/authority.ts';
import type { Certificate } from '../entities/enterprises.ts';
import { Cfe } from '../entities/receipts.ts';
import { insertMessagesSql } from '../outbox.ts';
import type { UuidPage } from '../page.ts';
import { givenConditions } from '../sql.ts';
import { insertMail } from './mails.ts';

/** The types that are sent to their receivers (docs/authority/sobres.md#who-gets-what). */
const EXCHANGED = CFE_TYPE_NAMES.filter((type) => CFE_TYPES[type].family === 'invoice');

const CFE_CODES = JSON.stringify(
  Object.fromEntries(EXCHANGED.map((type) => [type, String(CFE_TYPES[type].code)])),
);

/**
 * Stores, as part of a statement, the exchanges of decided CFEs and, in `exchanged`, the starts of their workflows.
 * `decided`: a CTE with id, rut, environment, type, sequence and document. Parameters: the time, twice.
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
    from (select *, ('${CFE_CODES}'::jsonb ->> type) || '-' || sequence as name from ${decided}) as named
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

/** Returns the messages that start the workflows of all pending exchanges, of one enterprise or of all. */
export async function pendingExchangeMessages(
  em: EntityManager,
  { rut, page }: { rut?: string | undefined; page?: UuidPage | undefined },
): Promise<WorkflowMessage[]> {
  const inPage = page ? { cfeUuid: { $gt: page.after || LEAST_UUID }, createdAt: { $lt: page.before } } : {};
  const rows = await em.find(
    Exchange,
    { ...givenConditions({ rut }), ...inPage, state: 'PENDING' },
    page ? { orderBy: { cfeUuid: 'asc' }, limit: page.limit } : { orderBy: { createdAt: 'asc' } },
  );
  const cfes = await em.find(
    Cfe,
    { id: { $in: rows.map(({ cfeUuid }) => cfeUuid) } },
    { orderBy: page ? { id: 'asc' } : { settledAt: 'asc' } },
  );
  return cfes.map(exchangeMessage);
}

/** Returns the exchange of a CFE with the XML of its sobre; throws if it has no exchange. */
export const requireExchange = (em: EntityManager, cfeUuid: string): Promise<Exchange> =>
  em.findOneOrFail(Exchange, { cfeUuid }, { populate: ['xml'] });

/** Stores that there is nothing to send; skips exchanges that are already settled. */
export async function settleExchange(
  em: EntityManager,
  cfeUuid: string,
  state: Exclude<ExchangeState, 'PENDING' | 'ON_ITS_WAY'>,
  now: Date,
): Promise<void> {
  await em.nativeUpdate(Exchange, { cfeUuid, state: 'PENDING' }, { state, settledAt: now });
}

/** The sobre and e-mail that bring a CFE to its receiver. */
export interface NewExchange {
  readonly destination: string;
  /** Writes the XML of the sobre under its number. */
  readonly write: (cfe: Cfe, idemisor: bigint) => string;
  /** Returns the Message-ID of the e-mail of the sobre with this number. */
  readonly messageId: (cfe: Cfe, idemisor: bigint) => string;
}

/**
 * Stores the sobre of a CFE under the next Idemisor, and its e-mail, with the open transaction. Once per CFE: a
 * second call waits for the lock and changes nothing.
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
  const idemisor = await nextIdemisor(em, exchange, montevideoDate(now));
  const xml = write(cfe, idemisor);
  Object.assign(exchange, { state: 'ON_ITS_WAY', idemisor, xml, settledAt: now });
  const mail = { kind: 'EXCHANGE', destination, byHand: false, messageId: messageId(cfe, idemisor) } as const;
  insertMail(em, cfe, mail, now);
}

// Our copy of the authority's list of electronic issuers.

/**
 * Stores entries of the list, in one statement; of a repeated RUC the last entry counts. `askedAt`: when the authority was
 * asked about these entries alone; null if they come from the whole list.
 */
export async function storeDirectoryEntries(
  em: EntityManager,
  facts: readonly DirectoryRecord[],
  { now, askedAt }: { now: Date; askedAt: Date | null },
): Promise<void> {
  const rows = [...new Map(facts.map((one) => [one.rut, one])).values()];
  await em.execute(
    `insert into directory_entry as mine (rut, name, mail, since, until, asked_at, changed_at)
     select rut, name, mail, since, until, ?::timestamptz, ?::timestamptz
     from jsonb_to_recordset(?::jsonb) as listed (rut text, name text, mail text, since date, until date)
     on conflict (rut) do update set name = excluded.name, mail = excluded.mail, since = excluded.since,
       until = excluded.until, asked_at = coalesce(excluded.asked_at, mine.asked_at), changed_at = excluded.changed_at`,
    [askedAt, now, JSON.stringify(rows)],
  );
}

/** Returns the start of the last complete load; null before the first. */
export async function readLastDirectoryLoad(em: EntityManager): Promise<Date | null> {
  const [row] = await em.execute<{ begun: number }[]>(
    'select extract(epoch from begun_at)::float8 * 1000 as begun from directory_load',
  );
  return row ? new Date(row.begun) : null;
}

/** Records a complete load. */
export async function recordDirectoryLoad(em: EntityManager, begunAt: Date, loadedAt: Date): Promise<void> {
  await em.execute(
    `insert into directory_load (begun_at, loaded_at) values (?, ?)
     on conflict (only_row) do update set begun_at = excluded.begun_at, loaded_at = excluded.loaded_at`,
    [begunAt, loadedAt],
  );
}

/** Returns the certificate of a READY enterprise that expires last, to request the list with, or null. */
export async function findDirectoryCertificate(em: EntityManager, now: Date): Promise<Certificate | null> {
  const [row] = await em.execute<{ id: string }[]>(
    `select certificate.id from certificate join enterprise using (rut)
     where environment = 'production' and replaced_at is null and enterprise.status = 'READY' and not_after > ?
       and revoked_at is null
     order by not_after desc, certificate.id limit 1`,
    [now],
  );
  return row ? requireSigner(em, row.id) : null;
}
