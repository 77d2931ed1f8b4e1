/** References between CFEs: the table cfe_reference. */
import { type EntityManager, LockMode } from '@mikro-orm/postgresql';
import { type CfeIdParts, formatCfeId } from '../../domain/receipts/cfeId.ts';
import type { OriginalCfe } from '../../domain/receipts/cfeRule.ts';
import {
  CFE_TYPE_NAMES,
  type CfeType,
  cfeTypeRow,
  type Environment,
} from '../../domain/receipts/cfeTypes.ts';
import { type ForeignReference, ownTypeOf, printedName } from '../../domain/receipts/credit/referred.ts';
import { Cfe } from '../entities/receipts.ts';

const NOTES = CFE_TYPE_NAMES.filter((type) => cfeTypeRow(type).note !== null);
/** The types of credit notes. */
export const CREDIT_NOTES = CFE_TYPE_NAMES.filter((type) => cfeTypeRow(type).note === 'credit');

/** SQL of the status that decides whether `cfe` may be sent: of a REJECTED original, else of one without a verdict. */
export const originalStatusSql = (cfe: string): string =>
  `(select original.status from cfe_reference ref join cfe original on original.id = ref.original_id
    where ref.cfe_uuid = ${cfe}.id
    order by original.status = 'REJECTED' desc, original.settled_at is null desc limit 1)`;

interface Issuer {
  readonly rut: string;
  readonly environment: Environment;
}

/** A CFE that a request refers to, with the facts that the rules check. */
export interface LockedOriginal extends OriginalCfe {
  readonly id: string;
}

/**
 * Returns the CFEs with these cfe_ids, by cfe_id, locked until the open transaction ends: their status cannot change, and
 * notes on one follow one another, so that their sum cannot exceed its amount. Missing ones are left out.
 */
export async function lockOriginals(
  em: EntityManager,
  { rut, environment }: Issuer,
  cfeIds: readonly CfeIdParts[],
): Promise<Map<string, LockedOriginal>> {
  if (cfeIds.length === 0) return new Map();
  const cfes = await em.find(
    Cfe,
    { rut, environment, $or: cfeIds.map(({ type, sequence }) => ({ type, sequence })) },
    // All who lock several do it in this order.
    { orderBy: { id: 'asc' }, lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true },
  );
  const credited = await sumCredited(
    em,
    cfes.map(({ id }) => id),
  );
  return new Map(
    cfes.map((cfe) => {
      const { id, document, status, reportOnly } = cfe;
      return [formatCfeId(cfe), { id, document, status, reportOnly, credited: credited.get(id) ?? '0' }];
    }),
  );
}

/** Sums the amounts that credit notes, except rejected ones, took of each CFE, by UUID: unrounded decimal text. */
async function sumCredited(em: EntityManager, originalIds: readonly string[]): Promise<Map<string, string>> {
  if (originalIds.length === 0) return new Map();
  const rows = await em.execute<{ id: string; sum: string }[]>(
    `select ref.original_id as id, sum(ref.taken)::text as sum
     from cfe_reference ref join cfe note on note.id = ref.cfe_uuid
     where ref.original_id in (?) and note.type in (?) and note.status <> 'REJECTED' group by 1`,
    [[...originalIds], CREDIT_NOTES],
  );
  return new Map(rows.map(({ id, sum }) => [id, sum]));
}

/** Returns the cfe_ids of those foreign references that name a CFE of this service, by `printedName`. */
export async function findIssuedHere(
  em: EntityManager,
  { rut, environment }: Issuer,
  references: readonly ForeignReference[],
): Promise<Map<string, string>> {
  const asked = references.flatMap((one) => {
    const type = ownTypeOf(one);
    return type ? [{ type, serie: one.serie, numero: one.numero, name: printedName(one) }] : [];
  });
  if (asked.length === 0) return new Map();
  const rows = await em.execute<{ name: string; type: CfeType; sequence: number }[]>(
    `select asked.name, cfe.type, cfe.sequence
     from jsonb_to_recordset(?::jsonb) as asked (type text, serie text, numero integer, name text)
     join cfe on cfe.rut = ? and cfe.environment = ? and cfe.type = asked.type and cfe.serie = asked.serie
       and cfe.numero = asked.numero`,
    [JSON.stringify(asked), rut, environment],
  );
  return new Map(rows.map((row) => [row.name, formatCfeId(row)]));
}

type RelatedCfe = Pick<Cfe, 'type' | 'sequence' | 'status'>;

/** Returns the notes that refer to a CFE, oldest first. */
export const listNotes = (em: EntityManager, cfeUuid: string): Promise<RelatedCfe[]> =>
  em.execute(
    `select note.type, note.sequence, note.status
     from cfe_reference ref join cfe note on note.id = ref.cfe_uuid
     where ref.original_id = ? and note.type in (?) order by note.created_at, note.id`,
    [cfeUuid, NOTES],
  );

/** Returns the CFEs of this service that a CFE refers to. */
export const listOriginals = (em: EntityManager, cfeUuid: string): Promise<RelatedCfe[]> =>
  em.execute(
    `select original.type, original.sequence, original.status
     from cfe_reference ref join cfe original on original.id = ref.original_id
     where ref.cfe_uuid = ? order by original.type, original.sequence`,
    [cfeUuid],
  );
