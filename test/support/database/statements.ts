import type { EventEmitter } from 'node:events';
import { getPool, type Orm, openOrm } from '../../../src/db/orm.ts';

/** A connection of `pg`, as far as it is listened to. */
interface Client {
  query: (statement: string | { text: string }, ...more: unknown[]) => unknown;
}

/** A database of which every statement is noted, `begin` and `commit` among them. */
export interface NotedDatabase {
  readonly orm: Orm;
  /** What was said since the last look: each statement as the tables that it reads and writes. */
  taken(): string[];
}

/** Opens the database so that every statement to it is noted. The caller closes it. */
export async function notingStatements(databaseUrl: string): Promise<NotedDatabase> {
  const orm = await openOrm({ databaseUrl, pool: 5 });
  const rows = await orm.em
    .fork()
    .execute<{ name: string }[]>(`select tablename as name from pg_tables where schemaname = 'public'`);
  const tables = new Set(rows.map(({ name }) => name));
  let statements: string[] = [];
  const pool = (await getPool(orm)) as unknown as EventEmitter;
  const listenedTo = new WeakSet<Client>();
  pool.on('acquire', (client: Client) => {
    if (listenedTo.has(client)) return;
    listenedTo.add(client);
    const query = client.query.bind(client);
    client.query = (statement, ...more) => {
      statements.push(typeof statement === 'string' ? statement : statement.text);
      return query(statement, ...more);
    };
  });
  return {
    orm,
    taken() {
      const names = statements.map((sql) => nameOf(sql, tables));
      statements = [];
      return names;
    },
  };
}

const VERBS: Readonly<Record<string, string>> = {
  into: 'insert',
  update: 'update',
  from: 'select',
  join: 'select',
};

/** What a statement does with which tables, the writing first: `update cfe, select webhook`; or its first word. */
function nameOf(sql: string, tables: ReadonlySet<string>): string {
  const text = sql.toLowerCase().replace(/\b(do|for) update\b/g, '');
  const parts = [...text.matchAll(/\b(into|update|from|join)\s+"?([a-z_]+)"?/g)].filter(([, , table = '']) =>
    tables.has(table),
  );
  const written = parts.filter(([, verb = '']) => VERBS[verb] !== 'select');
  const read = parts.filter(
    (part) => !written.some(([, , table]) => table === part[2]) && !written.includes(part),
  );
  const names = [...written, ...read].map(([, verb = '', table = '']) => `${VERBS[verb]} ${table}`);
  return [...new Set(names)].join(', ') || (text.trim().split(/\s+/)[0] ?? '');
}
