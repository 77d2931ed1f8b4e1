import { defineEntity, p } from '@mikro-orm/core';
import type { Endpoint } from '../../domain/breaker.ts';

const AuthorityEndpointSchema = defineEntity({
  name: 'AuthorityEndpoint',
  properties: {
    name: p.text().$type<Endpoint>().primary(),
    /** Calls without an answer since the last answer. */
    failures: p.integer(),
    /** Since when nothing goes there but a probe now and then; null while all goes. */
    openSince: p.datetime().strictNullable(),
    /** When it last was found to answer again; null while that has not happened. */
    closedAt: p.datetime().strictNullable(),
    nextProbeAt: p.datetime().strictNullable(),
    /** Probes since it opened. */
    probes: p.integer(),
    /** The CFE whose send is the probe. */
    proberId: p.uuid().strictNullable(),
    /** No slot for a send is free before. */
    nextFreeAt: p.datetime(),
  },
});

/** A service of the authority as all our processes know it: whether it answers, and when the next send may go. */
export class AuthorityEndpoint extends AuthorityEndpointSchema.class {}
AuthorityEndpointSchema.setClass(AuthorityEndpoint);
