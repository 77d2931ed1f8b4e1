import { Migration } from '@mikro-orm/migrations';

/**
 * The environment that a certificate of the authority was added for. Null, as in all rows from before and those that the
 * version before still adds: the RUT in its subject tells.
 */
export class Migration0015AuthorityEnvironment extends Migration {
  override name = '0015_authority_environment';

  override up(): void {
    this.addSql(`
      alter table authority_certificate
      add column environment text check (environment in ('production', 'sandbox'))`);
  }
}
