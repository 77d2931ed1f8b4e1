import type { EntityManager } from '@mikro-orm/postgresql';
import { findReport, submissionsOf, waitedFor } from '../../db/dailyReports.ts';
import type { DailyReport } from '../../db/entities/DailyReport.ts';
import { date } from '../../domain/dates.ts';
import { Rut } from '../../domain/rut.ts';
import { Refusal } from '../../errors.ts';
import { defineRoute } from '../route.ts';
import { DailyReportView, dailyReportView } from '../views/dailyReport.ts';

/** A report in a path: by its day. */
export const ReportDate = date().meta({ description: 'The day of the report, in Montevideo.' });

/** CFEs that are shown, of those that a report waits for. */
const MOST_WAITING = 100;

/** The production report of a day; refuses where there is none (NOT_FOUND). */
export async function requireReport(em: EntityManager, rut: string, date: string): Promise<DailyReport> {
  const report = await findReport(em, { rut, environment: 'production', date });
  if (!report) throw new Refusal('NOT_FOUND', `The enterprise has no report of ${date}.`);
  return report;
}

/** GET …/daily-reports/{date}: one report: what it tells, what was sent, what it waits for. */
export const getDailyReport = defineRoute({
  name: 'getDailyReport',
  method: 'GET',
  path: '/enterprises/{rut}/daily-reports/{date}',
  summary: 'Read one daily report',
  about: 'One report: what it tells of each type, what was sent, and what it waits for.',
  auth: 'token',
  sandbox: false,
  role: 'VIEWER',
  params: { rut: Rut, date: ReportDate },
  query: null,
  body: null,
  success: { status: 200, description: 'The report', schema: DailyReportView },
  errors: ['NOT_FOUND'],
  async handle({ params, enterprise }, { orm }) {
    const em = orm.em.fork();
    const report = await requireReport(em, enterprise.rut, params.date);
    const submissions = await submissionsOf(em, report, { populate: ['types'] });
    const waiting = report.isComplete ? [] : await waitedFor(em, report, MOST_WAITING);
    return dailyReportView(report, submissions, waiting);
  },
});
