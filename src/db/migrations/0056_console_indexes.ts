import { Migration } from '@mikro-orm/migrations';

/**
 * What lists of the console still read more of than they show: what one enterprise, webhook or account has of what is rare among
 * all, and reports and acts by status and action (docs/decisions/0050-lists-by-owner.md). Whoever cannot have their tables locked
 * builds them before, concurrently (docs/production.md#indexes-built-before): one that is there is left, unless its building failed.
 * @internal
 */
export const CONSOLE_INDEXES: Readonly<Record<string, string>> = {
  cfe_received: `cfe ((document #>> '{receiver,document,number}'), rut, created_at desc, id desc) where document #>> '{receiver,document,number}' is not null`,
  cfe_not_accepted_of: `cfe (rut, status, created_at desc, id desc) where status in ('REJECTED', 'OBSERVED')`,
  cfe_stuck_of: 'cfe (rut, created_at desc, id desc) where stuck_reason is not null',
  cfe_open_of: 'cfe (rut, created_at desc, id desc) where settled_at is null',
  sobre_refused: `sobre (cfe_id) where state = 'REFUSED'`,
  delivery_of_event_name: 'delivery (webhook_id, event_name, created_at desc, id desc)',
  daily_report_of_enterprise:
    'daily_report (rut, date desc, environment) include (status) where stuck_reason is null',
  daily_report_not_consistent: `daily_report (status, date desc, rut, environment) where status <> 'CONSISTENT'`,
  daily_report_sandbox: `daily_report (date desc, rut) where environment = 'sandbox'`,
  audit_of_account: 'audit (account_id, id) where account_id is not null',
  audit_of_action: 'audit (action, id)',
};

const names = Object.keys(CONSOLE_INDEXES)
  .map((name) => `'${name}'`)
  .join(', ');

export class Migration0056ConsoleIndexes extends Migration {
  override name = '0056_console_indexes';

  override up(): void {
    this.addSql(`
      do $$ declare failed regclass; begin
        for failed in select indexrelid::regclass from pg_index join pg_class c on c.oid = indexrelid
          where not indisvalid and relnamespace = 'public'::regnamespace and relname in (${names})
        loop execute 'drop index ' || failed; end loop;
      end $$;
    `);
    for (const [name, definition] of Object.entries(CONSOLE_INDEXES))
      this.addSql(`create index if not exists ${name} on ${definition}`);
    // What serves both the whole and each part: cfe_received, delivery_of_event_name.
    this.addSql('drop index if exists cfe_receiver');
    this.addSql('drop index if exists delivery_event');
  }
}
