import type { EntityManager } from '@mikro-orm/postgresql';
import * as z from 'zod';
import type { DailyReport, ReportSubmission } from '../../../db/entities/reports.ts';
import {
  countReports,
  findReport,
  listReports,
  listSubmissions,
  listUnsettledCfes,
} from '../../../db/reports/dailyReports.ts';
import { dateSchema } from '../../../domain/values/dates.ts';
import { Rut } from '../../../domain/values/rut.ts';
import { Refusal } from '../../../errors.ts';
import { nameFilters } from '../../../lists/list.ts';
import { REPORTS } from '../../../lists/reports.ts';
import { sha256Of } from '../../../print/fileCache.ts';
import {
  DailyReportListView,
  DailyReportView,
  dailyReportView,
  listedReportView,
} from '../../../views/reports/dailyReport.ts';
import { pageParameters } from '../../paging.ts';
import { defineRoute } from '../../route.ts';

const LARGEST_PAGE = 100;
const USUAL_PAGE = 31;
const FILTERS = nameFilters(REPORTS, { from: 'from', to: 'to', status: 'status' });

/**
 * GET …/daily-reports: lists the days with sent or due reports, the latest first
 * (docs/contract.md#daily-reports).
 */
export const listDailyReportsRoute = defineRoute({
  name: 'listDailyReports',
  method: 'GET',
  path: '/enterprises/{rut}/daily-reports',
  summary: 'List daily reports',
  about:
    'The days with a report to the authority, sent or still due, the latest first. Reports are sent automatically.',
  auth: 'token',
  role: 'VIEWER',
  params: { rut: Rut },
  query: z.strictObject({
    ...pageParameters('reports', { usual: USUAL_PAGE, largest: LARGEST_PAGE }),
    ...FILTERS.schemas,
  }),
  success: {
    status: 200,
    description: 'A page of reports, and the total number',
    schema: DailyReportListView,
  },
  async handle({ enterprise, query }, { orm }) {
    const { skip = 0, limit = USUAL_PAGE, ...given } = query;
    const em = orm.em.fork();
    const filter = { ...given, rut: enterprise.rut, environment: 'production' as const };
    const reports = await listReports(em, filter, { skip, limit });
    return { items: reports.map(listedReportView), total: await countReports(em, filter) };
  },
});

const ReportDate = dateSchema().meta({ description: 'The day of the report, in Montevideo.' });

/** Maximum number of listed CFEs that a report waits for. */
const MOST_WAITING = 100;

/** Returns the production report of a day. Throws NOT_FOUND without one. */
async function requireReport(em: EntityManager, rut: string, date: string): Promise<DailyReport> {
  const report = await findReport(em, { rut, environment: 'production', date });
  if (!report) throw new Refusal('NOT_FOUND', `The enterprise has no report of ${date}.`);
  return report;
}

/** GET …/daily-reports/{date}: one report with its contents, its submissions and the CFEs it waits for. */
export const getDailyReportRoute = defineRoute({
  name: 'getDailyReport',
  method: 'GET',
  path: '/enterprises/{rut}/daily-reports/{date}',
  summary: 'Read one daily report',
  about: 'One report: the sums of each type, the submissions, and the CFEs that it waits for.',
  auth: 'token',
  role: 'VIEWER',
  params: { rut: Rut, date: ReportDate },
  success: { status: 200, description: 'The report', schema: DailyReportView },
  errors: ['NOT_FOUND'],
  async handle({ params, enterprise }, { orm }) {
    const em = orm.em.fork();
    const report = await requireReport(em, enterprise.rut, params.date);
    const submissions = await listSubmissions(em, report, { populate: ['types'] });
    const waiting = report.isComplete ? [] : await listUnsettledCfes(em, report, MOST_WAITING);
    return dailyReportView(report, submissions, waiting);
  },
});

/** GET …/daily-reports/{date}/xml: the last sent submission of a day, byte for byte. */
export const getDailyReportXmlRoute = defineRoute({
  name: 'getDailyReportXml',
  method: 'GET',
  path: '/enterprises/{rut}/daily-reports/{date}/xml',
  summary: 'Read the signed XML of a daily report',
  about: 'The last signed report sent, byte for byte.',
  auth: 'token',
  role: 'VIEWER',
  params: { rut: Rut, date: ReportDate },
  success: {
    status: 200,
    description: 'The last signed report sent, byte for byte',
    schema: z.custom<ReportSubmission>(),
  },
  errors: ['NOT_FOUND', 'NOT_SENT_YET'],
  async handle({ params, enterprise }, { orm }) {
    const em = orm.em.fork();
    const report = await requireReport(em, enterprise.rut, params.date);
    const submissions = await listSubmissions(em, report, { populate: ['xml'] });
    const sent = submissions.findLast(({ status }) => status !== 'PREPARED');
    if (!sent) throw new Refusal('NOT_SENT_YET', `The report of ${params.date} has not been sent yet.`);
    return sent;
  },
  file: {
    mediaType: 'application/xml',
    // The authority's name for such files (docs/authority/reports.md).
    make: async (_, { rut, date, sequence, xml }) => {
      const bytes = Buffer.from(xml ?? '', 'utf8');
      const name = `Rep_${rut}_${date.replaceAll('-', '')}_${String(sequence).padStart(2, '0')}.xml`;
      return { bytes, name, sha256: await sha256Of(bytes) };
    },
  },
});
