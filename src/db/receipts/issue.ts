/** The two statements that issue a CFE: one reads the facts to check a request against, the other stores the CFE. */
import type { EntityData, EntityManager } from '@mikro-orm/postgresql';
import { DEADLINES } from '../../domain/authority/deadlines.ts';
import type { NumberRange } from '../../domain/numbers/cae.ts';
import type { CfeDocument } from '../../domain/receipts/cfeDocument.ts';
import { SEQUENCE_MARK } from '../../domain/receipts/cfeId.ts';
import type { CfeType, Environment } from '../../domain/receipts/cfeTypes.ts';
import type { KnownRate } from '../../domain/receipts/exchangeRate.ts';
import type { UiValueRow } from '../../domain/receipts/uiValues.ts';
import type { WorkflowMessage } from '../../temporal.ts';
import { Enterprise } from '../entities/enterprises.ts';
import type { CfeRow } from '../entities/receipts.ts';
import { nextNumberSql } from '../numbers/numbers.ts';
import { insertMessagesSql } from '../outbox.ts';
import { answerCutoff, type IdempotencyKey, keyLockName } from '../people/idempotency.ts';
import { declareStatement, runStatement } from '../sql.ts';

/** The columns of a CAE that issuing reads. */
export interface IssuingCae extends NumberRange {
  readonly id: string;
  readonly serie: string;
  readonly authorizationNumber: string;
  readonly specialKind: number | null;
  readonly specialCause: string | null;
}

/** The columns of a certificate that issuing reads. */
export interface IssuingCertificate {
  readonly id: string;
  readonly notAfter: Date;
  readonly revoked: boolean;
}

/** The facts to check a request against, as of one moment. */
export interface IssueFacts {
  readonly enterprise: Enterprise;
  /** The current certificate. */
  readonly certificate: IssuingCertificate | null;
  /** Unexpired CAEs of the requested type. */
  readonly caes: readonly IssuingCae[];
  /** The UI value for the requested year, by the rule of `selectUiValue`. */
  readonly uiValue: UiValueRow | null;
  /** The last stored rate of the requested currency before the emission date. */
  readonly lastRate: KnownRate | null;
}

const FACTS = declareStatement(
  'issue_facts',
  `with asked as (select ?::text as rut, ?::text as environment, ?::text as type, ?::date as today,
     ?::date as emission_date, ?::text as currency)
   select to_jsonb(enterprise) as enterprise,
     (select json_build_object('id', id, 'notAfter', not_after, 'revoked', revoked_at is not null) from certificate
       where certificate.rut = asked.rut and certificate.environment = asked.environment and replaced_at is null
     ) as own_certificate,
     (select coalesce(json_agg(json_build_object('id', id, 'serie', serie, 'numberStart', number_start,
         'numberEnd', number_end, 'numbersLeft', numbers_left, 'authorizationNumber', authorization_number,
         'issueDate', issue_date, 'expirationDate', expiration_date, 'specialKind', special_kind,
         'specialCause', special_cause)), '[]') from cae
       where cae.rut = asked.rut and cae.environment = asked.environment and cae.type = asked.type
         and expiration_date >= asked.today
     ) as caes,
     (select json_build_object('year', ui.year, 'value', value::text, 'estimate', estimate) from ui_value ui
       order by ui.year > extract(year from asked.emission_date), abs(ui.year - extract(year from asked.emission_date)) limit 1
     ) as ui_value,
     (select json_build_object('currency', known.currency, 'date', known.date, 'rate', known.rate::text, 'source', known.source)
       from exchange_rate known where known.currency = asked.currency and known.date < asked.emission_date
       order by known.date desc limit 1
     ) as last_rate
   from asked join enterprise on enterprise.rut = asked.rut`,
);

/** Returns the facts for a request, or null if the RUT is not registered. `type`: null if the request has none. */
export async function issueFacts(
  em: EntityManager,
  request: {
    rut: string;
    environment: Environment;
    type: CfeType | null;
    today: string;
    emissionDate: string;
    currency: string;
  },
): Promise<IssueFacts | null> {
  interface Row {
    enterprise: EntityData<Enterprise>;
    own_certificate: { id: string; notAfter: string; revoked: boolean } | null;
    caes: IssuingCae[];
    ui_value: UiValueRow | null;
    last_rate: KnownRate | null;
  }
  const { rut, environment, type, today, emissionDate, currency } = request;
  const asked = [rut, environment, type, today, emissionDate, currency];
  const [row] = await runStatement<Row>(em, FACTS, asked);
  if (!row) return null;
  const { own_certificate: certificate, caes, ui_value: uiValue, last_rate: lastRate } = row;
  return {
    enterprise: em.map(Enterprise, row.enterprise),
    certificate: certificate && { ...certificate, notAfter: new Date(certificate.notAfter) },
    caes,
    uiValue,
    lastRate,
  };
}

