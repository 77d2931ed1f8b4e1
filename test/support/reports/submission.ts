import { DailyReport, ReportSubmission } from '../../../src/db/entities/reports.ts';
import type { Orm } from '../../../src/db/orm.ts';
import { type ReportKey, storeOpenReports } from '../../../src/db/reports/dailyReports.ts';
import type { StuckReason } from '../../../src/domain/authority/stuckReason.ts';

let last = 1_000_000_000n;
const nextIdEmisor = (): bigint => {
  last += 1n;
  return last;
};

/** Puts a report into the table that the authority has received, or that is stuck where `stuckReason` is given. */
export async function storeSubmission(
  orm: Orm,
  key: ReportKey,
  { stuckReason = null }: { stuckReason?: StuckReason | null } = {},
): Promise<void> {
  const now = new Date(`${key.date}T23:00:00Z`);
  const status = stuckReason === null ? 'RECEIVED' : 'REFUSED';
  await orm.em.fork().transactional(async (em) => {
    await storeOpenReports(em, [key], now);
    const changes = { status, sequence: 1, startedAt: now, isComplete: true, stuckReason } as const;
    await em.nativeUpdate(DailyReport, { ...key }, changes);
    em.create(ReportSubmission, {
      ...key,
      sequence: 1,
      idEmisor: nextIdEmisor(),
      status,
      xml: '<Reporte/>',
      contentHash: 'hash',
      types: [
        {
          type: 'ETICKET',
          used: 2,
          annulled: 1,
          issued: 1,
          aboveUiLimit: 0,
          usedRanges: [{ serie: 'A', from: 1, to: 2 }],
          annulledRanges: [{ serie: 'A', from: 2, to: 2 }],
          rows: [
            {
              emissionDate: key.date,
              branch: 1,
              exempt: '10.00',
              exported: '0.00',
              perceived: '0.00',
              suspended: '0.00',
              otherNet: '0.00',
              otherVat: '0.00',
              minimumNet: '0.00',
              basicNet: '1000.00',
              minimumVat: '0.00',
              basicVat: '220.00',
              total: '1230.00',
            },
          ],
        },
      ],
      sentAt: now,
      answeredAt: now,
      authorityId: '90001',
      reasons: stuckReason === null ? null : [{ code: 'R04', message: 'Validaciones', detail: 'Sucursal' }],
      createdAt: now,
    });
  });
}
