import { defineEntity, p } from '@mikro-orm/core';

const CredentialsChecksSchema = defineEntity({
  name: 'CredentialsChecks',
  properties: {
    rut: p.text().primary(),
    accountId: p.uuid().primary(),
    /** The day in Montevideo that `checks` are of. */
    day: p.text(),
    checks: p.integer(),
    /** Failures since the last success. */
    failures: p.integer(),
    failedAt: p.datetime().strictNullable(),
    /** Keyed hash of the login that is being checked for the account; null when none is. */
    pendingHash: p.blob().strictNullable(),
  },
});

/** How often an account had the login of an enterprise checked, and with what success (docs/contract.md#credentials). */
export class CredentialsChecks extends CredentialsChecksSchema.class {}
CredentialsChecksSchema.setClass(CredentialsChecks);
