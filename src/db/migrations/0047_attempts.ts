import { Migration } from '@mikro-orm/migrations';

/**
 * Calls to the authority for CFEs: one row for all that asked the same of a CFE and were answered the same, so that a long
 * outage costs a row and not thousands. And when a CFE was stuck, kept by a trigger: whatever program moves the reason, one of
 * the version before included. Its condition keeps it away from all updates that leave the reason alone.
 */
export class Migration0047Attempts extends Migration {
  override name = '0047_attempts';

  override up(): void {
    this.addSql(`
      create table authority_attempt (
        cfe_id uuid not null references cfe,
        operation text not null,
        answer text not null,
        result text not null,
        count integer not null check (count > 0),
        first_at timestamptz not null,
        first_ms integer not null,
        last_at timestamptz not null,
        last_ms integer not null,
        next_at timestamptz,
        detail text,
        reasons jsonb,
        request text,
        response bytea,
        primary key (cfe_id, operation, answer)
      ) with (fillfactor = 90);
      create index authority_attempt_first on authority_attempt (first_at);

      create table stuck_moment (
        cfe_id uuid not null references cfe,
        since timestamptz not null,
        reason text not null,
        until timestamptz,
        primary key (cfe_id, since)
      );
      insert into stuck_moment (cfe_id, since, reason)
        select id, now(), stuck_reason from cfe where stuck_reason is not null;

      create function note_stuck() returns trigger language plpgsql as $$
        begin
          update stuck_moment set until = clock_timestamp() where cfe_id = new.id and until is null;
          if new.stuck_reason is not null then
            insert into stuck_moment (cfe_id, since, reason) values (new.id, clock_timestamp(), new.stuck_reason);
          end if;
          return null;
        end
      $$;
      create trigger note_stuck_at_once after insert on cfe for each row
        when (new.stuck_reason is not null) execute function note_stuck();
      create trigger note_stuck after update of stuck_reason on cfe for each row
        when (old.stuck_reason is distinct from new.stuck_reason) execute function note_stuck();
    `);
  }
}
