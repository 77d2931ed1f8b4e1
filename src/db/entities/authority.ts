import { defineEntity, p } from '@mikro-orm/core';
import type { Endpoint } from '../../domain/breaker.ts';
import type { Environment } from '../../domain/cfeTypes.ts';
import type { ExchangeState } from '../../domain/directory.ts';
import type { RejectionReason } from '../../domain/rejection.ts';

const AuthorityCertificateSchema = defineEntity({
  name: 'AuthorityCertificate',
  properties: {
    /** SHA-256 of the DER, hex. */
    fingerprint: p.text().primary(),
    certificate: p.blob(),
    subject: p.text(),
    /** The environment in which its signatures count. */
    environment: p.text().$type<Environment>(),
    notBefore: p.datetime(),
    notAfter: p.datetime(),
    addedAt: p.datetime(),
  },
});

/** A certificate whose signature on CAE files and answers we take for the authority's. */
export class AuthorityCertificate extends AuthorityCertificateSchema.class {}
AuthorityCertificateSchema.setClass(AuthorityCertificate);

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
    /** The sobre whose send is the probe. */
    proberId: p.uuid().strictNullable(),
    /** No slot for a send is free before. */
    nextFreeAt: p.datetime(),
  },
});

/** A service of the authority as all our processes know it: whether it answers, and when the next send may go. */
export class AuthorityEndpoint extends AuthorityEndpointSchema.class {}
AuthorityEndpointSchema.setClass(AuthorityEndpoint);

/**
 * OPEN: its CFEs are chosen, its bytes not written; PREPARED: stored, never sent; SENDING: the intent to send is stored,
 * the outcome not; RECEIVED: AS; REFUSED: BS; DISSOLVED: never to be sent again. The CFEs of the last two go on without it.
 */
export type SobreState = 'OPEN' | 'PREPARED' | 'SENDING' | 'RECEIVED' | 'REFUSED' | 'DISSOLVED';

const SobreSchema = defineEntity({
  name: 'Sobre',
  properties: {
    id: p.uuid().primary(),
    /** Under which the run that takes it to its verdicts goes. */
    workflowId: p.text(),
    rut: p.text(),
    environment: p.text().$type<Environment>(),
    state: p.text().$type<SobreState>(),
    /** When it may be sent; null while it waits for a slot. */
    slot: p.datetime().strictNullable(),
    /** When it last gave up being the probe of an outage. */
    probedAt: p.datetime().strictNullable(),
    /** Our number of the shipment, unique per enterprise and environment; null while it is OPEN. */
    idemisor: p.bigint().strictNullable(),
    /** The bytes that are sent, at every attempt the same; null while it is OPEN. */
    xml: p.text().strictNullable().lazy(),
    sendingAt: p.datetime().strictNullable(),
    receivedAt: p.datetime().strictNullable(),
    /** What the authority gave for asking about it. */
    idReceptor: p.text().strictNullable(),
    token: p.text().strictNullable(),
    /** Before this moment there is no use in asking. */
    askFrom: p.datetime().strictNullable(),
    /** Since when the authority answers and yet settles nothing; null while it cannot be reached, and after a stop. */
    undecidedSince: p.datetime().strictNullable(),
    refusal: p.json().$type<RejectionReason[]>().strictNullable(),
    createdAt: p.datetime(),
  },
});

/** The envelope in which CFEs of one enterprise go to the authority. */
export class Sobre extends SobreSchema.class {}
SobreSchema.setClass(Sobre);

const DirectoryEntrySchema = defineEntity({
  name: 'DirectoryEntry',
  properties: {
    rut: p.text().primary(),
    name: p.text(),
    /** Where other issuers send it their CFEs; null where the list tells none that is one. */
    mail: p.text().strictNullable(),
    /** First and last day as an electronic issuer; it is none, or none any more, without a first. */
    since: p.date().strictNullable(),
    until: p.date().strictNullable(),
    /** When the authority was last asked about it alone. */
    askedAt: p.datetime().strictNullable(),
    changedAt: p.datetime(),
  },
});

/** What the authority's list of electronic issuers tells of a RUC. */
export class DirectoryEntry extends DirectoryEntrySchema.class {}
DirectoryEntrySchema.setClass(DirectoryEntry);

const ExchangeSchema = defineEntity({
  name: 'Exchange',
  properties: {
    cfeUuid: p.uuid().primary(),
    rut: p.text(),
    environment: p.text().$type<Environment>(),
    receiverRut: p.text(),
    state: p.text().$type<ExchangeState>(),
    /** Of its sobre, from the sequence of the sobres to the authority; null without one. */
    idemisor: p.bigint().strictNullable(),
    /** The bytes of the sobre, at every attempt the same. */
    xml: p.text().strictNullable().lazy(),
    createdAt: p.datetime(),
    /** When it was known whether there is something to send; the sobre was made then. */
    settledAt: p.datetime().strictNullable(),
  },
});

/** A CFE on its way to a receiver who may be an electronic issuer itself. */
export class Exchange extends ExchangeSchema.class {}
ExchangeSchema.setClass(Exchange);
