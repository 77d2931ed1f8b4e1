import { expect, test } from '@jest/globals';
import { listOrder, newestFirst } from '../../../src/db/page.ts';

test('the rows after a key are those with a larger field, equal in the fields before it', () => {
  const order = listOrder({ name: 'text', document: 'text', id: 'uuid' });

  expect(order.orderBy).toEqual({ name: 'asc', document: 'asc', id: 'asc' });
  expect(order.after(['Ana', '1', 'x'])).toEqual({
    $or: [
      { name: { $gt: 'Ana' } },
      { name: 'Ana', document: { $gt: '1' } },
      { name: 'Ana', document: '1', id: { $gt: 'x' } },
    ],
  });
  expect(order.after(null)).toEqual({});
});

test('newest first, the key of a row is its time and id, and the rows after it are older', () => {
  const order = newestFirst('uuid');
  const key = order.of({ createdAt: new Date('2026-11-20T15:00:00.250Z'), id: 'x' });

  expect(key).toEqual(['2026-11-20T15:00:00.250Z', 'x']);
  expect(order.after(key)).toEqual({
    $or: [{ createdAt: { $lt: key[0] } }, { createdAt: key[0], id: { $lt: 'x' } }],
  });
});
