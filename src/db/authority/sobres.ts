/** Sobres and the CFEs that wait for one: the tables sobre, sobre_cfe and sobre_sequence. */
import { randomUUID } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import { firstIdemisor } from '../../domain/authority/sobre.ts';
import type { StuckReason } from '../../domain/authority/stuckReason.ts';
import type { CfeDocument } from '../../domain/receipts/cfeDocument.ts';
import { formatCfeId } from '../../domain/receipts/cfeId.ts';
import type { CfeStatus } from '../../domain/receipts/cfeStatus.ts';
import type { Environment } from '../../domain/receipts/cfeTypes.ts';
import type { RejectionReason } from '../../domain/receipts/rejection.ts';
import { LEAST_UUID } from '../../domain/values/uuid.ts';
import { failpoint } from '../../failpoints.ts';
import { newSobreWorkflowId, type SignalName, type WorkflowMessage } from '../../temporal.ts';
import { type JoinedRow, readEntity, selectColumns } from '../columns.ts';
import { Sobre, type SobreState } from '../entities/authority.ts';
import { Certificate } from '../entities/enterprises.ts';
import type { Cfe } from '../entities/receipts.ts';
import { enqueue } from '../outbox.ts';
import type { UuidPage } from '../page.ts';
import { originalStatusSql } from '../receipts/references.ts';
import { millisecondsSql, NOW, nowParameter } from '../sql.ts';

/** A sobre that may still have to be sent. */
const UNSENT = `state in ('OPEN', 'PREPARED', 'SENDING')`;
/** A CFE that waits for a sobre. CFEs that wait for support count too: each gets its own sobre. */
const WAITS = `status = 'PENDING' and sobre_id is null and not held and not report_only`;
/** A CFE that is accepted once it is signed: it takes no sobre and no slot. */
const WAITS_FOR_SIGNATURE = `status = 'PENDING' and sobre_id is null and not held and report_only`;

/** The parts of a cfe_id. */
type CfeIdFields = Pick<Cfe, 'type' | 'sequence'>;

/** Starts the workflow of a sobre; with `signal` sends it that signal, and starts it if it is not running. */
export function issueCfesMessage(
  sobre: Pick<Sobre, 'id' | 'workflowId' | 'rut' | 'environment'>,
  cfes: readonly (Pick<Cfe, 'type'> & { readonly cfeId: string })[],
  signal?: SignalName,
): WorkflowMessage {
  return {
    workflow: 'issueCfes',
    workflowId: sobre.workflowId,
    input: { sobreId: sobre.id },
    ...(signal ? { signal } : {}),
    searchAttributes: {
      EnterpriseRut: sobre.rut,
      Environment: sobre.environment,
      ...(cfes[0] ? { CfeType: cfes[0].type } : {}),
      CfeId: takeFittingIds(cfes.map(({ cfeId }) => cfeId)),
      CfeStatus: 'PENDING',
    },
  };
}

/** Temporal's limit for one search attribute: more than 100 cfe_ids fit, 250 of the longest do not. */
const MOST_ATTRIBUTE_BYTES = 2_000;

function takeFittingIds(cfeIds: readonly string[]): string[] {
  let bytes = 0;
  return cfeIds.filter((cfeId) => (bytes += cfeId.length + '"",'.length) <= MOST_ATTRIBUTE_BYTES);
}

// A sobre on its way.

/** A CFE of a sobre, with the columns that the steps up to its verdict read. */
export interface CfeInSobre
  extends CfeIdFields,
    Pick<
      Cfe,
      'id' | 'rut' | 'environment' | 'serie' | 'numero' | 'externalId' | 'certificateId' | 'reportOnly'
    > {
  /** Its position in the sobre, from 1. */
  readonly place: number;
  readonly cfeId: string;
  readonly status: CfeStatus;
  readonly rejection: readonly RejectionReason[] | null;
  readonly stuckReason: StuckReason | null;
  /** Whether the CFE still belongs to this sobre; otherwise it continues in another sobre. */
  readonly isIn: boolean;
  /** The moment of signing, fixed when the number was taken. */
  readonly signedAt: string;
  readonly isSigned: boolean;
  /** The ticket of the earlier sobre that brought the CFE to the authority; null: this sobre's own ticket counts. */
  readonly ticket: { readonly idReceptor: string; readonly token: string } | null;
  /** Of the CFEs that this CFE refers to, the status that decides: REJECTED, or else no verdict; null without such a CFE. */
  readonly originalStatus: CfeStatus | null;
  /** The source of its XML, while the sobre is OPEN and the CFE is not signed. */
  readonly document: CfeDocument | null;
  /** The signed XML, while the sobre is OPEN. */
  readonly signedXml: string | null;
}

