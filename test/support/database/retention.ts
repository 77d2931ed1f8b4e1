import type { Retention } from '../../../src/domain/operations/retention.ts';

/** How long rows are kept where nothing else is configured. */
export const RETENTION: Retention = { outboxDays: 7, eventsDays: 90, attemptsDays: 30, keysDays: 30 };
