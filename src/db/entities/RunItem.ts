import { defineEntity, p } from '@mikro-orm/core';
import type { RunOutcome } from '../../domain/run.ts';
import type { Why } from '../../domain/supportRefusal.ts';

const RunItemSchema = defineEntity({
  name: 'RunItem',
  properties: {
    runId: p.text().primary(),
    place: p.integer().primary(),
    /** The UUID of the CFE or of the delivery. */
    subject: p.uuid(),
    /** What made it match: the reason for which the CFE was stuck, or the delivery's event. */
    was: p.text(),
    /** How often it was begun without an answer. */
    attempts: p.integer(),
    outcome: p.text().$type<RunOutcome>().strictNullable(),
    /** For people. */
    message: p.text().strictNullable(),
    /** Of what was refused: why, as a code; null from before it was noted. */
    why: p.json().$type<Why>().strictNullable(),
    at: p.datetime().strictNullable(),
  },
});

/** One thing that a run acts on, fixed when the run was started, and what became of it. */
export class RunItem extends RunItemSchema.class {}
RunItemSchema.setClass(RunItem);
