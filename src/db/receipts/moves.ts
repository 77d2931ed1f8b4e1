/** The only writer of a CFE's status. */
import type { EntityManager } from '@mikro-orm/postgresql';
import type { AuthorityCallRecord } from '../../domain/authority/attempt.ts';
import { type CfeStatus, canBecome, WITHDRAWN_REJECTION } from '../../domain/receipts/cfeStatus.ts';
import type { RejectionReason } from '../../domain/receipts/rejection.ts';
import { cfeUpdated, eventBody } from '../../domain/webhooks/webhookEvents.ts';
import { attemptValues, INSERT_ATTEMPTS } from '../authority/attempts.ts';
import type { Cfe } from '../entities/receipts.ts';
import { verdictExchangeSql } from '../mail/exchange.ts';
import { type VerdictMails, verdictMailsSql, verdictMailValues } from '../mail/mails.ts';
import { declareStatement, millisecondsSql, runStatement } from '../sql.ts';
import { moveEventsSql, moveEventValues } from '../webhooks/events.ts';

/** A change of a CFE's status. */
export interface Move {
  /** As it was read; skipped if its status has changed since. */
  readonly cfe: Pick<
    Cfe,
    | 'id'
    | 'rut'
    | 'environment'
    | 'type'
    | 'sequence'
    | 'serie'
    | 'numero'
    | 'status'
    | 'externalId'
    | 'reportOnly'
  >;
  readonly to: CfeStatus;
  readonly reasons: readonly RejectionReason[];
  /** The authority has withdrawn a rejection: the one move out of a final status. */
  readonly withdraws?: true;
}

/** Data stored with moves, in the same statement. */
export interface MoveEffects extends VerdictMails {
  /** The sobre that the authority reported on: skips CFEs that have left it. Null: it reported on the CFE alone. */
  readonly sobreId: string | null;
  /** The calls that brought the result. */
  readonly calls: readonly AuthorityCallRecord[];
  /** The authority's receipt for that sobre, and its ticket for asking about it. */
  readonly received?: {
    readonly idReceptor: string;
    readonly token: string;
    readonly askFrom: Date | null;
  };
}

/** A CFE after its move. */
export type MovedCfe = Pick<Cfe, 'id' | 'environment' | 'type' | 'status' | 'createdAt'>;

/** Locks the sobre before its CFEs, in the same order as `endSobre`: prevents deadlocks. */
const MOVE = declareStatement(
  'move_cfes',
  `with asked as materialized (
     select * from jsonb_to_recordset(?::jsonb) as asked (id uuid, was text, status text, rejection jsonb, body text)
   ), first as materialized (
     select id from sobre where id = ?::uuid for update
   ), locked as materialized (
     select cfe.id from cfe join asked on asked.id = cfe.id
     where (select count(*) from first) >= 0 and cfe.status = asked.was
       and (?::uuid is null or cfe.sobre_id = ?::uuid) order by cfe.id for update of cfe
   ), moved as (
     update cfe set status = asked.status, rejection = asked.rejection, stuck_reason = null,
       settled_at = case when asked.status <> 'RECEIVED' then ?::timestamptz end
     from locked join asked on asked.id = locked.id where cfe.id = locked.id
     returning cfe.id, cfe.rut, cfe.environment, cfe.type, cfe.sequence, cfe.status, cfe.document, cfe.created_at, asked.body
   ), released as materialized (
     select coalesce(release_notes(array_agg(id)), 0) as notes from moved where status <> 'RECEIVED'
   ), decided as materialized (
     select * from moved where status in ('ACCEPTED', 'OBSERVED')
   ), received as (
     update sobre set state = 'RECEIVED', id_receptor = one."idReceptor", token = one.token, ask_from = one."askFrom",
       received_at = coalesce(received_at, ?::timestamptz)
     from jsonb_to_record(?::jsonb) as one ("idReceptor" text, token text, "askFrom" timestamptz)
     where sobre.id = ?::uuid and one.token is not null and state in ('PREPARED', 'SENDING', 'RECEIVED')
   ), ${moveEventsSql('moved')}, ${verdictMailsSql('decided')}, ${verdictExchangeSql('decided')}, ${INSERT_ATTEMPTS}
   select id, environment, type, status, ${millisecondsSql('created_at')} as "createdAt",
     (select notes from released) > 0 as "releases",
     exists (select from deliveries_started) or exists (select from mails) or exists (select from exchanged) as "begins"
   from moved`,
);

/**
 * Moves CFEs to other statuses and stores what follows, in one statement: webhook events, the release of held notes,
 * e-mails to receivers. Skips moves that are not allowed and CFEs whose status has changed.
 * Returns the moved CFEs, whether workflows must start, and whether held notes were released.
 */
export async function moveCfes(
  em: EntityManager,
  moves: readonly Move[],
  { now, sobreId, calls, received, ...mails }: MoveEffects,
): Promise<{ moved: MovedCfe[]; startsWorkflows: boolean; releasesNotes: boolean }> {
  const at = now.toISOString();
  const asked = moves.filter(isAllowed).map(({ cfe, to, reasons, withdraws }) => {
    const rejection = reasons.length > 0 ? [...reasons] : null;
    const event = cfeUpdated(
      { ...cfe, status: to, rejection },
      cfe.status,
      withdraws && 'rejection.withdrawn',
    );
    return { id: cfe.id, was: cfe.status, status: to, rejection, body: eventBody(event, now) };
  });
  const rows = await runStatement<
    Omit<MovedCfe, 'createdAt'> & { createdAt: number; releases: boolean; begins: boolean }
  >(em, MOVE, [
    JSON.stringify(asked),
    sobreId,
    sobreId,
    sobreId,
    at,
    at,
    JSON.stringify(received ?? {}),
    sobreId,
    ...moveEventValues(now),
    ...verdictMailValues({ ...mails, now }),
    at,
    at,
    ...attemptValues(sobreId ?? moves[0]?.cfe.id ?? null, calls),
  ]);
  return {
    moved: rows.map(({ id, environment, type, status, createdAt }) => ({
      id,
      environment,
      type,
      status,
      createdAt: new Date(createdAt),
    })),
    startsWorkflows: rows[0]?.begins ?? false,
    releasesNotes: rows[0]?.releases ?? false,
  };
}

function isAllowed({ cfe, to, withdraws }: Move): boolean {
  const { from: rejected, to: accepted } = WITHDRAWN_REJECTION;
  return withdraws ? cfe.status === rejected && to === accepted : canBecome(cfe.status, to);
}
