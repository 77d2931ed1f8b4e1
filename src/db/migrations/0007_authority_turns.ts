import { Migration } from '@mikro-orm/migrations';

/** The authority's endpoints with their breakers and slots, and the CFEs that wait for their turn. */
export class Migration0007AuthorityTurns extends Migration {
  override name = '0007_authority_turns';

  override up(): void {
    this.addSql(`
      create table authority_endpoint (
        name text primary key,
        failures integer not null,
        open_since timestamptz,
        next_probe_at timestamptz,
        probes integer not null,
        prober_id uuid,
        next_free_at timestamptz not null,
        check ((open_since is null) = (next_probe_at is null)),
        check (prober_id is null or open_since is not null)
      );
      insert into authority_endpoint (name, failures, probes, next_free_at)
        select name, 0, 0, to_timestamp(0) from unnest(array[
          'production/reception', 'production/consultation', 'production/registry',
          'sandbox/reception', 'sandbox/consultation', 'sandbox/registry', 'credentials'
        ]) name;

      create table authority_turn (
        cfe_id uuid primary key references cfe,
        environment text not null check (environment in ('production', 'sandbox')),
        rut text not null references enterprise,
        since timestamptz not null,
        sequence integer not null,
        released_for timestamptz,
        probed_at timestamptz
      );
      create index authority_turn_waiting on authority_turn (environment, rut, since, sequence)
        where released_for is null;
      create index authority_turn_released on authority_turn (environment, released_for)
        where released_for is not null;

      alter table sobre_sequence add column last_turn_at timestamptz;
    `);
  }
}
