import { Migration } from '@mikro-orm/migrations';

/** Rates of foreign currencies, and the endpoint of the central bank that gives them. */
export class Migration0035ExchangeRates extends Migration {
  override name = '0035_exchange_rates';

  override up(): void {
    this.addSql(`
      create table exchange_rate (
        currency text not null check (currency ~ '^[A-Z]{3}$'),
        date date not null,
        rate numeric not null check (rate > 0),
        source text not null,
        primary key (currency, date)
      );
      insert into authority_endpoint (name, failures, probes, next_free_at)
        values ('rates', 0, 0, to_timestamp(0));
    `);
  }
}
