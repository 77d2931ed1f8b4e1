import { openOrm } from '../../../src/db/orm.ts';

/**
 * From now on deliveries made in this database pause for half a second between their attempts instead of minutes; all
 * else is as always. `databaseUrl`: of the service, in the test run's server.
 */
export async function shortenPauses(databaseUrl: string): Promise<void> {
  const owner = new URL(process.env['CFE_TEST_POSTGRES_URL'] ?? '');
  owner.pathname = new URL(databaseUrl).pathname;
  const orm = await openOrm({ databaseUrl: owner.href, pool: 1 });
  try {
    await orm.em.fork().execute(`
      create function short_pauses() returns trigger language plpgsql as $$ begin
        new.input := jsonb_set(new.input, '{delays}', '[500, 500, 500]');
        return new;
      end $$;
      create trigger short_pauses before insert on outbox for each row
        when (new.workflow = 'deliverWebhook') execute function short_pauses();`);
  } finally {
    await orm.close(true);
  }
}
