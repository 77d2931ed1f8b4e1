import {
  readBreaker,
  receptionEndpoint,
  takeSlot,
  takeSlotUnlessCfesWait,
} from '../db/authority/authorityEndpoints.ts';
import type { Orm } from '../db/orm.ts';
import type { Environment } from '../domain/receipts/cfeTypes.ts';
import { NEAR_MILLISECONDS, spacingOf } from './gate.ts';

/** Farthest slot that a report takes: new CFEs must not wait for reports. */
const AHEAD_MILLISECONDS = 250;

/** The rate limiter of daily reports, which shares the slots of CFEs. */
export interface ReportSlots {
  /**
   * Takes a slot and returns the wait until then; `cfesFirst` if CFEs wait for slots. An urgent report does not let CFEs
   * go first. While the breaker is open no slot is needed: the breaker itself limits the probes.
   */
  take(
    environment: Environment,
    options: { isUrgent: boolean },
  ): Promise<{ waitMilliseconds: number } | 'cfesFirst'>;
}

/** `sendsPerSecond`: the rate of the gate for CFEs; `clock`: a test's, in place of PostgreSQL's. */
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
      const request = {
        environment,
        spacingMilliseconds: spacingOf(sendsPerSecond),
        nearMilliseconds: isUrgent ? NEAR_MILLISECONDS : AHEAD_MILLISECONDS,
        clock,
      };
      const slot = await (isUrgent ? takeSlot(em, request) : takeSlotUnlessCfesWait(em, request));
      if (slot) return { waitMilliseconds: Math.max(0, slot.ahead) };
      const { isOpen } = await readBreaker(em, receptionEndpoint(environment), clock);
      return isOpen ? { waitMilliseconds: 0 } : 'cfesFirst';
    },
  };
}
