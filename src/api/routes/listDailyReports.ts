import * as z from 'zod';
import { countReports, listReports } from '../../db/dailyReports.ts';
import { date } from '../../domain/dates.ts';
import { ReportStatusName } from '../../domain/enums.ts';
import { Rut } from '../../domain/rut.ts';
import { pageOf } from '../paging.ts';
import { defineRoute } from '../route.ts';
import { DailyReportListView, listedReportView } from '../views/dailyReport.ts';

const LARGEST_PAGE = 100;
const USUAL_PAGE = 31;

/** GET …/daily-reports: the days that were reported, or are to be, the latest first (docs/contract.md#daily-reports). */
export const listDailyReports = defineRoute({
  name: 'listDailyReports',
  method: 'GET',
  path: '/enterprises/{rut}/daily-reports',
  summary: 'List daily reports',
  about:
    'The days that were reported to the authority, or are to be, the latest first. Reports are sent automatically.',
  auth: 'token',
  sandbox: false,
  role: 'VIEWER',
  params: { rut: Rut },
  query: z.strictObject({
    ...pageOf('reports', { usual: USUAL_PAGE, largest: LARGEST_PAGE }),
    from: date().optional().meta({ description: 'Earliest day; it counts too.' }),
    to: date().optional().meta({ description: 'Latest day; it counts too.' }),
    status: ReportStatusName.optional().meta({ description: 'Only reports with this status.' }),
  }),
  body: null,
  success: {
    status: 200,
    description: 'A page of reports, and the total number',
    schema: DailyReportListView,
  },
  errors: [],
  async handle({ enterprise, query }, { orm }) {
    const { skip = 0, limit = USUAL_PAGE, ...given } = query;
    const em = orm.em.fork();
    const filter = { ...given, rut: enterprise.rut, environment: 'production' as const };
    const reports = await listReports(em, filter, { skip, limit });
    return { items: reports.map(listedReportView), total: await countReports(em, filter) };
  },
});
