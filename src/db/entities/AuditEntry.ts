import { defineEntity, p } from '@mikro-orm/core';
import type { Actor } from '../../domain/audit.ts';
import type { SupportOutcome } from '../../domain/supportAction.ts';

const AuditEntrySchema = defineEntity({
  name: 'AuditEntry',
  tableName: 'audit',
  properties: {
    id: p.bigint().primary().autoincrement(),
    at: p.datetime(),
    /** `account:<id>`, `cli:<user>`, `support:<name>`, or `service`. */
    actor: p.text().$type<Actor>(),
    action: p.text(),
    /** The thing that was changed, by its id. */
    subject: p.text(),
    /** Of an act over HTTP: the API key, and the address that it came from. */
    keyId: p.uuid().strictNullable(),
    address: p.text().strictNullable(),
    accountId: p.uuid().strictNullable(),
    rut: p.text().strictNullable(),
    reason: p.text().strictNullable(),
    /** Of an act of support: what came of it. */
    outcome: p.text().$type<SupportOutcome>().strictNullable(),
    /** Of an act of support: the request that asked for it, once. */
    requestId: p.text().strictNullable(),
  },
});

/** Who did what to which thing when; never changed, never removed. */
export class AuditEntry extends AuditEntrySchema.class {}
AuditEntrySchema.setClass(AuditEntry);
