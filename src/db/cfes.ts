import { type EntityManager, LockMode } from '@mikro-orm/postgresql';
import type { Attempt } from '../domain/attempt.ts';
import { formatCfeId, type Place } from '../domain/cfeId.ts';
import { CFE_STATUSES, type CfeStatus, canBecome, type FinalStatus } from '../domain/cfeStatus.ts';
import type { CfeType, Environment } from '../domain/cfeTypes.ts';
import type { RejectionReason } from '../domain/rejection.ts';
import type { StuckReason } from '../domain/stuckReason.ts';
import { SIGNALS, type SignalName, type WorkflowMessage } from '../temporal.ts';
import { ATTEMPTS_STORED, attemptValues } from './attempts.ts';
import { milliseconds } from './clock.ts';
import { Cfe } from './entities/Cfe.ts';
import type { Sobre } from './entities/Sobre.ts';
import { verdictExchange } from './exchange.ts';
import { type VerdictMails, verdictMails, verdictMailValues } from './mails.ts';
import { enqueue } from './outbox.ts';
import { subscribedTo } from './webhooks.ts';

const CFE_UPDATED = 'cfe.updated';

/** A CFE as its cfe_id names it: the place in the sequence of its type. */
export interface CfeKey {
  rut: string;
  environment: Environment;
  type: CfeType;
  sequence: number;
}

/** The numbering of one type: its places, which cfe_ids show, and its fiscal numbers, given one after the other. */
export type Numbering = Omit<CfeKey, 'sequence'>;

/** Locks the numbering of a type until the open transaction ends, without taking a place: `storeNumbered` waits meanwhile. */
export async function lockNumbering(em: EntityManager, { rut, environment, type }: Numbering): Promise<void> {
  await em.execute(
    `insert into cfe_sequence as mine (rut, environment, type, last) values (?, ?, ?, 0)
     on conflict (rut, environment, type) do update set last = mine.last`,
    [rut, environment, type],
  );
}

/** Skips `count` places of a numbering that the caller has locked; they are counted nowhere. */
export async function skipPlaces(
  em: EntityManager,
  { rut, environment, type }: Numbering,
  count: number,
): Promise<void> {
  await em.execute(
    `update cfe_sequence set last = last + ?, skipped = skipped + ?
     where rut = ? and environment = ? and type = ?`,
    [count, count, rut, environment, type],
  );
}

/** Starts the workflow of a CFE, or sends it the signal, starting it where it does not run. */
export function issueCfeMessage(
  cfe: Pick<Cfe, 'id' | 'workflowId' | 'rut' | 'environment' | 'type' | 'status'> & { sequence: Place },
  signal?: SignalName,
): WorkflowMessage {
  return {
    workflow: 'issueCfe',
    workflowId: cfe.workflowId,
    input: { cfeId: cfe.id },
    ...(signal ? { signal } : {}),
    searchAttributes: {
      EnterpriseRut: cfe.rut,
      Environment: cfe.environment,
      CfeType: cfe.type,
      CfeId: formatCfeId(cfe),
      CfeStatus: cfe.status,
    },
  };
}

/** The CFE with this UUID; throws where there is none. */
export function cfeById(em: EntityManager, id: string): Promise<Cfe> {
  return em.findOneOrFail(Cfe, { id });
}

/** The CFEs with these UUIDs, by them. */
export async function cfesById(em: EntityManager, ids: readonly string[]): Promise<Map<string, Cfe>> {
  const cfes = await em.find(Cfe, { id: { $in: [...new Set(ids)] } });
  return new Map(cfes.map((cfe) => [cfe.id, cfe]));
}

/** The CFE that a cfe_id names, or null. */
export function findCfe(em: EntityManager, key: CfeKey): Promise<Cfe | null> {
  return em.findOne(Cfe, { ...key });
}

/** The CFE that a cfe_id names, or null, with what its request brought along. */
export function findCfeForPerson(em: EntityManager, key: CfeKey): Promise<Cfe | null> {
  return em.findOne(Cfe, { ...key }, { populate: ['idempotencyKey', 'requestId'] });
}

/** The CFE that a cfe_id names, or null, with its XML. */
export function findCfeWithXml(em: EntityManager, key: CfeKey): Promise<Cfe | null> {
  return em.findOne(Cfe, { ...key }, { populate: ['signedXml'] });
}

/** The CFE whose receipt page has this token, or null, with its XML. */
export function findCfeOfReceipt(em: EntityManager, receiptToken: string): Promise<Cfe | null> {
  return em.findOne(Cfe, { receiptToken }, { populate: ['signedXml'] });
}

/** Those of the CFEs with these UUIDs that have their verdict. */
export async function decidedAmong(em: EntityManager, ids: readonly string[]): Promise<string[]> {
  const rows = await em.execute<{ id: string }[]>(
    'select id from cfe where id in (?) and settled_at is not null',
    [[...ids]],
  );
  return rows.map(({ id }) => id);
}

/**
 * Records why a CFE is stuck, or, with null, that it goes on. One that has its verdict is never stuck, whatever an attempt
 * that was thought lost reports late.
 */
export async function markStuck(em: EntityManager, id: string, reason: StuckReason | null): Promise<void> {
  await em.nativeUpdate(Cfe, { id, settledAt: null }, { stuckReason: reason });
}

/** The statuses from which a CFE may go to that one. */
const statusesBefore = (status: CfeStatus): CfeStatus[] =>
  CFE_STATUSES.filter((before) => canBecome(before, status));

/** Of a move of which no webhook hears, so that nothing but the rows changes. */
const UNHEARD = `not exists (select ${subscribedTo('cfe.rut')})`;

