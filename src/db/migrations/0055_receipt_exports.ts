import { Migration } from '@mikro-orm/migrations';

/**
 * Months of receipts as files: who asked and how far each is; and the files in parts, which go when their time is over. Their
 * bytes are compressed already.
 */
export class Migration0055ReceiptExports extends Migration {
  override name = '0055_receipt_exports';

  override up(): void {
    this.addSql(`
      create table receipt_export (
        id text primary key,
        rut text not null references enterprise,
        environment text not null check (environment in ('production', 'sandbox')),
        month text not null,
        with_pdfs boolean not null,
        actor text not null,
        state text not null check (state in ('RUNNING', 'DONE', 'STOPPED')),
        total integer not null,
        done integer not null,
        left_out integer not null,
        entries integer not null,
        content_bytes bigint not null,
        directory_bytes bigint not null,
        parts integer not null,
        last_cfe uuid,
        created_at timestamptz not null,
        moved_at timestamptz not null,
        ended_at timestamptz
      );
      create unique index receipt_export_running on receipt_export (rut, environment, month, with_pdfs)
        where state = 'RUNNING';
      create index receipt_export_newest on receipt_export (created_at desc, id desc);
      create index receipt_export_of_enterprise on receipt_export (rut, created_at desc, id desc);
      create index receipt_export_ended on receipt_export (ended_at) where ended_at is not null;

      create table receipt_export_part (
        export_id text not null references receipt_export,
        place integer not null,
        content bytea not null,
        directory bytea not null,
        left_out text not null,
        primary key (export_id, place)
      );
      alter table receipt_export_part alter column content set storage external;
    `);
  }
}
