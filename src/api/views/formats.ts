import * as z from 'zod';

/** A day in an answer, `YYYY-MM-DD`. */
export const DateText = z.string().meta({ format: 'date' });

/** A moment in an answer: ISO 8601, UTC. */
export const MomentText = z.string().meta({ format: 'date-time' });
