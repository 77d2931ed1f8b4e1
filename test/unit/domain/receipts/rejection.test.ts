import { expect, test } from '@jest/globals';
import {
  ABANDONED_TO_OTHERS,
  ORIGINAL_REJECTED,
  rejectionCodes,
} from '../../../../src/domain/receipts/rejection.ts';

const reason = (code: string) => ({ code, message: 'Rechazado', detail: null });

test.each([
  ['none', null, []],
  ['each once, in their order', [reason('E05'), reason('E03'), reason('E05')], ['E05', 'E03']],
  [
    'ours too',
    [...ABANDONED_TO_OTHERS, ...ORIGINAL_REJECTED],
    ['abandoned', 'duplicate.not_ours', 'reference.rejected'],
  ],
  ['not what is no code', [reason('El RUT de Ana'), reason('E01'), reason('')], ['E01']],
])('the codes of reasons: %s', (_, reasons, codes) => {
  expect(rejectionCodes(reasons)).toEqual(codes);
});
