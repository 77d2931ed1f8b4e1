import { defineEntity, p } from '@mikro-orm/core';
import type { Environment } from '../../domain/cfeTypes.ts';
import type { RejectionReason } from '../../domain/rejection.ts';

/** PREPARED: stored, never sent; SENDING: the intent to send is stored, the outcome not; RECEIVED: AS; REFUSED: BS. */
export type SobreState = 'PREPARED' | 'SENDING' | 'RECEIVED' | 'REFUSED';

const SobreSchema = defineEntity({
  name: 'Sobre',
  properties: {
    id: p.uuid().primary(),
    cfeId: p.uuid(),
    rut: p.text(),
    environment: p.text().$type<Environment>(),
    /** Our number of the shipment, unique per enterprise and environment. */
    idemisor: p.bigint(),
    state: p.text().$type<SobreState>(),
    /** The bytes that are sent, at every attempt the same. */
    xml: p.text().lazy(),
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

/** The envelope in which a CFE goes to the authority. */
export class Sobre extends SobreSchema.class {}
SobreSchema.setClass(Sobre);
