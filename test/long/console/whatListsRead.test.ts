import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { openOrm } from '../../../src/db/orm.ts';
import { startConsole } from '../../support/console/console.ts';
import { askers, farBehind, nextIn, pathsOf } from '../../support/console/consoleAskers.ts';
import { fillConsole } from '../../support/console/consoleData.ts';
import { aWorld, type World } from '../../support/console/consoleWorld.ts';
import { cloneDatabase, type TestDatabase } from '../../support/database/database.ts';
import { costsOf, statementsOf } from '../../support/database/statementCosts.ts';

const CFES = 20_000;
/**
 * No question of a page reads more rows than this, however it is asked: a page shows 50, and gathers them from all that somebody sees.
 * Whoever walks a table reads more: CFEs and sobres are 20,000, acts 30,000, deliveries and events 40,000.
 */
const MOST_ROWS = 12_000;

let db: TestDatabase;
let world: World;
beforeAll(async () => {
  db = await cloneDatabase();
  const owner = await openOrm({ databaseUrl: db.ownerUrl, pool: 1 });
  await fillConsole(owner, CFES);
  await owner.close(true);
  world = await aWorld(await startConsole(db.orm));
  await db.asOwner('analyze');
});
afterAll(async () => {
  await world.site[Symbol.asyncDispose]();
  await db[Symbol.asyncDispose]();
});

test('no page reads more than what it shows comes from', async () => {
  const wrong: string[] = [];
  let asked = 0;
  let questions = 0;
  for (const asker of await askers(world, CFES)) {
    const look = async (path: string): Promise<string> => {
      let text = '';
      const statements = await statementsOf(world.site.orm, async () => {
        const shown = await asker.browser.get(path);
        if (![200, 303, 403].includes(shown.status)) wrong.push(`${asker.title} ${path}: ${shown.status}`);
        text = shown.text;
      });
      asked += 1;
      const costs = await costsOf(db.orm, statements);
      questions += costs.length;
      for (const { sql, rows } of costs)
        if (rows > MOST_ROWS) wrong.push(`${asker.title} ${path}: ${rows} rows by ${sql}`);
      return text;
    };
    for (const path of await pathsOf(asker, world)) {
      const next = nextIn(await look(path));
      if (next) await look(next);
      const far = next && farBehind(next, CFES);
      if (far) await look(far);
    }
  }
  expect(wrong).toEqual([]);
  expect(asked).toBeGreaterThan(500);
  expect(questions).toBeGreaterThan(asked);
});
