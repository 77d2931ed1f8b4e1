import type { EntityManager } from '@mikro-orm/postgresql';

/** The live parts of console pages, and the tables behind them. */
const TABLES = {
  cfes: ['cfe', 'sobre', 'annulment'],
  deliveries: ['delivery', 'delivery_attempt', 'webhook'],
  authority: ['authority_endpoint'],
  warnings: ['cae', 'certificate', 'enterprise'],
  runs: ['run'],
  exports: ['receipt_export'],
  homologation: ['homologation', 'homologation_item'],
  audit: ['audit'],
  enterprises: ['branch', 'enterprise_grant', 'annulment'],
  accounts: ['account', 'enterprise', 'enterprise_grant', 'rate_limit'],
  reports: ['daily_report', 'report_submission', 'reporting_obligation'],
  people: ['console_session', 'person', 'membership', 'account_invitation'],
  keys: ['api_key'],
  payments: ['payment', 'enterprise', 'plan'],
} as const;

export type Topic = keyof typeof TABLES;
export const TOPICS = Object.keys(TABLES) as readonly Topic[];

/**
 * Returns a write count per topic, to detect changes by comparing two answers. Uses PostgreSQL's own counters, which
 * connections update within seconds: reads no table, however large.
 */
export async function readChangeCounts(em: EntityManager): Promise<Record<Topic, string>> {
  const rows = await em.execute<{ relname: string; written: string }[]>(
    `select relname, (n_tup_ins + n_tup_upd + n_tup_del)::text as written
     from pg_stat_user_tables where schemaname = 'public' and relname in (?)`,
    [Object.values(TABLES).flat()],
  );
  const writtenOf = new Map(rows.map(({ relname, written }) => [relname, written]));
  return Object.fromEntries(
    TOPICS.map((topic) => [topic, TABLES[topic].map((table) => writtenOf.get(table)).join(' ')]),
  ) as Record<Topic, string>;
}
