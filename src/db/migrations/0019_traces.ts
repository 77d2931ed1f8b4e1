import { Migration } from '@mikro-orm/migrations';

/**
 * What a delivery that is asked for again while it waits needs, and what the audit tells beside the actor: the API key
 * and the address of a caller. Rows of the version before have neither.
 */
export class Migration0019Traces extends Migration {
  override name = '0019_traces';

  override up(): void {
    this.addSql(`
      alter table delivery add column asked_again boolean not null default false;

      alter table audit add column key_id uuid, add column address text;
      create index audit_of_subject on audit (subject, id);
      create index audit_of_actor on audit (actor, id);
    `);
  }
}
