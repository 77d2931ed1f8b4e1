import { Migration } from '@mikro-orm/migrations';

/** How often each account had the login of an enterprise checked, and with what success. */
export class Migration0016CredentialsChecks extends Migration {
  override name = '0016_credentials_checks';

  override up(): void {
    this.addSql(`
      create table credentials_checks (
        rut text not null references enterprise,
        account_id uuid not null references account,
        day text not null,
        checks integer not null,
        failures integer not null,
        failed_at timestamptz,
        pending_hash bytea,
        primary key (rut, account_id)
      )`);
  }
}
