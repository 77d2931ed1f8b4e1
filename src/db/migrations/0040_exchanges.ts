import { Migration } from '@mikro-orm/migrations';

/**
 * What came of each CFE that its receiver is to have, should that be an electronic issuer itself: PENDING until that is
 * known; on its way in a sobre, byte for byte; or nothing to send.
 */
export class Migration0040Exchanges extends Migration {
  override name = '0040_exchanges';

  override up(): void {
    this.addSql(`
      create table exchange (
        cfe_id uuid primary key references cfe,
        rut text not null,
        environment text not null check (environment in ('production', 'sandbox')),
        receiver_rut text not null,
        state text not null check (state in ('PENDING', 'ON_ITS_WAY', 'NOT_ELECTRONIC', 'NO_ADDRESS')),
        idemisor bigint,
        xml text,
        created_at timestamptz not null,
        settled_at timestamptz,
        unique (rut, environment, idemisor),
        check ((state = 'PENDING') = (settled_at is null)),
        check ((state = 'ON_ITS_WAY') = (idemisor is not null and xml is not null))
      );
      create index exchange_pending on exchange (created_at) where state = 'PENDING'`);
  }
}