/** A checked CFE without its number and sequence number. */
export interface UnnumberedCfe
  extends Omit<CfeRow, 'sequence' | 'numero' | 'sobreId' | 'workflowId' | 'document'> {
  readonly document: Omit<CfeDocument, 'numero'>;
  /** The CFEs of this service that it refers to: their UUIDs, and what it takes of each. */
  readonly refersTo: readonly { readonly id: string; readonly taken: string }[];
}

/** The sequence number and the number of a CFE and, if it goes at once, its sobre. */
export interface IssuedNumber {
  readonly sequence: number;
  readonly numero: number;
  /** The outbox row that starts the workflow of its own sobre; null if the CFE waits for a sobre. */
  readonly startId: string | null;
}

/** The sobre that a CFE gets if no earlier CFE of its enterprise waits and a slot is free. */
export interface SobreToOpen {
  readonly id: string;
  /** Starts its workflow; contains SEQUENCE_MARK instead of the sequence number. */
  readonly message: WorkflowMessage;
  /** The pause between two sends. */
  readonly spacingMilliseconds: number;
  /** How far ahead the slot may be. */
  readonly nearMilliseconds: number;
}

/** The chosen CAE has no numbers left: other requests took them after it was read. */
export class NumbersExhausted extends Error {}

/** The Idempotency-Key has been used since it was looked up, or is in use now. */
export class KeyTaken extends Error {
  /** Whether another request with the key was still running when the wait for its lock ended. */
  readonly inProgress: boolean;

  constructor(inProgress: boolean) {
    super('the Idempotency-Key is taken');
    this.inProgress = inProgress;
  }
}

/**
 * Locks the sequence first, like every other writer of a numbering, then the CAE, whose check fails beyond its range
 * and rolls everything back. Takes no slot while another request is taking one: the CFE then waits.
 */
const STORE = declareStatement(
  'issue_cfe',
  `with draft as materialized (
     select * from jsonb_to_record(?::jsonb) as draft (
       id uuid, account_id uuid, rut text, environment text, type text, cae_id uuid, serie text, status text, held boolean,
       report_only boolean, warnings jsonb,
       emission_date date, currency text, pay_amount numeric, document jsonb, refers_to jsonb, credited jsonb,
       certificate_id uuid, extra jsonb, idempotency_key text, idempotency_hash bytea,
       idempotency_outline jsonb, request_id text, key_id uuid, receipt_token text,
       created_at timestamptz, sobre_id uuid, message jsonb)
   ), claim as materialized (
     select case when idempotency_key is null then true
       else claim_idempotency_key(?::text, account_id, environment, idempotency_key, ?::timestamptz) end as is_free
     from draft
   ), place as (
     insert into cfe_sequence as mine (rut, environment, type, last)
     select rut, environment, type, 1 from draft cross join claim where claim.is_free
     on conflict (rut, environment, type) do update set last = mine.last + 1
     returning last
   ), number as (
     update cae set last_number = ${nextNumberSql('cae')} from draft cross join place where cae.id = draft.cae_id
     returning cae.last_number as numero
   ), free as materialized (
     select name from authority_endpoint cross join draft cross join number
     where name = environment || '/reception' and open_since is null and not held and not report_only and numero > 0
       and next_free_at <= clock_timestamp() + ?::float8 * interval '1 millisecond'
     for update of authority_endpoint skip locked
   ), slot as (
     update authority_endpoint endpoint
     set next_free_at = greatest(next_free_at, clock_timestamp()) + ?::float8 * interval '1 millisecond'
     from free cross join draft cross join number
     where endpoint.name = free.name and case when number.numero > 0 then not others_go_first(
       draft.rut, draft.environment, clock_timestamp() - ?::float8 * interval '1 millisecond') end
     returning next_free_at - ?::float8 * interval '1 millisecond' as slot
   ), run as (
     select slot, draft.*, replace(message ->> 'workflowId', '${SEQUENCE_MARK}', place.last::text) as workflow_id,
       replace(message ->> 'searchAttributes', '${SEQUENCE_MARK}', place.last::text)::jsonb as search_attributes
     from slot cross join draft cross join place
   ), opened as (
     insert into sobre (id, workflow_id, rut, environment, state, slot, created_at)
     select sobre_id, workflow_id, rut, environment, 'OPEN', slot, created_at from run
   ), stored as (
     insert into cfe (id, sobre_id, workflow_id, held, report_only, warnings, account_id, rut, environment, type, sequence,
       cae_id, serie, numero, status, emission_date, currency, pay_amount, document, credited, certificate_id, extra,
       idempotency_key, idempotency_hash, idempotency_outline, request_id, key_id,
       receipt_token, created_at)
     select draft.id, run.sobre_id, run.workflow_id, draft.held, draft.report_only, draft.warnings, draft.account_id, draft.rut,
       draft.environment, draft.type,
       place.last, draft.cae_id, draft.serie, numero, draft.status, draft.emission_date, draft.currency, draft.pay_amount,
       draft.document || jsonb_build_object('numero', numero), draft.credited, draft.certificate_id, draft.extra,
       draft.idempotency_key, draft.idempotency_hash, draft.idempotency_outline,
       draft.request_id, draft.key_id, draft.receipt_token, draft.created_at
     from draft cross join place cross join number left join run on true
   ), referred as (
     insert into cfe_reference (cfe_uuid, original_id, taken)
     select draft.id, one.id, one.taken
     from draft cross join number, jsonb_to_recordset(draft.refers_to) as one (id uuid, taken numeric)
   ), put as (
     insert into sobre_cfe (sobre_id, place, cfe_uuid) select sobre_id, 1, id from run
   ), started as (
     ${insertMessagesSql('issueCfes', "workflow_id, message -> 'input', search_attributes, created_at", { isLeased: true })}
     from run
     returning id
   )
   select place.last as sequence, numero, started.id::text as "startId"
   from place cross join number left join started on true`,
);

