import { defineEntity, p } from '@mikro-orm/core';
import type { Environment } from '../../domain/cfeTypes.ts';

const QueueEntrySchema = defineEntity({
  name: 'QueueEntry',
  tableName: 'authority_turn',
  properties: {
    cfeId: p.uuid().primary(),
    environment: p.text().$type<Environment>(),
    rut: p.text(),
    /** When the CFE was taken, and its place in its sequence: the older goes first, whenever it came to wait. */
    since: p.datetime(),
    sequence: p.integer(),
    /** The slot that it was given; null while it waits. */
    releasedFor: p.datetime().strictNullable(),
    /** When it last gave up being the probe of an outage. */
    probedAt: p.datetime().strictNullable(),
  },
});

/** A CFE that waits at the gate, or was let through and is not received yet. */
export class QueueEntry extends QueueEntrySchema.class {}
QueueEntrySchema.setClass(QueueEntry);
