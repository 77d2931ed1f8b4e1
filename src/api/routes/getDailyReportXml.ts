import * as z from 'zod';
import { submissionsOf } from '../../db/dailyReports.ts';
import type { ReportSubmission } from '../../db/entities/ReportSubmission.ts';
import { Rut } from '../../domain/rut.ts';
import { Refusal } from '../../errors.ts';
import { defineRoute } from '../route.ts';
import { ReportDate, requireReport } from './getDailyReport.ts';

/** GET …/daily-reports/{date}/xml: the last submission of a day that was sent, byte for byte. */
export const getDailyReportXml = defineRoute({
  name: 'getDailyReportXml',
  method: 'GET',
  path: '/enterprises/{rut}/daily-reports/{date}/xml',
  summary: 'Read the signed XML of a daily report',
  about: 'The signed report that was sent last, byte for byte.',
  auth: 'token',
  sandbox: false,
  role: 'VIEWER',
  params: { rut: Rut, date: ReportDate },
  query: null,
  body: null,
  success: {
    status: 200,
    description: 'The signed report that was sent last, byte for byte',
    schema: z.custom<ReportSubmission>(),
  },
  errors: ['NOT_FOUND', 'NOT_SENT_YET'],
  async handle({ params, enterprise }, { orm }) {
    const em = orm.em.fork();
    const report = await requireReport(em, enterprise.rut, params.date);
    const submissions = await submissionsOf(em, report, { populate: ['xml'] });
    const sent = submissions.findLast(({ status }) => status !== 'PREPARED');
    if (!sent) throw new Refusal('NOT_SENT_YET', `The report of ${params.date} was not sent yet.`);
    return sent;
  },
  file: {
    mediaType: 'application/xml',
    // The name that the authority gives such files (docs/authority/reports.md).
    make: async (_, { rut, date, sequence, xml }) => ({
      bytes: Buffer.from(xml ?? '', 'utf8'),
      name: `Rep_${rut}_${date.replaceAll('-', '')}_${String(sequence).padStart(2, '0')}.xml`,
    }),
  },
});
