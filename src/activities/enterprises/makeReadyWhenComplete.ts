import { lockEnterprise, readReadyFacts } from '../../db/enterprises/enterprises.ts';
import type { Orm } from '../../db/orm.ts';
import { startReporting } from '../../db/reports/dailyReports.ts';
import { beginService } from '../../db/reports/providerReports.ts';
import { recordEnterpriseChanges } from '../../db/webhooks/events.ts';
import {
  enterpriseCanBecome,
  missingReadyFacts,
  READY_FACTS,
} from '../../domain/enterprises/enterpriseStatus.ts';
import { montevideoDate } from '../../domain/values/montevideo.ts';
import type { Activity } from '../activities.ts';

/** Makes the enterprise READY if nothing is missing, otherwise returns the missing facts. Idempotent. */
export function createMakeReadyWhenComplete({
  orm,
  clock,
}: {
  orm: Orm;
  clock: () => Date;
}): Activity<'makeReadyWhenComplete'> {
  return (rut) =>
    orm.em.fork().transactional(async (em) => {
      const enterprise = await lockEnterprise(em, rut);
      if (!enterprise) throw new Error(`enterprise ${rut} does not exist`);
      const now = clock();
      const date = enterprise.scheduledReadyDate;
      const dueInMilliseconds = date !== null && date > now ? date.getTime() - now.getTime() : null;

      if (enterprise.status === 'READY') return { kind: 'ready' };
      if (enterprise.status === 'SUSPENDED') {
        return { kind: 'lacking', lacking: ['an operator to resume it'], dueInMilliseconds: null };
      }
      const missing = missingReadyFacts(await readReadyFacts(em, enterprise, now));
      if (missing.length > 0 || !enterpriseCanBecome(enterprise.status, 'READY')) {
        return { kind: 'lacking', lacking: missing.map((fact) => READY_FACTS[fact]), dueInMilliseconds };
      }
      await recordEnterpriseChanges(em, enterprise, now, () => {
        enterprise.status = 'READY';
      });
      await beginService(em, rut, montevideoDate(now));
      await startReporting(em, rut, montevideoDate(now));
      return { kind: 'ready' };
    });
}
