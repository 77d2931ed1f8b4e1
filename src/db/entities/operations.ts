import { defineEntity, p } from '@mikro-orm/core';
import type { Actor } from '../../domain/operations/audit.ts';
import type { RunFilter, RunKind, RunOutcome, RunState } from '../../domain/operations/run.ts';
import type { SupportOutcome } from '../../domain/operations/supportAction.ts';
import type { RefusalReason } from '../../domain/operations/supportRefusal.ts';
import type { SignalName, WorkflowInput, WorkflowMessage, WorkflowName } from '../../temporal.ts';

const OutboxMessageSchema = defineEntity({
  name: 'OutboxMessage',
  tableName: 'outbox',
  properties: {
    id: p.bigint().primary().autoincrement(),
    /** The lane of its workflow, which decides the order of messages. */
    lane: p.smallint(),
    /** A key of WORKFLOWS in temporal.ts. */
    workflow: p.text().$type<WorkflowName>(),
    workflowId: p.text(),
    /** The only argument of the workflow: ids and enums. */
    input: p.json().$type<WorkflowInput>(),
    /** Signal to send with the start (signal-with-start), if any. */
    signal: p.text().$type<SignalName>().strictNullable(),
    searchAttributes: p.json().$type<NonNullable<WorkflowMessage['searchAttributes']>>(),
    createdAt: p.datetime(),
    dispatchedAt: p.datetime().strictNullable(),
    attempts: p.integer(),
    /** When a message that Temporal rejected is retried. */
    notBefore: p.datetime(),
  },
});

/** A workflow start or signal that follows from a database change, stored in the transaction of that change. */
export class OutboxMessage extends OutboxMessageSchema.class {}
OutboxMessageSchema.setClass(OutboxMessage);

const AuditEntrySchema = defineEntity({
  name: 'AuditEntry',
  tableName: 'audit',
  properties: {
    id: p.bigint().primary().autoincrement(),
    at: p.datetime(),
    /** `account:<id>`, `cli:<user>`, `console:<e-mail>`, `unverified` or `service`. */
    actor: p.text().$type<Actor>(),
    action: p.text(),
    /** Id of the changed row. */
    subject: p.text(),
    /** The API key of an act over HTTP, and its network address; for the command line `user@host`. */
    keyId: p.uuid().strictNullable(),
    address: p.text().strictNullable(),
    accountId: p.uuid().strictNullable(),
    rut: p.text().strictNullable(),
    reason: p.text().strictNullable(),
    /** For acts of support: the outcome; null in the requester's row, which is written before. */
    outcome: p.text().$type<SupportOutcome>().strictNullable(),
    /** For acts of support: the id of the request, the same in the requester's row and in the outcome's. */
    requestId: p.text().strictNullable(),
  },
});

/** Who did what, to which row, and when; never changed, never removed. */
export class AuditEntry extends AuditEntrySchema.class {}
AuditEntrySchema.setClass(AuditEntry);

const RunSchema = defineEntity({
  name: 'Run',
  properties: {
    /** Contains kind and start date: `retry-2026-11-22-3f9a1c`. */
    id: p.text().primary(),
    kind: p.text().$type<RunKind>(),
    /** The account of a customer's run; null for operators' runs. */
    accountId: p.uuid().strictNullable(),
    actor: p.text().$type<Actor>(),
    /** The network address of the person who started it, if over HTTP. */
    address: p.text().strictNullable(),
    reason: p.text(),
    /** The filter of its start; the ticked `ids` are not stored here. */
    filter: p.json().$type<RunFilter & { ticked?: number }>(),
    state: p.text().$type<RunState>(),
    total: p.integer(),
    done: p.integer(),
    unneeded: p.integer(),
    refused: p.integer(),
    createdAt: p.datetime(),
    /** When an item last had an outcome. */
    movedAt: p.datetime(),
    stopAskedAt: p.datetime().strictNullable(),
    stopAskedBy: p.text().$type<Actor>().strictNullable(),
    endedAt: p.datetime().strictNullable(),
  },
});

/** A bulk run: one decision for many items, each a row of `run_item`. */
export class Run extends RunSchema.class {}
RunSchema.setClass(Run);

const RunItemSchema = defineEntity({
  name: 'RunItem',
  properties: {
    runId: p.text().primary(),
    place: p.integer().primary(),
    /** The UUID of the CFE or of the delivery. */
    subject: p.uuid(),
    /** Why it matched: the stuck reason of the CFE, or the event of the delivery. */
    was: p.text(),
    /** Attempts without an answer. */
    attempts: p.integer(),
    outcome: p.text().$type<RunOutcome>().strictNullable(),
    /** For people. */
    message: p.text().strictNullable(),
    /** For refused items: the reason, as a code. */
    why: p.json().$type<RefusalReason>().strictNullable(),
    at: p.datetime().strictNullable(),
  },
});

/** One item of a run, fixed when the run started, and its outcome. */
export class RunItem extends RunItemSchema.class {}
RunItemSchema.setClass(RunItem);

const UiValueSchema = defineEntity({
  name: 'UiValue',
  properties: {
    /** The year for which the value counts; it is the UI of 31 December of the year before. */
    year: p.integer().primary(),
    value: p.decimal(),
    source: p.text(),
    estimate: p.boolean(),
  },
});

/** Pesos of one indexed unit (UI) for the 5,000 UI limit of e-Tickets, by year. */
export class UiValue extends UiValueSchema.class {}
UiValueSchema.setClass(UiValue);

const ExchangeRateSchema = defineEntity({
  name: 'ExchangeRate',
  properties: {
    currency: p.text().primary(),
    /** The day of the closing rate, `YYYY-MM-DD`; Monday to Friday. */
    date: p.date().primary(),
    /** Pesos per unit of the currency, decimal text with all its decimals. */
    rate: p.decimal(),
    /** Who quoted it, for verification. */
    source: p.text(),
  },
});

/** The value of one unit of a currency at the closing of a day (docs/authority/reports.md#exchange-rates). */
export class ExchangeRate extends ExchangeRateSchema.class {}
ExchangeRateSchema.setClass(ExchangeRate);
