import { expect, test } from '@jest/globals';
import { CFE_STATUSES, type CfeStatus } from '../../../../src/domain/receipts/cfeStatus.ts';
import { receiptState } from '../../../../src/domain/receipts/receiptState.ts';
import {
  ABANDONED,
  ABANDONED_TO_OTHERS,
  ORIGINAL_REJECTED,
} from '../../../../src/domain/receipts/rejection.ts';

const BY_THE_AUTHORITY = [{ code: 'E05', message: 'no', detail: null }];

test('a receipt may be handed over once the authority surely has its sobre', () => {
  const states = Object.fromEntries(
    CFE_STATUSES.map((status): [CfeStatus, string] => [
      status,
      receiptState({ status, rejection: status === 'REJECTED' ? BY_THE_AUTHORITY : null }),
    ]),
  );

  expect(states).toEqual({
    PENDING: 'inProcess',
    RECEIVED: 'sent',
    ACCEPTED: 'sent',
    OBSERVED: 'sent',
    REJECTED: 'sent',
  });
});

test.each([
  ['given up', ABANDONED],
  ['given up, its number another system’s', ABANDONED_TO_OTHERS],
  ['fallen with its original', ORIGINAL_REJECTED],
])('one that was rejected without going there never is: %s', (_, rejection) => {
  expect(receiptState({ status: 'REJECTED', rejection })).toBe('neverSent');
});
