import { describe, expect, test } from '@jest/globals';
import {
  isTaken,
  REPORT_STATUSES,
  type SubmissionStatus,
  submissionCanBecome,
} from '../../../../src/domain/reports/reportStatus.ts';

const ALL: readonly SubmissionStatus[] = [
  'PREPARED',
  ...REPORT_STATUSES.filter((status) => status !== 'OPEN'),
];

/** docs/daily-report.md#status: where each may go, as the page says it. */
const WAYS: Readonly<Record<SubmissionStatus, string>> = {
  PREPARED: 'SENT',
  SENT: 'RECEIVED CONSISTENT DIFFERS SUPERSEDED REFUSED',
  RECEIVED: 'CONSISTENT DIFFERS SUPERSEDED',
  CONSISTENT: 'DIFFERS SUPERSEDED',
  DIFFERS: 'CONSISTENT SUPERSEDED',
  SUPERSEDED: '',
  REFUSED: '',
};

describe('a submission', () => {
  test.each(ALL)('that is %s goes where the table says, and nowhere else', (from) => {
    expect(ALL.filter((to) => submissionCanBecome(from, to)).join(' ')).toBe(WAYS[from]);
  });

  test('has used its sequence up once the authority took it', () => {
    expect(ALL.filter(isTaken)).toEqual(['RECEIVED', 'CONSISTENT', 'DIFFERS', 'SUPERSEDED']);
  });
});