/**
 * Takes the next number of the CAE and of the sequence, and stores the CFE, in one statement: if it fails, no number
 * is used. If no CFE of the enterprise waits and a slot is free, the CFE gets its own sobre, whose workflow the
 * caller starts.
 * Throws NumbersExhausted and KeyTaken, with nothing stored.
 */
export async function storeNumbered(
  em: EntityManager,
  cfe: UnnumberedCfe,
  sobre: SobreToOpen,
): Promise<IssuedNumber> {
  const { accountId, environment, idempotencyKey: key, createdAt } = cfe;
  const scope: IdempotencyKey | null = key == null ? null : { accountId, environment, key };
  const { spacingMilliseconds, nearMilliseconds } = sobre;
  try {
    const [numbered] = await runStatement<IssuedNumber>(em, STORE, [
      JSON.stringify(toDraftRow(cfe, sobre)),
      scope && keyLockName(scope),
      answerCutoff(createdAt),
      nearMilliseconds,
      spacingMilliseconds,
      DEADLINES.sobreInFlight,
      spacingMilliseconds,
    ]);
    if (numbered) return numbered;
  } catch (error) {
    throw translateError(error);
  }
  throw new KeyTaken(false);
}

const toDraftRow = (cfe: UnnumberedCfe, { id: sobreId, message }: SobreToOpen): Record<string, unknown> => ({
  id: cfe.id,
  account_id: cfe.accountId,
  rut: cfe.rut,
  environment: cfe.environment,
  type: cfe.type,
  cae_id: cfe.caeId,
  serie: cfe.serie,
  status: cfe.status,
  held: cfe.held,
  report_only: cfe.reportOnly,
  warnings: cfe.warnings,
  emission_date: cfe.emissionDate,
  currency: cfe.currency,
  pay_amount: cfe.payAmount,
  document: cfe.document,
  refers_to: cfe.refersTo,
  credited: cfe.credited,
  certificate_id: cfe.certificateId,
  extra: cfe.extra,
  idempotency_key: cfe.idempotencyKey,
  idempotency_hash: cfe.idempotencyHash && `\\x${Buffer.from(cfe.idempotencyHash).toString('hex')}`,
  idempotency_outline: cfe.idempotencyOutline,
  request_id: cfe.requestId,
  key_id: cfe.keyId,
  receipt_token: cfe.receiptToken,
  created_at: cfe.createdAt,
  sobre_id: sobreId,
  message,
});

/** Maps failures of the check on `cae`, of the unique key and of a lock timeout to our errors. */
function translateError(error: unknown): unknown {
  const { code, table, constraint } = error as { code?: string; table?: string; constraint?: string };
  if (code === '23514' && table === 'cae') return new NumbersExhausted();
  if (code === '23505' && constraint === 'cfe_idempotency_key') return new KeyTaken(false);
  if (code === '55P03') return new KeyTaken(true);
  return error;
}
