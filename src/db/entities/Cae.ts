import { defineEntity, type Opt, p } from '@mikro-orm/core';
import type { CfeType, Environment } from '../../domain/cfeTypes.ts';

const CaeSchema = defineEntity({
  name: 'Cae',
  properties: {
    id: p.uuid().primary(),
    rut: p.text(),
    environment: p.text().$type<Environment>(),
    type: p.text().$type<CfeType>(),
    serie: p.text().fieldName('series'),
    numberStart: p.integer(),
    numberEnd: p.integer(),
    /** Last number given; before the first, the number before the start. */
    lastNumber: p.integer(),
    /** How many it has still to give, by the database: those beyond the last that are not withheld (migration 0033). */
    numbersLeft: p.integer().$type<Opt<number>>().generated('always'),
    authorizationNumber: p.text(),
    issueDate: p.date(),
    expirationDate: p.date(),
    /** CAEEspecial and its CausalCAEEsp: only kind 1 is taken. */
    specialKind: p.integer().strictNullable(),
    specialCause: p.text().strictNullable(),
    /** The file as uploaded. */
    xml: p.text(),
    createdAt: p.datetime(),
  },
});

/** A range of numbers that the authority granted to an enterprise for one type of CFE. */
export class Cae extends CaeSchema.class {}
CaeSchema.setClass(Cae);
