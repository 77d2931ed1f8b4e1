import { Migration } from '@mikro-orm/migrations';

/** When an endpoint of the authority was last found to answer again. */
export class Migration0054AuthorityClosedAt extends Migration {
  override name = '0054_authority_closed_at';

  override up(): void {
    this.addSql('alter table authority_endpoint add column closed_at timestamptz');
  }
}
