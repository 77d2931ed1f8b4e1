import { Migration } from '@mikro-orm/migrations';

/**
 * What lets old rows be found and go: indexes by age, one from an event to its deliveries, and private keys that may be
 * gone. The version before reads private keys only where a CFE still needs them; those stay.
 */
export class Migration0020Retention extends Migration {
  override name = '0020_retention';

  override up(): void {
    this.addSql(`
      alter table certificate alter column sealed_key drop not null;
      alter table certificate add constraint certificate_key check (sealed_key is not null or replaced_at is not null);

      create index outbox_dispatched_at on outbox (dispatched_at) where dispatched_at is not null;
      create index event_created_at on event (created_at);
      create index delivery_of_event on delivery (event_id);
      create index delivery_attempt_at on delivery_attempt (at);
    `);
  }
}
