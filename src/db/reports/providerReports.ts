/** The operator's monthly reports, and the times in which companies are customers of the service. */
import type { EntityManager } from '@mikro-orm/postgresql';
import type { ServiceSpan } from '../../domain/reports/providerReport.ts';
import { ProviderReportFile, ServiceTime } from '../entities/reports.ts';

/** Records that an enterprise is a customer from `date` on; without effect while it is a customer. */
export async function beginService(em: EntityManager, rut: string, date: string): Promise<void> {
  if (await em.findOne(ServiceTime, { rut, endedOn: null })) return;
  em.create(ServiceTime, { rut, beganOn: date, endedOn: null });
  await em.flush();
}

/** Returns the last time in which an enterprise was a customer, or null. */
export const findLastService = (em: EntityManager, rut: string): Promise<ServiceTime | null> =>
  em.findOne(ServiceTime, { rut }, { orderBy: { beganOn: 'desc' } });

/** Returns the times that began or ended from `from` to `to`, by RUT and day. */
export const findServiceChanges = (
  em: EntityManager,
  { from, to, without }: { from: string; to: string; without: string },
): Promise<ServiceSpan[]> =>
  em.find(
    ServiceTime,
    {
      rut: { $ne: without },
      $or: ['beganOn', 'endedOn'].map((day) => ({ [day]: { $gte: from, $lte: to } })),
    },
    { orderBy: { rut: 'asc', beganOn: 'asc' } },
  );

/** Returns the last report of a month, or null. */
export const findLastProviderReport = (
  em: EntityManager,
  period: string,
): Promise<ProviderReportFile | null> =>
  em.findOne(ProviderReportFile, { period }, { orderBy: { sequence: 'desc' } });

/** Returns the first received report of months before `period`, or null. */
export const findEarlierReceived = (em: EntityManager, period: string): Promise<ProviderReportFile | null> =>
  em.findOne(ProviderReportFile, { period: { $lt: period }, receivedAt: { $ne: null } });

/** Returns the first report of months before `period` that was built and not received, or null. */
export const findEarlierOpen = (em: EntityManager, period: string): Promise<ProviderReportFile | null> =>
  em.findOne(
    ProviderReportFile,
    { period: { $lt: period }, receivedAt: null },
    { orderBy: { period: 'asc' } },
  );

/** Lists the reports, the latest month first. */
export const listProviderReports = (em: EntityManager): Promise<ProviderReportFile[]> =>
  em.find(ProviderReportFile, {}, { orderBy: { period: 'desc', sequence: 'desc' } });