/**
 * Stores in one statement that the authority has a CFE and its sobre. False, and nothing changed, where a webhook is to
 * hear of it or the CFE may not become RECEIVED; the calls to the authority are stored in any case.
 */
export async function receiveUnheard(
  em: EntityManager,
  { id: sobreId, cfeId }: Pick<Sobre, 'id' | 'cfeId'>,
  { idReceptor, token, askFrom }: Pick<Sobre, 'askFrom'> & { idReceptor: string; token: string },
  { now, attempts }: { now: Date; attempts: readonly Attempt[] },
): Promise<boolean> {
  const rows = await em.execute<unknown[]>(
    `with moved as (
       update cfe set status = 'RECEIVED', stuck_reason = null
       where id = ? and status in (?) and ${UNHEARD} returning id), ${ATTEMPTS_STORED}
     update sobre set state = 'RECEIVED', id_receptor = ?, token = ?, ask_from = ?,
       received_at = coalesce(received_at, ?)
     from moved where sobre.id = ? and cfe_id = moved.id returning sobre.id`,
    [
      cfeId,
      statusesBefore('RECEIVED'),
      CFE_UPDATED,
      ...attemptValues(cfeId, attempts),
      idReceptor,
      token,
      askFrom,
      now,
      sobreId,
    ],
  );
  return rows.length > 0;
}

/**
 * Stores a verdict in one statement, with the e-mails that follow from it and the start of its way to an electronic
 * receiver; answers what was taken when, and how many workflows were begun. Null, and nothing changed, where a webhook is to
 * hear of it, a note waits for it or the CFE has its verdict; the calls to the authority are stored in any case. Whether a note waits is asked with the row locked: whoever
 * issues one holds that row.
 */
export async function decideUnheard(
  em: EntityManager,
  id: string,
  { status, rejection }: { status: FinalStatus; rejection: readonly RejectionReason[] | null },
  { attempts, ...mailing }: VerdictMails & { attempts: readonly Attempt[] },
): Promise<(Pick<Cfe, 'environment' | 'type' | 'createdAt'> & { begun: number }) | null> {
  const isMailed = status !== 'REJECTED';
  const [row] = await em.execute<{ environment: Environment; type: CfeType; ago: number; begun: number }[]>(
    `with locked as materialized (select id from cfe where id = ? and status in (?) for update),
       alone as materialized (select id from locked where not note_waits_for(id)),
       decided as (
         update cfe set status = ?, rejection = ?::jsonb, stuck_reason = null, settled_at = ?
         from alone where cfe.id = alone.id and ${UNHEARD}
         returning cfe.id, rut, environment, type, sequence, document, created_at)
       ${isMailed ? `, ${verdictMails('decided')}, ${verdictExchange('decided')}` : ''}, ${ATTEMPTS_STORED}
     select environment, type, ${milliseconds('created_at')} as ago,
       ${isMailed ? '((select count(*) from mails) + (select count(*) from exchanged))::integer' : '0'} as begun from decided`,
    [
      id,
      statusesBefore(status),
      status,
      rejection && JSON.stringify(rejection),
      mailing.now,
      CFE_UPDATED,
      ...(isMailed ? [...verdictMailValues(mailing), mailing.now, mailing.now] : []),
      ...attemptValues(id, attempts),
    ],
  );
  if (!row) return null;
  const { environment, type, ago, begun } = row;
  return { environment, type, createdAt: new Date(ago), begun };
}

/** Enqueues, with the open transaction, that notes which may wait for the verdict on that CFE have it. */
export async function tellNotes(em: EntityManager, originalId: string, now: Date): Promise<void> {
  const notes = await em.find(Cfe, { referenceId: originalId, status: 'PENDING' });
  for (const note of notes) enqueue(em, issueCfeMessage(note, SIGNALS.originalDecided), now);
}

/**
 * The CFE that a note corrects, locked until the open transaction ends, so that its status cannot change and notes on it
 * follow one another.
 */
export function lockCfe(em: EntityManager, key: CfeKey): Promise<Cfe | null> {
  return em.findOne(Cfe, { ...key }, { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true });
}

/** The CFE with this UUID, locked until the open transaction ends; throws where there is none. */
export function lockCfeById(em: EntityManager, id: string): Promise<Cfe> {
  return em.findOneOrFail(Cfe, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true });
}

/**
 * What the notes of these types took from the original so far: decimal text in the original's currency, not rounded,
 * over pesos by the rates of both documents where the currencies differ. Rejected notes took nothing.
 */
export async function referencedAmount(
  em: EntityManager,
  originalId: string,
  types: readonly CfeType[],
): Promise<string> {
  const [row] = await em.execute<{ sum: string }[]>(
    `select coalesce(sum(
       case when note.currency = original.currency then note.pay_amount
       else note.pay_amount * (note.document -> 'totals' ->> 'exchangeRate')::numeric
         / (original.document -> 'totals' ->> 'exchangeRate')::numeric(30, 20) end), 0)::text as sum
     from cfe note join cfe original on original.id = note.reference_id
     where note.reference_id = ? and note.type in (?) and note.status <> 'REJECTED'`,
    [originalId, [...types]],
  );
  return row?.sum ?? '0';
}

/** Which stuck CFEs to act on; every condition that is given must hold. */
export interface StuckFilter {
  rut?: string | undefined;
  environment?: Environment | undefined;
  status?: CfeStatus | undefined;
  stuckReason?: StuckReason | undefined;
}

/** Stuck CFEs, oldest first, at most `limit`. */
export function stuckCfes(em: EntityManager, filter: StuckFilter, limit: number): Promise<Cfe[]> {
  const given = Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined));
  return em.find(
    Cfe,
    { stuckReason: { $ne: null }, ...given },
    { orderBy: { createdAt: 'asc', id: 'asc' }, limit },
  );
}
