import { expect, test } from '@jest/globals';
import { loadedAtOnce } from '../../../src/lists/list.ts';

test('a list that is loaded at once has pages too: after a row come those behind it', async () => {
  const rows = Array.from({ length: 120 }, (_, i) => ({ id: i }));
  const { read, key } = loadedAtOnce<{ id: number }, object>(
    ({ id }) => String(id),
    async () => rows,
  );
  const after = rows[49] && key.of(rows[49]);

  expect(await read({} as never, {}, { after: after ?? null, limit: 51 })).toEqual(rows.slice(50, 101));
});
