import { Migration } from '@mikro-orm/migrations';

/** E-mails that bring CFEs to their receivers, with every attempt. */
export class Migration0041Mail extends Migration {
  override name = '0041_mail';

  override up(): void {
    this.addSql(`
      create table mail (
        id uuid primary key,
        workflow_id text not null unique,
        cfe_id uuid not null references cfe,
        rut text not null,
        environment text not null check (environment in ('production', 'sandbox')),
        kind text not null check (kind in ('RECEIPT', 'EXCHANGE')),
        destination text not null,
        status text not null check (status in ('PENDING', 'SENT', 'FAILED', 'DISABLED')),
        attempts integer not null default 0,
        by_hand boolean not null,
        asked_again boolean not null default false,
        message_id text unique,
        created_at timestamptz not null,
        settled_at timestamptz,
        check ((status = 'PENDING') = (settled_at is null))
      );
      create index mail_of_cfe on mail (cfe_id, created_at desc, id desc);
      create index mail_of_enterprise on mail (rut, created_at desc, id desc);
      create index mail_newest on mail (created_at desc, id desc);
      create index mail_failed on mail (created_at desc, id desc) where status = 'FAILED';
      create index mail_pending on mail (created_at) where status = 'PENDING';

      create table mail_attempt (
        mail_id uuid not null references mail,
        number integer not null check (number > 0),
        execution text not null,
        at timestamptz not null,
        smtp_code integer,
        error text,
        answer text,
        milliseconds integer not null,
        primary key (mail_id, number),
        unique (mail_id, execution)
      );
    `);
  }
}