/** A sobre with all data that its steps need. */
export interface LoadedSobre {
  readonly sobre: Sobre;
  /** Its CFEs, by position. */
  readonly cfes: readonly CfeInSobre[];
  /** Signs requests: the enterprise's current certificate, or else the certificate of the first CFE. */
  readonly current: Certificate;
  /** The certificate that signs, or has signed, the CFEs. */
  readonly signer: Certificate;
  /** Milliseconds until its slot; null while it waits for one. */
  readonly slotIn: number | null;
  /** `isAway`: the breaker is open, the authority counts as unavailable. `isProber`: this sobre probes it. */
  readonly isAway: boolean;
  readonly isProber: boolean;
  /** Calls to the authority without an answer since its last answer. */
  readonly failures: number;
}

const KEY = ['sealedKey'] as const;

/** Selects the CFEs of the sobre `s` as JSON. */
const CFES = `(select json_agg(json_build_object('id', c.id, 'place', place, 'rut', c.rut, 'environment', c.environment,
    'type', c.type, 'sequence', c.sequence, 'serie', c.serie, 'numero', c.numero, 'externalId', c.external_id, 'status', c.status,
    'rejection', c.rejection, 'stuckReason', c.stuck_reason, 'isIn', coalesce(c.sobre_id = s.id, false),
    'certificateId', c.certificate_id, 'reportOnly', c.report_only, 'signedAt', c.document ->> 'signedAt', 'isSigned', c.digest is not null,
    'ticket', case when one.token is not null
      then json_build_object('idReceptor', one.id_receptor, 'token', one.token) end,
    'originalStatus', ${originalStatusSql('c')},
    'document', case when s.state = 'OPEN' and c.digest is null then c.document end,
    'signedXml', case when s.state = 'OPEN' then c.signed_xml end) order by place)
  from sobre_cfe one join cfe c on c.id = one.cfe_uuid
  where one.sobre_id = s.id)`;

/** Loads a sobre in one statement. `clock`: a test's clock. */
export async function loadSobre(em: EntityManager, id: string, clock?: () => Date): Promise<LoadedSobre> {
  interface Row extends JoinedRow {
    cfes: Omit<CfeInSobre, 'cfeId'>[];
    slotIn: number | null;
    isAway: boolean;
    isProber: boolean;
    failures: number;
  }
  const [row] = await em.execute<Row[]>(
    `select ${selectColumns(em, Sobre, 's')}, case when s.state in ('PREPARED', 'SENDING') then s.xml end as "s.xml",
       ${CFES} as cfes,
       ${millisecondsSql(`s.slot - ${NOW}`)} as "slotIn", endpoint.open_since is not null as "isAway",
       coalesce(endpoint.prober_id = s.id, false) as "isProber", endpoint.failures,
       ${selectColumns(em, Certificate, 'now', KEY)}, ${selectColumns(em, Certificate, 'own', KEY)}
     from sobre s
     join authority_endpoint endpoint on endpoint.name = s.environment || '/reception'
     join cfe first on first.id = (select cfe_uuid from sobre_cfe where sobre_id = s.id order by place limit 1)
     left join certificate now on now.rut = s.rut and now.environment = s.environment and now.replaced_at is null
     left join certificate own on own.id = first.certificate_id and own.id is distinct from now.id
     where s.id = ?`,
    [nowParameter(clock), id],
  );
  const sobre = row && readEntity(em, Sobre, 's', row);
  if (!row || !sobre) throw new Error(`sobre ${id} does not exist`);
  const now = readEntity(em, Certificate, 'now', row);
  const own = readEntity(em, Certificate, 'own', row);
  const current = now ?? own;
  if (!current) throw new Error(`sobre ${id} has no certificate`);
  const { slotIn, isAway, isProber, failures } = row;
  const cfes = row.cfes.map((cfe) => ({ ...cfe, cfeId: formatCfeId(cfe) }));
  return { sobre, cfes, current, signer: own ?? current, slotIn, isAway, isProber, failures };
}

