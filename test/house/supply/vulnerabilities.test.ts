import { expect, test } from '@jest/globals';
import { judgeAudit } from '../../../tools/supply/vulnerabilities.ts';

const advisory = (id: string, severity: string) => ({
  title: 'Reads what it must not',
  url: `https://github.com/advisories/${id}`,
  severity,
});
/** As npm 11 prints it: `koa` has trouble of its own, `@koa/router` has it from `koa`. */
const report = (...via: object[]): string =>
  JSON.stringify({
    auditReportVersion: 2,
    vulnerabilities: { koa: { name: 'koa', via }, '@koa/router': { name: '@koa/router', via: ['koa'] } },
    metadata: {},
  });

test('a high one fails, until an exception names it with a reason', () => {
  const printed = report(advisory('GHSA-a', 'high'), advisory('GHSA-b', 'moderate'));

  expect(judgeAudit(printed, {})).toEqual({
    checked: true,
    failed: true,
    lines: ['high in koa: Reads what it must not (GHSA-a)', '1 high or critical without a reason'],
  });
  expect(judgeAudit(printed, { 'GHSA-a': 'we do not use that part' })).toMatchObject({ failed: false });
});

test('an exception for what is gone fails: it would hide the next one', () => {
  expect(judgeAudit(report(), { 'GHSA-a': 'old' })).toMatchObject({ checked: true, failed: true });
});

test.each(['', '{"statusCode":405,"error":{"summary":""}}', '<html>'])(
  'no report, as where nothing can be asked: %j',
  (printed) => {
    expect(judgeAudit(printed, {})).toEqual({
      checked: false,
      failed: false,
      lines: ['NOT CHECKED: no database of them could be asked here'],
    });
  },
);
