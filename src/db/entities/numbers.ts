import { defineEntity, type Opt, p } from '@mikro-orm/core';
import type { AnnulmentReason } from '../../domain/annulment.ts';
import type { CfeType, Environment } from '../../domain/cfeTypes.ts';

const CaeSchema = defineEntity({
  name: 'Cae',
  properties: {
    id: p.uuid().primary(),
    rut: p.text(),
    environment: p.text().$type<Environment>(),
    type: p.text().$type<CfeType>(),
    serie: p.text(),
    numberStart: p.integer(),
    numberEnd: p.integer(),
    /** Last number given; before the first, the number before the start. */
    lastNumber: p.integer(),
    /** Numbers up to the last that were not given here; beyond the first upload only SQL moves it. */
    elsewhere: p.string().columnType('int4multirange').lazy(),
    /** How many it has still to give, by the database: those beyond the last that are not withheld. */
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

const AnnulmentSchema = defineEntity({
  name: 'Annulment',
  properties: {
    id: p.bigint().primary().autoincrement(),
    rut: p.text(),
    environment: p.text().$type<Environment>(),
    type: p.text().$type<CfeType>(),
    serie: p.text(),
    fromNumber: p.integer(),
    toNumber: p.integer(),
    reason: p.text().$type<AnnulmentReason>(),
    /** What was typed by whoever annulled them by hand. */
    typedReason: p.text().strictNullable(),
    /** The day in Montevideo in whose daily report it stands. */
    reportDate: p.date(),
    annulledAt: p.datetime(),
    caeId: p.uuid(),
    /** The CFE that had the number; null where no CFE was given it. */
    cfeUuid: p.uuid().strictNullable(),
  },
});

/** Numbers of a CAE that are no valid CFE and never will be; never changed, never removed. */
export class Annulment extends AnnulmentSchema.class {}
AnnulmentSchema.setClass(Annulment);
