import { Migration } from '@mikro-orm/migrations';

/** The id of the workflow of each CFE and delivery. Rows from before keep the ids under which their workflows run. */
export class Migration0012WorkflowIds extends Migration {
  override name = '0012_workflow_ids';

  override up(): void {
    // Processes of the version before, while they still run, insert rows without an id and start workflows by the old one.
    this.addSql(`
      create function old_workflow_id() returns trigger language plpgsql as $$
      begin
        new.workflow_id := tg_argv[0] || new.id;
        return new;
      end $$`);
    for (const [table, prefix] of [
      ['cfe', 'cfe:'],
      ['delivery', 'wh:'],
    ]) {
      this.addSql(`alter table ${table} add column workflow_id text`);
      this.addSql(`update ${table} set workflow_id = '${prefix}' || id`);
      this.addSql(`alter table ${table} alter column workflow_id set not null`);
      this.addSql(`
        create trigger ${table}_old_workflow_id before insert on ${table} for each row
        when (new.workflow_id is null) execute function old_workflow_id('${prefix}')`);
    }
  }
}
