import { expect, test } from '@jest/globals';
import {
  availableReportActs,
  REPORT_STATUSES,
  type ReportAct,
  type ReportStatus,
} from '../../../../src/domain/reports/reportStatus.ts';

const TODAY = '2026-03-11';

/** What is offered of a day until today, by hand from docs/daily-report.md. */
const OFFERED: Readonly<Record<ReportStatus, readonly ReportAct[]>> = {
  OPEN: ['send'],
  SENT: [],
  RECEIVED: ['send'],
  CONSISTENT: ['send'],
  DIFFERS: ['send'],
  SUPERSEDED: [],
  REFUSED: [],
};

test.each(REPORT_STATUSES)('of a report that goes on by itself, %s', (status) => {
  const of = (date: string) => availableReportActs({ status, isStuck: false, date }, TODAY);
  expect([of('2026-03-10'), of(TODAY)]).toEqual([OFFERED[status], OFFERED[status]]);
  expect(of('2026-03-12')).toEqual([]);
});

test.each(REPORT_STATUSES)('one that waits for a person is retried or settled, %s', (status) => {
  expect(availableReportActs({ status, isStuck: true, date: '2026-03-10' }, TODAY)).toEqual([
    'retry',
    'settle',
  ]);
});