/** A CFE that was just signed. */
export interface SignedCfe {
  readonly id: string;
  readonly xml: string;
  readonly digest: string;
}

/** SQL that takes the next Idemisor of `source` (rut, environment); the first is the parameter. */
const takeIdemisorSql = (source: string): string =>
  `insert into sobre_sequence (rut, environment, last) select rut, environment, ?::bigint from ${source}
   on conflict (rut, environment) do update
   set last = case sobre_sequence.last when 0 then excluded.last else sobre_sequence.last + 1 end returning last`;

/**
 * Stores signatures, and the XML of the sobre under the next Idemisor between `before` and `after`, in one statement,
 * so that the sequence is locked briefly. Returns the number; null if the sobre is no longer OPEN or another process
 * has signed. `today`: in Montevideo.
 */
export async function storePrepared(
  em: EntityManager,
  sobreId: string,
  {
    signed,
    before,
    after,
    today,
  }: { signed: readonly SignedCfe[]; before: string; after: string; today: string },
): Promise<bigint | null> {
  const [row] = await em.execute<{ idemisor: string }[]>(
    `with mine as materialized (select id, rut, environment from sobre where id = ? and state = 'OPEN' for update),
       signed as (
         update cfe set signed_xml = one.xml, digest = one.digest, stuck_reason = null
         from mine, jsonb_to_recordset(?::jsonb) as one (id uuid, xml text, digest text)
         where cfe.id = one.id and cfe.sobre_id = mine.id and signed_xml is null and status = 'PENDING'
         returning cfe.id),
       numbered as (${takeIdemisorSql('(select * from mine where (select count(*) from signed) = ?) as whole')})
     update sobre set state = 'PREPARED', idemisor = last, xml = ?::text || last || ?::text
     from mine, numbered where sobre.id = mine.id returning idemisor::text as idemisor`,
    [sobreId, JSON.stringify(signed), String(firstIdemisor(today)), signed.length, before, after],
  );
  return row ? BigInt(row.idemisor) : null;
}

/** Stores the signature of a PENDING CFE; does nothing if it already has one. */
export async function storeSigned(em: EntityManager, { id, xml, digest }: SignedCfe): Promise<void> {
  await em.execute(
    `update cfe set signed_xml = ?, digest = ?, stuck_reason = null
     where id = ? and signed_xml is null and status = 'PENDING'`,
    [xml, digest, id],
  );
}

/**
 * Stores that a sobre is about to be sent, under the lock of its row. Returns false, and stores nothing, if its state
 * has changed or a CFE has left it.
 */
export async function markSending(
  em: EntityManager,
  { id, state }: Pick<Sobre, 'id' | 'state'>,
  sendingAt: Date,
): Promise<boolean> {
  const rows = await em.execute<unknown[]>(
    `update sobre set state = 'SENDING', sending_at = ? where id = ? and state = ?
       and not exists (select from sobre_cfe one join cfe on cfe.id = cfe_uuid where one.sobre_id = sobre.id
         and (cfe.status <> 'PENDING' or cfe.sobre_id is distinct from sobre.id)) returning id`,
    [sendingAt, id, state],
  );
  return rows.length > 0;
}

/** Returns the current state of a sobre, its row locked until the open transaction ends. */
export async function lockSobre(em: EntityManager, id: string): Promise<SobreState> {
  const [row] = await em.execute<{ state: SobreState }[]>('select state from sobre where id = ? for update', [
    id,
  ]);
  if (!row) throw new Error(`sobre ${id} does not exist`);
  return row.state;
}

/**
 * Ends a sobre that the authority will never have. Its CFEs continue in others, `apart` each in its own, with their
 * stuck reasons cleared. Returns false, and changes nothing, if the sobre no longer matches `was`.
 */
