import { defineEntity, p } from '@mikro-orm/core';
import type { Actor } from '../../domain/audit.ts';
import type { RunFilter, RunKind, RunOutcome, RunState } from '../../domain/run.ts';
import type { SupportOutcome } from '../../domain/supportAction.ts';
import type { Why } from '../../domain/supportRefusal.ts';
import type { SignalName, WorkflowInput, WorkflowMessage, WorkflowName } from '../../temporal.ts';

const OutboxMessageSchema = defineEntity({
  name: 'OutboxMessage',
  tableName: 'outbox',
  properties: {
    id: p.bigint().primary().autoincrement(),
    /** That of its workflow: which messages go first. */
    lane: p.smallint(),
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

const AuditEntrySchema = defineEntity({
  name: 'AuditEntry',
  tableName: 'audit',
  properties: {
    id: p.bigint().primary().autoincrement(),
    at: p.datetime(),
    /** `account:<id>`, `cli:<user>`, `console:<e-mail>`, `unverified` or `service`. */
    actor: p.text().$type<Actor>(),
    action: p.text(),
    /** The thing that was changed, by its id. */
    subject: p.text(),
    /** The API key of an act over HTTP, and the address that it came from; at the command line `user@host`. */
    keyId: p.uuid().strictNullable(),
    address: p.text().strictNullable(),
    accountId: p.uuid().strictNullable(),
    rut: p.text().strictNullable(),
    reason: p.text().strictNullable(),
    /** Of an act of support: what came of it; null in the row of who asked, which is there before. */
    outcome: p.text().$type<SupportOutcome>().strictNullable(),
    /** Of an act of support: the request, the same in the row of who asked and in that of the outcome. */
    requestId: p.text().strictNullable(),
  },
});

/** Who did what to which thing when; never changed, never removed. */
export class AuditEntry extends AuditEntrySchema.class {}
AuditEntrySchema.setClass(AuditEntry);

const RunSchema = defineEntity({
  name: 'Run',
  properties: {
    /** Says what it does and on which day it was started: `retry-2026-11-22-3f9a1c`. */
    id: p.text().primary(),
    kind: p.text().$type<RunKind>(),
    /** Of a customer's run: whose; null of operators'. */
    accountId: p.uuid().strictNullable(),
    actor: p.text().$type<Actor>(),
    /** The network address of whoever started it, where they came over HTTP. */
    address: p.text().strictNullable(),
    reason: p.text(),
    /** What it was started with; `ids` of those that were ticked are not kept here. */
    filter: p.json().$type<RunFilter & { ticked?: number }>(),
    state: p.text().$type<RunState>(),
    total: p.integer(),
    done: p.integer(),
    unneeded: p.integer(),
    refused: p.integer(),
    createdAt: p.datetime(),
    /** When one of its things last came to an outcome. */
    movedAt: p.datetime(),
    stopAskedAt: p.datetime().strictNullable(),
    stopAskedBy: p.text().$type<Actor>().strictNullable(),
    endedAt: p.datetime().strictNullable(),
  },
});

/** One decision of a person for many things; each of them is a row of `run_item`. */
export class Run extends RunSchema.class {}
RunSchema.setClass(Run);

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
    /** Of what was refused: why, as a code. */
    why: p.json().$type<Why>().strictNullable(),
    at: p.datetime().strictNullable(),
  },
});

/** One thing that a run acts on, fixed when the run was started, and what became of it. */
export class RunItem extends RunItemSchema.class {}
RunItemSchema.setClass(RunItem);

const UiValueSchema = defineEntity({
  name: 'UiValue',
  properties: {
    /** The year in which the value counts; it is the UI of 31 December of the year before. */
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
    /** The day whose closing counts, `YYYY-MM-DD`; a Monday to a Friday. */
    date: p.date().primary(),
    /** Pesos of one unit of the currency, decimal text with all its decimals. */
    rate: p.decimal(),
    /** Who quoted it, for whoever checks it. */
    source: p.text(),
  },
});

/** What one unit of a currency is worth at the closing of a day (docs/authority/reports.md#exchange-rates). */
export class ExchangeRate extends ExchangeRateSchema.class {}
ExchangeRateSchema.setClass(ExchangeRate);
