import { lockEnterprise } from '../db/enterprises.ts';
import { recordingChanges } from '../db/events.ts';
import type { Orm } from '../db/orm.ts';
import { readyFacts } from '../db/readyFacts.ts';
import { enterpriseCanBecome, lackingFacts, READY_FACTS } from '../domain/enterpriseStatus.ts';

/** What an enterprise lacks to become READY, in words, and how long until its date comes. */
export interface Readiness {
  ready: boolean;
  lacking: string[];
  /** Milliseconds until the scheduled date; null when it has come, or there is none. */
  dueInMilliseconds: number | null;
}

/** Activities about an enterprise's own state. */
export const createEnterpriseActivities = ({ orm, clock }: { orm: Orm; clock: () => Date }) => ({
  /** Makes the enterprise READY if everything is there; says what lacks otherwise. Repeating it changes nothing. */
  makeReadyWhenComplete(rut: string): Promise<Readiness> {
    return orm.em.fork().transactional(async (em) => {
      const enterprise = await lockEnterprise(em, rut);
      if (!enterprise) throw new Error(`enterprise ${rut} is not there`);
      const now = clock();
      const date = enterprise.scheduledReadyDate;
      const dueInMilliseconds = date !== null && date > now ? date.getTime() - now.getTime() : null;

      if (enterprise.status === 'READY') return { ready: true, lacking: [], dueInMilliseconds: null };
      if (enterprise.status === 'SUSPENDED') {
        return { ready: false, lacking: ['an operator to resume it'], dueInMilliseconds: null };
      }
      const lacking = lackingFacts(await readyFacts(em, enterprise, now));
      if (lacking.length > 0 || !enterpriseCanBecome(enterprise.status, 'READY')) {
        return { ready: false, lacking: lacking.map((fact) => READY_FACTS[fact]), dueInMilliseconds };
      }
      await recordingChanges(em, enterprise, now, () => {
        enterprise.status = 'READY';
      });
      return { ready: true, lacking: [], dueInMilliseconds: null };
    });
  },
});

export type EnterpriseActivities = ReturnType<typeof createEnterpriseActivities>;