export async function endSobre(
  em: EntityManager,
  was: Pick<Sobre, 'id' | 'state'> & Partial<Pick<Sobre, 'sendingAt'>>,
  ending: {
    state: 'REFUSED' | 'DISSOLVED';
    refusal?: readonly RejectionReason[];
    apart?: boolean;
    now: Date;
  },
): Promise<boolean> {
  const { id, state, sendingAt } = was;
  const [ended] = await em.execute<Pick<Sobre, 'rut' | 'environment'>[]>(
    `update sobre set state = ?, refusal = ?::jsonb where id = ? and state = ?
       and (?::timestamptz is null or sending_at = ?) returning rut, environment`,
    [
      ending.state,
      ending.refusal ? JSON.stringify(ending.refusal) : null,
      id,
      state,
      sendingAt ?? null,
      sendingAt ?? null,
    ],
  );
  if (!ended) return false;
  const released = await em.execute<(CfeIdFields & { id: string })[]>(
    `with left_alone as (
       update cfe set sobre_id = null, stuck_reason = null where sobre_id = ? and status = 'PENDING'
       returning id, type, sequence, created_at)
     select id, type, sequence from left_alone order by created_at, sequence`,
    [id],
  );
  if (ending.apart) await openSobrePerCfe(em, { ...ended, slot: null, cfes: released }, ending.now);
  failpoint('sobre.ended');
  return true;
}

// Opening sobres.

/** A sobre to open. */
export interface NewSobre extends Pick<Sobre, 'rut' | 'environment' | 'slot'> {
  /** In sending order; all with the same certificate. */
  readonly cfes: readonly (CfeIdFields & { readonly id: string })[];
}

/** An open sobre, and the message that starts its workflow. */
export interface OpenedSobre {
  readonly id: string;
  readonly message: WorkflowMessage;
}

/**
 * Opens sobres, their creation times a millisecond apart to keep the order, and assigns their CFEs, with the open
 * transaction. Throws if another process has taken one of the CFEs.
 */
export async function openSobres(
  em: EntityManager,
  sobres: readonly NewSobre[],
  now: Date,
): Promise<OpenedSobre[]> {
  if (sobres.length === 0) return [];
  const made = sobres.map(({ rut, environment, slot, cfes }) => {
    const id = randomUUID();
    const withIds = cfes.map((cfe) => ({ ...cfe, cfeId: formatCfeId(cfe) }));
    const [first] = withIds;
    if (!first) throw new RangeError('a sobre without CFEs');
    const workflowId = newSobreWorkflowId({
      uuid: id,
      rut,
      environment,
      firstCfeId: first.cfeId,
      others: cfes.length - 1,
    });
    return { id, workflowId, rut, environment, slot, cfes: withIds };
  });
  const places = made.flatMap(({ id, cfes }) =>
    cfes.map((cfe, index) => ({ sobre: id, place: index + 1, cfe: cfe.id })),
  );
  await em.execute(
    `insert into sobre (id, workflow_id, rut, environment, state, slot, created_at)
     select id, "workflowId", rut, environment, 'OPEN', slot, at
     from jsonb_to_recordset(?::jsonb) as made (id uuid, "workflowId" text, rut text, environment text, slot timestamptz,
       at timestamptz)`,
    [
      JSON.stringify(
        made.map(({ id, workflowId, rut, environment, slot }, index) => ({
          id,
          workflowId,
          rut,
          environment,
          slot,
          at: new Date(now.getTime() + index),
        })),
      ),
    ],
  );
  const assigned = await em.execute<unknown[]>(
    `with put as (
       insert into sobre_cfe (sobre_id, place, cfe_uuid)
       select sobre, place, cfe from jsonb_to_recordset(?::jsonb) as one (sobre uuid, place integer, cfe uuid)
       returning sobre_id, cfe_uuid)
     update cfe set sobre_id = sobre.id, workflow_id = sobre.workflow_id
     from put join sobre on sobre.id = put.sobre_id
     where cfe.id = put.cfe_uuid and cfe.sobre_id is null and cfe.status = 'PENDING' returning cfe.id`,
    [JSON.stringify(places)],
  );
  if (assigned.length < places.length) throw new Error('another process has taken a CFE of the new sobre');
  return made.map(({ cfes, ...sobre }) => ({ id: sobre.id, message: issueCfesMessage(sobre, cfes) }));
}

