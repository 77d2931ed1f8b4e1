import type { EventEmitter } from 'node:events';
import { CompiledQuery } from 'kysely';
import type { Orm } from '../../../src/db/orm.ts';

/** A statement with its parameters, as it went to the database. */
export interface Statement {
  readonly sql: string;
  readonly values: readonly unknown[];
}

/** What a statement touches, whatever the machine does besides. */
export interface Cost {
  /** Pages of 8 KiB, of tables and indexes, in memory or not. */
  readonly buffers: number;
  /** Rows that scans looked at, those included that a filter left out. */
  readonly rows: number;
}

interface PlanNode {
  'Node Type': string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  'Rows Removed by Index Recheck'?: number;
  'Shared Hit Blocks': number;
  'Shared Read Blocks': number;
  Plans?: PlanNode[];
}

type Connection = EventEmitter & { query: (...given: unknown[]) => unknown };

/** Notes the statements that an Orm sends while `act` runs. */
export async function statementsOf(orm: Orm, act: () => Promise<unknown>): Promise<Statement[]> {
  const pool: EventEmitter = await orm.em.getConnection().getNativeClient();
  const sent: Statement[] = [];
  const heard = new Set<Connection>();
  const hear = (connection: Connection): void => {
    if (heard.has(connection)) return;
    heard.add(connection);
    const send = connection.query.bind(connection);
    connection.query = (...given) => {
      const [query, values] = given;
      const { text, values: ofText } = typeof query === 'string' ? { text: query, values } : Object(query);
      sent.push({ sql: String(text), values: Array.isArray(ofText ?? values) ? (ofText ?? values) : [] });
      return send(...given);
    };
  };
  pool.on('acquire', hear);
  try {
    await act();
  } finally {
    pool.off('acquire', hear);
    // The class's own shows again.
    for (const connection of heard) Reflect.deleteProperty(connection, 'query');
  }
  return sent;
}

/** What each of these questions costs, asked once more; what writes is left out. */
export async function costsOf(orm: Orm, statements: readonly Statement[]): Promise<(Statement & Cost)[]> {
  const costs: (Statement & Cost)[] = [];
  for (const { sql, values } of statements) {
    if (!/^\s*(select|with)\b/i.test(sql) || /\bfor (no key )?update\b/i.test(sql)) continue;
    const explained = CompiledQuery.raw(`explain (analyze, buffers, format json) ${sql}`, [...values]);
    const { rows } = await orm.em.fork().getKysely().executeQuery(explained);
    const [row] = rows as { 'QUERY PLAN': { Plan: PlanNode }[] }[];
    const plan = row?.['QUERY PLAN'][0]?.Plan;
    if (!plan) throw new Error(`no plan of ${sql}`);
    costs.push({
      sql,
      values,
      buffers: plan['Shared Hit Blocks'] + plan['Shared Read Blocks'],
      rows: rowsOf(plan),
    });
  }
  return costs;
}

/** What tables and indexes gave, a bitmap's index and its table each. */
function rowsOf(node: PlanNode): number {
  const below = (node.Plans ?? []).reduce((sum, one) => sum + rowsOf(one), 0);
  if (!node['Node Type'].includes('Scan')) return below;
  const each =
    node['Actual Rows'] +
    (node['Rows Removed by Filter'] ?? 0) +
    (node['Rows Removed by Index Recheck'] ?? 0);
  return below + Math.round(each * node['Actual Loops']);
}
