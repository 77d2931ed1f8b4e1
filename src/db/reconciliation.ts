/** The proof that no number of a CAE is unaccounted for (docs/contract.md#numbers). */
import type { EntityManager } from '@mikro-orm/postgresql';
import type { CfeType, Environment } from '../domain/cfeTypes.ts';

/** How many numbers of one CAE stand how; `given` must be `issued` + `annulled` + `waiting`. */
export interface NumbersOfCae {
  readonly rut: string;
  readonly environment: Environment;
  readonly authorizationNumber: string;
  readonly type: CfeType;
  readonly serie: string;
  /** By the CAE itself: from its first to the last that it gave, and those that are withheld; without `elsewhere`. */
  readonly given: number;
  /** CFEs that the authority accepted or observed. */
  readonly issued: number;
  /** By the annulments. */
  readonly annulled: number;
  /** CFEs that have no verdict, or one that leaves their number open: E09, E06 until it is decided. */
  readonly waiting: number;
  /** Below the first that was to be given, skipped by a recovery, or taken by another system. */
  readonly elsewhere: number;
}

/**
 * Whether all numbers of a CAE are accounted for.
 * @internal
 */
export const isAccountedFor = ({ given, issued, annulled, waiting }: NumbersOfCae): boolean =>
  given === issued + annulled + waiting;

/** Longest time that the question may hold the database: some millions of CFEs are counted in a second. */
const STATEMENT_MILLISECONDS = 10 * 60_000;

/** Counts the rejected CFEs of a CAE whose number has that fate (the database's function number_fate). */
const rejected = (fate: string, more?: string): string =>
  `select count(*) as cfes${more === undefined ? '' : `, ${more}`} from cfe
   where status = 'REJECTED' and number_fate(rejection) = '${fate}' and cae_id = cae.id`;

/**
 * The numbers of every CAE, or of those of one enterprise, as of one moment. What was given is told by the CAE, the rest by
 * the rows of CFEs and annulments: one that is lost shows. CFEs are counted over the index of their numbers; those that
 * are open or rejected are few, have indexes of their own, and are taken off: what remains was issued.
 */
export function reconcileNumbers(
  em: EntityManager,
  { rut }: { rut?: string | undefined } = {},
): Promise<NumbersOfCae[]> {
  return em.transactional(async (one) => {
    await one.execute(`set local statement_timeout to ${STATEMENT_MILLISECONDS}`);
    return one.execute<NumbersOfCae[]>(
      `with open as materialized (
         select cae_id, count(*) as cfes from cfe where settled_at is null group by cae_id
       )
       select cae.rut, cae.environment, authorization_number as "authorizationNumber", cae.type, series as serie,
         (how_many(int4multirange(int4range(number_start, last_number + 1)) + withheld - cae.elsewhere)
           - others.cfes)::integer as given,
         (stored.cfes - coalesce(open.cfes, 0) - others.cfes - lost.cfes - reusable.cfes - undecided.cfes)::integer
           as issued,
         annulled.numbers::integer as annulled,
         (coalesce(open.cfes, 0) + reusable.cfes + undecided.waiting)::integer as waiting,
         (how_many(cae.elsewhere) + others.cfes)::integer as elsewhere
       from cae left join open on open.cae_id = cae.id,
       lateral (select count(*) as cfes from cfe
         where rut = cae.rut and environment = cae.environment and type = cae.type and serie = cae.series
           and numero between number_start and number_end) as stored,
       lateral (${rejected('elsewhere')}) as others,
       lateral (${rejected('annulled')}) as lost,
       lateral (${rejected('reusable')}) as reusable,
       lateral (${rejected(
         'undecided',
         'count(*) filter (where not exists (select from annulment where cfe_id = cfe.id)) as waiting',
       )}) as undecided,
       lateral (select coalesce(sum(to_number - from_number + 1), 0) as numbers from annulment
         where cae_id = cae.id) as annulled
       where ?::text is null or cae.rut = ?
       order by cae.rut, cae.environment, cae.type, cae.created_at, cae.id`,
      [rut ?? null, rut ?? null],
    );
  });
}

/** How many CAEs of each environment have a number that is unaccounted for. */
export async function countUnaccounted(em: EntityManager): Promise<Record<Environment, number>> {
  const counts = { production: 0, sandbox: 0 };
  for (const cae of await reconcileNumbers(em)) if (!isAccountedFor(cae)) counts[cae.environment] += 1;
  return counts;
}