/** Opens one sobre per CFE, with the open transaction. */
export async function openSobrePerCfe(
  em: EntityManager,
  { cfes, ...common }: NewSobre,
  now: Date,
): Promise<OpenedSobre[]> {
  return openSobres(
    em,
    cfes.map((cfe) => ({ ...common, cfes: [cfe] })),
    now,
  );
}

// The order of sending (gate/gatekeeper.ts).

/** The next work of an enterprise: a sobre that waits for a slot, or with null CFEs that wait for a sobre. */
export interface NextToSend {
  readonly rut: string;
  readonly sobreId: string | null;
}

/** Returns the environments in which a sobre or a CFE waits. */
export async function listWaitingEnvironments(em: EntityManager): Promise<Environment[]> {
  const rows = await em.execute<{ environment: Environment }[]>(
    `select environment from unnest(array['production', 'sandbox']) environment
     where others_wait(environment)`,
  );
  return rows.map(({ environment }) => environment);
}

/**
 * Returns at most `count` enterprises with work to send, those with the oldest last slot first. A sobre goes before
 * CFEs without one. CFEs wait while a sobre of their enterprise has been in flight since `flightSince`, unless there
 * are `full` of them. `notProbedSince`: skips sobres that stopped being the prober since then.
 */
export function findNextToSend(
  em: EntityManager,
  options: {
    environment: Environment;
    count: number;
    flightSince: Date;
    full: number;
    notProbedSince?: Date;
  },
): Promise<NextToSend[]> {
  const { environment, count, flightSince, full, notProbedSince } = options;
  return em.execute<NextToSend[]>(
    `with recursive waiting (rut) as (
       (select rut from cfe where environment = ? and ${WAITS} order by rut limit 1)
       union all
       select (select rut from cfe where environment = ? and ${WAITS} and rut > waiting.rut order by rut limit 1)
       from waiting where waiting.rut is not null
     ), in_line as (
       select distinct on (rut) rut, id from sobre where environment = ? and ${UNSENT} and slot is null
         and (?::timestamptz is null or probed_at is null or probed_at < ?)
       order by rut, created_at, id
     ), next as (
       select rut, id as sobre_id from in_line
       union all
       select rut, null from waiting where rut is not null
         and not exists (select from sobre where environment = ? and sobre.rut = waiting.rut and ${UNSENT} and slot is null)
         and (not exists (select from sobre where environment = ? and sobre.rut = waiting.rut and ${UNSENT} and slot > ?)
           or ? <= (select count(*) from (
             select from cfe where environment = ? and cfe.rut = waiting.rut and ${WAITS} limit ?) few))
     )
     select rut, sobre_id as "sobreId" from next
     left join sobre_sequence using (rut) where coalesce(environment, ?) = ?
     order by last_slot nulls first, rut limit ?`,
    [
      environment,
      environment,
      environment,
      notProbedSince ?? null,
      notProbedSince ?? null,
      environment,
      environment,
      flightSince,
      full,
      environment,
      full,
      environment,
      environment,
      count,
    ],
  );
}

/** A CFE that waits for a sobre, with the facts that decide which CFEs share one. */
export interface WaitingCfe extends CfeIdFields, Pick<Cfe, 'id' | 'rut' | 'certificateId'> {
  /** Size of its signed XML; 0 before signing. */
  readonly bytes: number;
}

/** Returns up to `most` waiting CFEs of each enterprise, oldest first. */
export function listWaitingCfes(
  em: EntityManager,
  { environment, ruts, most }: { environment: Environment; ruts: readonly string[]; most: number },
): Promise<WaitingCfe[]> {
  return em.execute<WaitingCfe[]>(
    `select one.* from jsonb_array_elements_text(?::jsonb) as asked (rut) cross join lateral (
       select id, cfe.rut, type, sequence, certificate_id as "certificateId",
         coalesce(octet_length(signed_xml), 0) as bytes from cfe
       where environment = ? and cfe.rut = asked.rut and ${WAITS} order by created_at, sequence limit ?) one`,
    [JSON.stringify(ruts), environment, most],
  );
}

