import { Migration } from '@mikro-orm/migrations';

/**
 * Bulk runs: who started them, why, with which filter, and how far they are; and each thing that they act on, fixed when the
 * run was started, with what became of it. Indexes for the filters by which stuck CFEs and failed deliveries are chosen.
 */
export class Migration0049Runs extends Migration {
  override name = '0049_runs';

  override up(): void {
    this.addSql(`
      create table run (
        id text primary key,
        kind text not null check (kind in ('retry', 'settle', 'abandon', 'redeliver')),
        account_id uuid references account,
        actor text not null,
        address text,
        reason text not null,
        filter jsonb not null,
        state text not null check (state in ('RUNNING', 'DONE', 'STOPPED')),
        total integer not null,
        done integer not null,
        unneeded integer not null,
        refused integer not null,
        created_at timestamptz not null,
        moved_at timestamptz not null,
        stop_asked_at timestamptz,
        stop_asked_by text,
        ended_at timestamptz
      );
      create index run_newest on run (created_at desc, id desc);
      create index run_of_account on run (account_id, created_at desc, id desc) where account_id is not null;
      create index run_running on run (created_at) where state = 'RUNNING';

      create table run_item (
        run_id text not null references run,
        place integer not null,
        subject uuid not null,
        was text not null,
        attempts integer not null default 0,
        outcome text,
        message text,
        at timestamptz,
        primary key (run_id, place)
      );
      create index run_item_left on run_item (run_id, attempts, place) where outcome is null;
      create index run_item_refused on run_item (run_id, place) where outcome = 'refused';

      create index cfe_stuck_oldest on cfe (created_at, id) where stuck_reason is not null;
      create index delivery_given_up on delivery (webhook_id, settled_at, id) where status = 'FAILED';
    `);
  }
}
