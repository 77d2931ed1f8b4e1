import { describe, expect, test } from '@jest/globals';
import { MIGRATIONS } from '../../../src/db/migrations/index.ts';
import { findMissingMigrations, migrate, openOrm } from '../../../src/db/orm.ts';
import { ensureSchema } from '../../../src/wiring/database.ts';
import { cloneDatabase, emptyDatabase } from '../../support/database/database.ts';

describe('migrations', () => {
  test('processes that start together take turns: each migration runs once', async () => {
    const { databaseUrl, ...database } = await emptyDatabase();
    const orms = await Promise.all(Array.from({ length: 5 }, () => openOrm({ databaseUrl, pool: 3 })));
    try {
      await Promise.all(orms.map(migrate));

      const [first] = orms;
      const rows = await first?.em
        .fork()
        .execute<{ name: string }[]>('select name from migration order by id');
      expect(rows?.map(({ name }) => name)).toEqual(MIGRATIONS.map(({ name }) => name));
    } finally {
      for (const orm of orms) await orm.close(true);
      await database[Symbol.asyncDispose]();
    }
  });

  test('what lacks is told by name, and nothing is made; where a job is to migrate, its absence is an error', async () => {
    const { databaseUrl, ...database } = await emptyDatabase();
    const orm = await openOrm({ databaseUrl, pool: 2 });
    try {
      const names = MIGRATIONS.map(({ name }) => name);
      expect(await findMissingMigrations(orm.em.fork())).toEqual(names);
      await expect(ensureSchema(orm, { CFE_MIGRATE: 'never' })).rejects.toThrow(
        `The database is missing the migrations ${names.join(', ')}. Run the migrate job first`,
      );
      expect(await findMissingMigrations(orm.em.fork())).toEqual(names);

      expect(await migrate(orm)).toEqual(names);
      const last = names.at(-1);
      await orm.em.fork().execute('delete from migration where name = ?', [last]);
      expect(await findMissingMigrations(orm.em.fork())).toEqual([last]);
    } finally {
      await orm.close(true);
      await database[Symbol.asyncDispose]();
    }
  });

  test('one that these programs do not know, of the next version, disturbs neither job nor programs', async () => {
    const database = await cloneDatabase();
    try {
      await database.asOwner(`insert into migration (name) values ('9999_of_the_next_version')`);

      expect(await migrate(database.orm)).toEqual([]);
      for (const when of ['at-start', 'never'] as const) {
        await expect(ensureSchema(database.orm, { CFE_MIGRATE: when })).resolves.toBeUndefined();
      }
    } finally {
      await database[Symbol.asyncDispose]();
    }
  });

  test('the entities name tables and columns that are there', async () => {
    const database = await cloneDatabase();
    try {
      const em = database.orm.em.fork();
      for (const entity of database.orm.getMetadata().getAll().values()) {
        const columns = await em.execute<{ column_name: string; is_nullable: string }[]>(
          'select column_name, is_nullable from information_schema.columns where table_name = ?',
          [entity.tableName],
        );
        const there = new Map(columns.map((column) => [column.column_name, column.is_nullable === 'YES']));
        const expected = entity.props.flatMap(({ fieldNames, nullable }) =>
          fieldNames.map((name) => [name, nullable ?? false] as const),
        );
        expect({ table: entity.tableName, columns: expected.filter(([name]) => !there.has(name)) }).toEqual({
          table: entity.tableName,
          columns: [],
        });
        expect({
          table: entity.tableName,
          nullable: expected.filter(([name, nullable]) => there.get(name) !== nullable),
        }).toEqual({
          table: entity.tableName,
          nullable: [],
        });
      }
    } finally {
      await database[Symbol.asyncDispose]();
    }
  });
});
