import { defineEntity, p } from '@mikro-orm/core';
import type { Endpoint } from '../../domain/authority/breaker.ts';
import type { ExchangeState } from '../../domain/mail/directory.ts';
import type { Environment } from '../../domain/receipts/cfeTypes.ts';
import type { RejectionReason } from '../../domain/receipts/rejection.ts';

const AuthorityCertificateSchema = defineEntity({
  name: 'AuthorityCertificate',
  properties: {
    /** SHA-256 of the DER, hex. */
    fingerprint: p.text().primary(),
    certificate: p.blob(),
    subject: p.text(),
    /** The environment in which it is trusted. */
    environment: p.text().$type<Environment>(),
    notBefore: p.datetime(),
    notAfter: p.datetime(),
    addedAt: p.datetime(),
  },
});

/** A certificate of the authority, for verifying signatures of CAE files and answers. */
export class AuthorityCertificate extends AuthorityCertificateSchema.class {}
AuthorityCertificateSchema.setClass(AuthorityCertificate);

const AuthorityEndpointSchema = defineEntity({
  name: 'AuthorityEndpoint',
  properties: {
    name: p.text().$type<Endpoint>().primary(),
    /** Calls without an answer since the last answer. */
    failures: p.integer(),
    /** Since when the endpoint gets only occasional probes; null while it gets all calls. */
    openSince: p.datetime().strictNullable(),
    /** When it last recovered; null if it never has. */
    closedAt: p.datetime().strictNullable(),
    nextProbeAt: p.datetime().strictNullable(),
    /** Probes since the breaker opened. */
    probes: p.integer(),
    /** The sobre that is sent as the probe. */
    proberId: p.uuid().strictNullable(),
    /** The earliest free slot. */
    nextFreeAt: p.datetime(),
  },
});

/** A service of the authority, shared by all processes: whether it answers, and when the next send may go. */
export class AuthorityEndpoint extends AuthorityEndpointSchema.class {}
AuthorityEndpointSchema.setClass(AuthorityEndpoint);

/**
 * OPEN: CFEs assigned, no XML; PREPARED: stored, never sent; SENDING: to be sent, result unknown; RECEIVED: AS;
 * REFUSED: BS; DISSOLVED: never sent again. CFEs of a REFUSED or DISSOLVED sobre continue without it.
 */
export type SobreState = 'OPEN' | 'PREPARED' | 'SENDING' | 'RECEIVED' | 'REFUSED' | 'DISSOLVED';

const SobreSchema = defineEntity({
  name: 'Sobre',
  properties: {
    id: p.uuid().primary(),
    /** Id of the workflow that takes it to its verdicts. */
    workflowId: p.text(),
    rut: p.text(),
    environment: p.text().$type<Environment>(),
    state: p.text().$type<SobreState>(),
    /** When it may be sent; null while it waits for a slot. */
    slot: p.datetime().strictNullable(),
    /** When it last stopped being the probe of an outage. */
    probedAt: p.datetime().strictNullable(),
    /** Our number of the shipment, unique per enterprise and environment; null while OPEN. */
    idemisor: p.bigint().strictNullable(),
    /** The XML, identical at every attempt; null while OPEN. */
    xml: p.text().strictNullable().lazy(),
    sendingAt: p.datetime().strictNullable(),
    receivedAt: p.datetime().strictNullable(),
    /** The authority's ticket for asking about it. */
    idReceptor: p.text().strictNullable(),
    token: p.text().strictNullable(),
    /** Before this time, asking is useless. */
    askFrom: p.datetime().strictNullable(),
    /**
     * Since when the authority answers without settling anything; null while it is unreachable, and after an
     * intervention.
     */
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
    /** Where other issuers send it their CFEs; null if the list has no address. */
    mail: p.text().strictNullable(),
    /** First and last day as an electronic issuer; without a first day the company is not an issuer, or no longer. */
    since: p.date().strictNullable(),
    until: p.date().strictNullable(),
    /** When the authority was last asked about this company alone. */
    askedAt: p.datetime().strictNullable(),
    changedAt: p.datetime(),
  },
});

/** An entry of the authority's list of electronic issuers. */
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
    /** Number of its sobre, from the same sequence as sobres to the authority; null without one. */
    idemisor: p.bigint().strictNullable(),
    /** The XML of the sobre, identical at every attempt. */
    xml: p.text().strictNullable().lazy(),
    createdAt: p.datetime(),
    /** When the sobre was written, or it was known that there is nothing to send. */
    settledAt: p.datetime().strictNullable(),
  },
});

/** A CFE for a receiver that may be an electronic issuer. */
export class Exchange extends ExchangeSchema.class {}
ExchangeSchema.setClass(Exchange);
