import { defineEntity, p } from '@mikro-orm/core';
import type { SignalName, WorkflowInput, WorkflowMessage, WorkflowName } from '../../temporal.ts';

const OutboxMessageSchema = defineEntity({
  name: 'OutboxMessage',
  tableName: 'outbox',
  properties: {
    id: p.bigint().primary().autoincrement(),
    /** A key of WORKFLOWS in temporal.ts. */
    workflow: p.text().$type<WorkflowName>(),
    workflowId: p.text(),
    /** The one argument of the workflow: ids and enums only. */
    input: p.json().$type<WorkflowInput>(),
    /** Signal that is sent along with the start (signal-with-start), if any. */
    signal: p.text().$type<SignalName>().strictNullable(),
    searchAttributes: p.json().$type<NonNullable<WorkflowMessage['searchAttributes']>>(),
    createdAt: p.datetime(),
    dispatchedAt: p.datetime().strictNullable(),
    attempts: p.integer(),
    /** A message that Temporal itself refused waits until then before it is tried again. */
    notBefore: p.datetime(),
  },
});

/** A workflow start or signal that follows from a database change, stored in the transaction of that change. */
export class OutboxMessage extends OutboxMessageSchema.class {}
OutboxMessageSchema.setClass(OutboxMessage);
