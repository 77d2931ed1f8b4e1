import {
  readBreaker,
  receptionEndpoint,
  takeSlot,
  takeSlotUnlessCfesWait,
} from '../db/authority/authorityEndpoints.ts';
import type { Orm } from '../db/orm.ts';
import type { Environment } from '../domain/receipts/cfeTypes.ts';
import { NEAR_MILLISECONDS, spacingOf } from './gate.ts';

/** A report takes no slot further ahead: a CFE issued now would have to wait for it. */
const AHEAD_MILLISECONDS = 250;

/** The rate limiter of daily reports, which shares the slots of CFEs. */
export interface ReportSlots {
  /**
   * Takes a slot and returns the wait until then, or that CFEs go first. An urgent report waits behind no CFE
   * and takes the next slot like one. While the breaker is open no slot is needed: the breaker decides who
   * probes.
   */
  take(
    environment: Environment,
    how: { isUrgent: boolean },
  ): Promise<{ waitMilliseconds: number } | 'cfesFirst'>;
}

/** `sendsPerSecond`: that of the gate for CFEs; `clock`: a test's, in place of PostgreSQL's. */
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
      const request = {
        environment,
        spacingMilliseconds: spacingOf(sendsPerSecond),
        nearMilliseconds,
        clock,
      };
      const taken = await (isUrgent ? takeSlot(em, request) : takeSlotUnlessCfesWait(em, request));
      if (taken) return { waitMilliseconds: Math.max(0, taken.ahead) };
      const { isOpen } = await readBreaker(em, receptionEndpoint(environment), clock);
      return isOpen ? { waitMilliseconds: 0 } : 'cfesFirst';
    },
  };
}
