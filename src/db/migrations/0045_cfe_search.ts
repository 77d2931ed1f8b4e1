import { Migration } from '@mikro-orm/migrations';

/**
 * What a search over all CFEs needs (src/db/cfeSearch.ts). Each index is written with a CFE and again with its moves, so there
 * is one for each way of looking that nothing else serves, and most hold a part of the rows only: who has no document, no
 * rejection, costs nothing there. The request that made a CFE is noted from now on.
 */
export class Migration0045CfeSearch extends Migration {
  override name = '0045_cfe_search';

  override up(): void {
    this.addSql(`
      alter table cfe add column request_id text;
      create index cfe_newest_of_type on cfe (environment, type, created_at desc, id desc);
      create index cfe_emitted on cfe (emission_date);
      create index cfe_not_accepted on cfe (status, created_at desc, id desc) where status in ('REJECTED', 'OBSERVED');
      create index cfe_receiver on cfe ((document #>> '{receiver,document,number}'), created_at desc, id desc)
        where document #>> '{receiver,document,number}' is not null;
      create index cfe_request on cfe using hash (request_id);
    `);
  }
}
