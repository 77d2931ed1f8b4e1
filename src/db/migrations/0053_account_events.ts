import { Migration } from '@mikro-orm/migrations';

/**
 * The events that webhooks of an account selected, to be read by the account (docs/decisions/0045-events-to-read.md). The
 * trigger is for the version before, which does not know the table: what it stores while both run is listed too. This
 * version has listed its events by the time the trigger fires.
 */
export class Migration0053AccountEvents extends Migration {
  override name = '0053_account_events';

  override up(): void {
    this.addSql(`
      create table account_event (
        id bigint generated always as identity primary key,
        account_id uuid not null references account,
        event_id uuid not null references event on delete cascade deferrable initially deferred,
        event_name text not null,
        position bigint check (position > 0),
        unique (account_id, event_id),
        unique (account_id, position)
      );
      create index account_event_of_event on account_event (event_id);
      create index account_event_by_name on account_event (account_id, event_name, position)
        where position is not null;
      create index account_event_unplaced on account_event (account_id, id) where position is null;

      insert into account_event (account_id, event_id, event_name)
        select told.account_id, event.id, event.name from (
          select distinct webhook.account_id, delivery.event_id
          from delivery join webhook on webhook.id = delivery.webhook_id
          where delivery.event_name <> 'webhook.test') told
        join event on event.id = told.event_id
        order by event.created_at, event.id;

      create function list_event_of_delivery() returns trigger language plpgsql as $$
        begin
          insert into account_event (account_id, event_id, event_name)
            select account_id, new.event_id, new.event_name from webhook where id = new.webhook_id
            on conflict do nothing;
          return null;
        end
      $$;
      create trigger list_event_of_delivery after insert on delivery
        for each row when (new.event_name <> 'webhook.test') execute function list_event_of_delivery();
    `);
  }
}
