import { defineEntity, p } from '@mikro-orm/core';
import type { Actor } from '../../domain/audit.ts';
import type { RunFilter, RunKind, RunState } from '../../domain/run.ts';

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