/** Assigns slots to sobres and signals their workflows, with the open transaction. */
export async function grantSlots(
  em: EntityManager,
  slots: readonly { readonly sobreId: string; readonly slot: Date }[],
  { signal, now }: { signal: SignalName; now: Date },
): Promise<void> {
  if (slots.length === 0) return;
  await em.execute(
    `update sobre set slot = one.slot from jsonb_to_recordset(?::jsonb) as one ("sobreId" uuid, slot timestamptz)
     where sobre.id = one."sobreId"`,
    [JSON.stringify(slots)],
  );
  const ids = slots.map(({ sobreId }) => sobreId);
  const withIds = await readSobresWithIds(em, 'sobre.id in (?)', [ids]);
  const inOrder = withIds.toSorted((a, b) => ids.indexOf(a.id) - ids.indexOf(b.id));
  for (const { cfes, ...sobre } of inOrder) enqueue(em, issueCfesMessage(sobre, cfes, signal), now);
}

/** Signals the workflow of a sobre, with the open transaction. */
export async function signalSobre(
  em: EntityManager,
  sobreId: string,
  signal: SignalName,
  now: Date,
): Promise<void> {
  for (const { cfes, ...sobre } of await readSobresWithIds(em, 'sobre.id = ?', [sobreId]))
    enqueue(em, issueCfesMessage(sobre, cfes, signal), now);
}

/** Returns the messages that start the workflows of sobres with undecided CFEs; of one enterprise or of all. */
export async function unfinishedSobreMessages(
  em: EntityManager,
  { rut = null, page }: { rut?: string | null | undefined; page?: UuidPage | undefined },
  signal?: SignalName,
): Promise<WorkflowMessage[]> {
  const sobres = await readSobresWithIds(
    em,
    `(?::text is null or sobre.rut = ?) and exists (select from cfe where sobre_id = sobre.id and settled_at is null)
     ${page ? 'and sobre.id > ? and sobre.created_at < ?' : ''}`,
    [rut, rut, ...(page ? [page.after || LEAST_UUID, page.before] : [])],
    page,
  );
  return sobres.map(({ cfes, ...sobre }) => issueCfesMessage(sobre, cfes, signal));
}

type SobreWithCfeIds = Pick<Sobre, 'id' | 'workflowId' | 'rut' | 'environment'> & {
  readonly cfes: readonly (CfeIdFields & { readonly cfeId: string })[];
};

async function readSobresWithIds(
  em: EntityManager,
  condition: string,
  values: readonly unknown[],
  page?: UuidPage,
): Promise<SobreWithCfeIds[]> {
  const rows = await em.execute<(Omit<SobreWithCfeIds, 'cfes'> & { cfes: CfeIdFields[] })[]>(
    `select sobre.id, sobre.workflow_id as "workflowId", sobre.rut, sobre.environment,
       json_agg(json_build_object('type', cfe.type, 'sequence', cfe.sequence) order by place) as cfes
     from sobre join sobre_cfe on sobre_id = sobre.id join cfe on cfe.id = cfe_uuid
     where ${condition} group by sobre.id order by ${page ? 'sobre.id limit ?' : 'sobre.created_at, sobre.id'}`,
    [...values, ...(page ? [page.limit] : [])],
  );
  return rows.map((row) => ({ ...row, cfes: row.cfes.map((cfe) => ({ ...cfe, cfeId: formatCfeId(cfe) })) }));
}

/** Stores the last slots of enterprises, so that others come first next time. */
export async function storeLastSlots(
  em: EntityManager,
  environment: Environment,
  slots: readonly { readonly rut: string; readonly slot: Date }[],
): Promise<void> {
  await em.execute(
    `insert into sobre_sequence (rut, environment, last, last_slot)
     select rut, ?, 0, slot from jsonb_to_recordset(?::jsonb) as one (rut text, slot timestamptz)
     on conflict (rut, environment) do update set last_slot = excluded.last_slot`,
    [environment, JSON.stringify(slots.map(({ rut, slot }) => ({ rut, slot })))],
  );
}

/** Counts sobres with a slot after `since` that are not received yet; leaves out those that only wait for support. */
export async function countSobresInFlight(
  em: EntityManager,
  environment: Environment,
  since: Date,
): Promise<number> {
  const [row] = await em.execute<{ count: number }[]>(
    `select count(*)::integer as count from sobre where environment = ? and ${UNSENT} and slot > ?
       and exists (select from cfe where sobre_id = sobre.id and stuck_reason is null)`,
    [environment, since],
  );
  return row?.count ?? 0;
}

