import { Migration } from '@mikro-orm/migrations';

/** The columns of an annulment for a REJECTED CFE; the reasons of ours are told by their codes. */
const annulmentOf = (cfe: string): string => `
  ${cfe}.rut, ${cfe}.environment, ${cfe}.type, ${cfe}.serie, ${cfe}.numero, ${cfe}.numero,
  case
    when ${cfe}.rejection @> '[{"code": "abandoned"}]' then 'abandoned'
    when ${cfe}.rejection @> '[{"code": "reference.rejected"}]' then 'reference.rejected'
    else 'rejected' end,
  case when ${cfe}.digest is null then (${cfe}.settled_at at time zone 'UTC' - interval '3 hours')::date
    else left(${cfe}.document ->> 'signedAt', 10)::date end,
  ${cfe}.settled_at, ${cfe}.cae_id, ${cfe}.id`;

const INTO = `insert into annulment
  (rut, environment, type, serie, from_number, to_number, reason, report_date, annulled_at, cae_id, cfe_id)`;

/**
 * What became of every number (docs/contract.md#numbers): the annulled ones, those of a CAE that are elsewhere, and those
 * that are never to be given. A trigger annuls the number of a rejected CFE, so that every way to a rejection does it in
 * its own transaction, that of a program of the version before too; nor can that one give a number that is withheld.
 */
export class Migration0033Annulments extends Migration {
  override name = '0033_annulments';

  override up(): void {
    // Whoever numbers a CFE locks these two tables in this order; the other way round one of us would be a deadlock.
    this.addSql(`
      lock table cae in access exclusive mode;
      create table annulment (
        id bigint generated always as identity primary key,
        rut text not null references enterprise,
        environment text not null check (environment in ('production', 'sandbox')),
        type text not null,
        serie text not null,
        from_number integer not null,
        to_number integer not null check (to_number >= from_number),
        reason text not null
          check (reason in ('rejected', 'abandoned', 'reference.rejected', 'cae.expired', 'by_hand')),
        report_date date not null,
        annulled_at timestamptz not null,
        cae_id uuid not null references cae,
        cfe_id uuid unique references cfe,
        check ((cfe_id is null) = (reason in ('cae.expired', 'by_hand'))),
        check (cfe_id is null or from_number = to_number),
        constraint annulment_once exclude using gist (rut with =, environment with =, type with =, serie with =,
          int4range(from_number, to_number, '[]') with &&)
      );
      create index annulment_of_day on annulment (rut, environment, report_date);
      create index annulment_of_cae on annulment (cae_id);
      create index annulment_annulled_at on annulment (annulled_at);

      create function number_fate(rejection jsonb) returns text language sql immutable as $$
        select case
          when codes @> '["E02"]' or codes @> '["duplicate.not_ours"]' then 'elsewhere'
          when codes @> '["E09"]' then 'reusable'
          when codes <@ '["E06"]' and codes <> '[]' then 'undecided'
          else 'annulled' end
        from jsonb_path_query_array(coalesce(rejection, '[]'), '$[*].code') as codes
      $$;
      create index cfe_rejected on cfe (number_fate(rejection), cae_id) where status = 'REJECTED';

      create function annul_number_of_rejected() returns trigger language plpgsql as $$
        begin
          if number_fate(new.rejection) = 'annulled' then
            ${INTO} values (${annulmentOf('new')});
          end if;
          return null;
        end
      $$;
      create trigger annul_number_of_rejected after update of status on cfe for each row
        when (new.status = 'REJECTED' and old.status <> 'REJECTED') execute function annul_number_of_rejected();
      ${INTO} select ${annulmentOf('cfe')}
      from cfe where status = 'REJECTED' and number_fate(rejection) = 'annulled' order by settled_at, id;

      create function how_many(numbers int4multirange) returns integer language sql immutable as $$
        select coalesce(sum(upper(part) - lower(part)), 0)::integer from unnest(numbers) as part
      $$;
      alter table cae
        add column elsewhere int4multirange not null default '{}',
        add column withheld int4multirange not null default '{}',
        add constraint cae_gives_no_withheld check (not withheld @> last_number),
        add column numbers_left integer not null generated always as
          (how_many(int4multirange(int4range(last_number + 1, greatest(number_end, last_number) + 1)) - withheld)) stored;

      create function note_numbers_before_first() returns trigger language plpgsql as $$
        begin
          new.elsewhere = new.elsewhere + int4multirange(int4range(new.number_start, new.last_number + 1));
          return new;
        end
      $$;
      create trigger note_numbers_before_first before insert on cae for each row
        execute function note_numbers_before_first();
      update cae set elsewhere = int4multirange(int4range(number_start, last_number + 1)) - (
        select coalesce(range_agg(int4range(cfe.numero, cfe.numero + 1)), '{}') from cfe
        where cfe.rut = cae.rut and cfe.environment = cae.environment and cfe.type = cae.type
          and cfe.serie = cae.series and cfe.numero between cae.number_start and cae.last_number
      ) where last_number - number_start + 1 <> (
        select count(*) from cfe
        where cfe.rut = cae.rut and cfe.environment = cae.environment and cfe.type = cae.type
          and cfe.serie = cae.series and cfe.numero between cae.number_start and cae.last_number
      );
    `);
  }
}
