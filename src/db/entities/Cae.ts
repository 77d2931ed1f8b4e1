import { defineEntity, p } from '@mikro-orm/core';
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
    lastNumber: p.integer(),
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
