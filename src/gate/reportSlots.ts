import { glanceAtBreaker, receptionOf, takeSlot, takeSlotUnlessCfesWait } from '../db/authorityEndpoints.ts';
import type { Orm } from '../db/orm.ts';
import type { Environment } from '../domain/cfeTypes.ts';
import { NEAR_MILLISECONDS, spacingOf } from './gate.ts';

/** A report takes no slot that lies further ahead: a CFE that comes now would have to wait for it. */
const AHEAD_MILLISECONDS = 250;

/** The way of daily reports through the gate, whose slots are those of CFEs. */
export interface ReportSlots {
  /**
   * How long to wait for the slot that was taken; or CFEs go first. An urgent report waits behind no CFE, and takes the
   * next slot like one. While the endpoint counts as away no slot is needed: its breaker says who may try it.
   */
  take(
    environment: Environment,
    how: { isUrgent: boolean },
  ): Promise<{ waitMilliseconds: number } | 'cfesFirst'>;
}

/** `sendsPerSecond`: as the gate of CFEs has it; `clock`: a test's, in place of PostgreSQL's. */
export function createReportSlots({
  orm,
  sendsPerSecond,
  clock,
}: {
  orm: Orm;
  sendsPerSecond: number;
  clock?: () => Date;
}): ReportSlots {
  return {
    async take(environment, { isUrgent }) {
      const em = orm.em.fork();
      const nearMilliseconds = isUrgent ? NEAR_MILLISECONDS : AHEAD_MILLISECONDS;
      const wish = { environment, spacingMilliseconds: spacingOf(sendsPerSecond), nearMilliseconds, clock };
      const taken = await (isUrgent ? takeSlot(em, wish) : takeSlotUnlessCfesWait(em, wish));
      if (taken) return { waitMilliseconds: Math.max(0, taken.ahead) };
      const { isOpen } = await glanceAtBreaker(em, receptionOf(environment), clock);
      return isOpen ? { waitMilliseconds: 0 } : 'cfesFirst';
    },
  };
}
