import { Migration } from '@mikro-orm/migrations';

/** What the printed form needs of an enterprise, its logo, and its other branches. */
export class Migration0030EnterpriseData extends Migration {
  override name = '0030_enterprise_data';

  override up(): void {
    this.addSql(`
      create table logo (
        sha256 text primary key check (sha256 ~ '^[0-9a-f]{64}$'),
        media_type text not null check (media_type in ('image/png', 'image/jpeg')),
        bytes bytea not null,
        created_at timestamptz not null
      );
      alter table enterprise
        add column email text,
        add column website text,
        add column issuer_since date,
        add column resolution text,
        add column logo_sha256 text references logo;

      create table branch (
        rut text not null references enterprise,
        branch integer not null check (branch between 0 and 9999),
        street_name text not null,
        locality_name text not null,
        department_name text not null,
        phone_number text,
        used_at timestamptz,
        closed_at timestamptz,
        created_at timestamptz not null,
        primary key (rut, branch)
      )`);
  }
}