/** Counts CFEs that wait to be sent, by environment: for a sobre, or in a sobre without a slot. */
export async function countWaitingCfes(em: EntityManager): Promise<Map<Environment, number>> {
  const rows = await em.execute<{ environment: Environment; count: number }[]>(
    `select environment, sum(count)::integer as count from (
       select environment, count(*) from cfe where ${WAITS} group by environment
       union all
       select cfe.environment, count(*) from cfe join sobre on sobre.id = sobre_id
       where settled_at is null and ${UNSENT} and slot is null group by cfe.environment) waiting
     group by environment`,
  );
  return new Map(rows.map(({ environment, count }) => [environment, count]));
}

/** Returns CFEs without a sobre, held notes included, that were taken before `before` and are not signed. */
export function listUnsignedCfes(em: EntityManager, before: Date, limit: number): Promise<{ id: string }[]> {
  return em.execute<{ id: string }[]>(
    `select id from cfe where status = 'PENDING' and sobre_id is null and digest is null and created_at < ?
     order by created_at limit ?`,
    [before, limit],
  );
}

/**
 * Returns CFEs that are never sent, oldest first, for their signature and acceptance: notes only once their original has
 * its verdict. `originalStatus`: of the CFEs that it refers to.
 */
export function listReportOnlyCfes(
  em: EntityManager,
  limit: number,
): Promise<{ id: string; originalStatus: CfeStatus | null }[]> {
  return em.execute<{ id: string; originalStatus: CfeStatus | null }[]>(
    `select id, ${originalStatusSql('cfe')} as "originalStatus"
     from cfe where ${WAITS_FOR_SIGNATURE} order by created_at limit ?`,
    [limit],
  );
}

/** Returns the position of a CFE in its enterprise's queue for a sobre, from 0; null if it does not wait. */
export async function findQueuePosition(em: EntityManager, cfeUuid: string): Promise<number | null> {
  const [row] = await em.execute<{ ahead: number }[]>(
    `select (select count(*)::integer from cfe where ${WAITS} and environment = mine.environment and rut = mine.rut
       and (created_at, sequence) < (mine.created_at, mine.sequence)) as ahead
     from cfe mine where id = ? and ${WAITS}`,
    [cfeUuid],
  );
  return row?.ahead ?? null;
}

// Sobres of one CFE, and their numbers.

/** A sobre that contains, or contained, a CFE. */
export type SobreOfCfe = Sobre & {
  /** How many CFEs it was opened with. */
  readonly size: number;
};

/** Returns the sobres of a CFE, oldest first, without their XML. */
export async function listSobresOfCfe(em: EntityManager, cfeUuid: string): Promise<SobreOfCfe[]> {
  const rows = await em.execute<(JoinedRow & { size: number })[]>(
    `select ${selectColumns(em, Sobre, 's')},
       (select count(*)::integer from sobre_cfe every where every.sobre_id = s.id) as size
     from sobre_cfe one join sobre s on s.id = one.sobre_id
     where one.cfe_uuid = ? order by s.created_at, s.id`,
    [cfeUuid],
  );
  return rows.flatMap((row) => {
    const sobre = readEntity(em, Sobre, 's', row);
    return sobre ? [Object.assign(sobre, { size: row.size })] : [];
  });
}

/** Returns the XML of all written sobres of a CFE, oldest first. */
export async function listSobreXmls(
  em: EntityManager,
  cfeUuid: string,
): Promise<readonly { idemisor: bigint; xml: string }[]> {
  const rows = await em.execute<{ idemisor: string; xml: string }[]>(
    `select idemisor::text as idemisor, xml from sobre_cfe join sobre on sobre.id = sobre_id
     where cfe_uuid = ? and xml is not null order by sobre.created_at, sobre.id`,
    [cfeUuid],
  );
  return rows.map(({ idemisor, xml }) => ({ idemisor: BigInt(idemisor), xml }));
}

