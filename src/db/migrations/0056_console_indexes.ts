import { Migration } from '@mikro-orm/migrations';

/**
 * What the console's lists still read more of than they show, at 1,000,000 CFEs (docs/benchmarks.md, the console): what one
 * enterprise or one webhook has of what is rare among all, reports by status, acts by account and action. Two indexes of all
 * give way to the same by enterprise and by webhook, which serve both (docs/decisions/0050-lists-by-owner.md).
 */
export class Migration0056ConsoleIndexes extends Migration {
  override name = '0056_console_indexes';

  override up(): void {
    this.addSql(`
      create index if not exists cfe_received on cfe ((document #>> '{receiver,document,number}'), rut, created_at desc, id desc)
        where document #>> '{receiver,document,number}' is not null;
      drop index if exists cfe_receiver;
      create index if not exists cfe_not_accepted_of on cfe (rut, status, created_at desc, id desc)
        where status in ('REJECTED', 'OBSERVED');
      create index if not exists cfe_stuck_of on cfe (rut, created_at desc, id desc) where stuck_reason is not null;
      create index if not exists sobre_refused on sobre (cfe_id) where state = 'REFUSED';

      create index if not exists delivery_of_event_name on delivery (webhook_id, event_name, created_at desc, id desc);
      drop index if exists delivery_event;

      create index if not exists daily_report_of_enterprise on daily_report (rut, date desc, environment) include (status)
        where stuck_reason is null;
      create index if not exists daily_report_not_consistent on daily_report (status, date desc, rut, environment)
        where status <> 'CONSISTENT';
      create index if not exists daily_report_sandbox on daily_report (date desc, rut) where environment = 'sandbox';

      create index if not exists audit_of_account on audit (account_id, id) where account_id is not null;
      create index if not exists audit_of_action on audit (action, id);
    `);
  }
}
