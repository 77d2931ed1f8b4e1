import { defineEntity, p } from '@mikro-orm/core';
import type { Environment } from '../../domain/cfeTypes.ts';
import type { ExchangeState } from '../../domain/directory.ts';

const ExchangeSchema = defineEntity({
  name: 'Exchange',
  properties: {
    cfeId: p.uuid().primary(),
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