/** Returns whether our sobre with that number contained the CFE. `refused`: refused sobres count too. */
export async function wasCfeInSobre(
  em: EntityManager,
  cfeUuid: string,
  idemisor: string,
  { refused }: { refused: boolean },
): Promise<boolean> {
  if (!/^\d{1,10}$/.test(idemisor)) return false;
  const rows = await em.execute<unknown[]>(
    `select 1 from sobre_cfe join sobre on sobre.id = sobre_id
     where cfe_uuid = ? and idemisor = ? and (? or state <> 'REFUSED')`,
    [cfeUuid, idemisor, refused],
  );
  return rows.length > 0;
}

/** Stores the number and token of the earlier sobre of ours that brought this CFE. */
export async function storeOwnTicket(
  em: EntityManager,
  { sobreId, cfeUuid }: { sobreId: string; cfeUuid: string },
  { idReceptor, token }: { idReceptor: string; token: string },
): Promise<void> {
  await em.execute('update sobre_cfe set id_receptor = ?, token = ? where sobre_id = ? and cfe_uuid = ?', [
    idReceptor,
    token,
    sobreId,
    cfeUuid,
  ]);
}

/**
 * Makes `next` the next Idemisor of an enterprise. Returns false, and changes nothing, unless `next` is above all used or
 * skipped numbers. A number that was set before is not used until a sobre takes it.
 */
export async function setNextIdemisor(
  em: EntityManager,
  { rut, environment }: { rut: string; environment: Environment },
  next: number,
): Promise<boolean> {
  const rows = await em.execute<unknown[]>(
    `insert into sobre_sequence as mine (rut, environment, last, set_to, set_from) values (?, ?, ?, ?, 0)
     on conflict (rut, environment) do update set last = excluded.last, set_to = excluded.last,
       set_from = case when mine.last = mine.set_to then mine.set_from else mine.last end
     where excluded.last >= case when mine.last = mine.set_to then mine.set_from else mine.last end
     returning last`,
    [rut, environment, next - 1, next - 1],
  );
  return rows.length > 0;
}

/** Returns the number of the next sobre of an enterprise, if the sobre is created on `day` (Montevideo). */
export async function peekNextIdemisor(
  em: EntityManager,
  { rut, environment }: { rut: string; environment: Environment },
  day: string,
): Promise<bigint> {
  const [row] = await em.execute<{ last: string }[]>(
    'select last::text as last from sobre_sequence where rut = ? and environment = ? and last > 0',
    [rut, environment],
  );
  return row ? BigInt(row.last) + 1n : firstIdemisor(day);
}

/** Returns the lowest number of the sobres of an enterprise, to the authority or to receivers; null before the first. */
export async function findFirstIdemisor(
  em: EntityManager,
  { rut, environment }: { rut: string; environment: Environment },
): Promise<bigint | null> {
  const [row] = await em.execute<{ first: string | null }[]>(
    `select least((select min(idemisor) from sobre where rut = asked.rut and environment = asked.environment),
       (select min(idemisor) from exchange where rut = asked.rut and environment = asked.environment))::text as first
     from (select ?::text as rut, ?::text as environment) asked`,
    [rut, environment],
  );
  return row?.first == null ? null : BigInt(row.first);
}

/** Skips `count` Idemisors of an enterprise; none before its first sobre, whose number depends on its day. */
export async function skipIdemisors(
  em: EntityManager,
  { rut, environment }: { rut: string; environment: Environment },
  count: number,
): Promise<void> {
  await em.execute(
    'update sobre_sequence set last = last + ? where rut = ? and environment = ? and last > 0',
    [count, rut, environment],
  );
}

/**
 * Returns the next Idemisor of an enterprise. Its row stays locked until the open transaction ends, so that numbers
 * follow the order of commits. `today`: in Montevideo.
 */
export async function nextIdemisor(
  em: EntityManager,
  { rut, environment }: { rut: string; environment: Environment },
  today: string,
): Promise<bigint> {
  const [row] = await em.execute<{ last: string }[]>(
    takeIdemisorSql('(select ?::text as rut, ?::text as environment) as mine'),
    [String(firstIdemisor(today)), rut, environment],
  );
  if (!row) throw new Error('sobre_sequence returned no number');
  return BigInt(row.last);
}
