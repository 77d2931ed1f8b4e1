import { defineEntity, type Opt, p } from '@mikro-orm/core';
import type { AnnulmentReason } from '../../domain/numbers/annulment.ts';
import type { CaeStartFinding } from '../../domain/numbers/caeStart.ts';
import type { CfeType, Environment } from '../../domain/receipts/cfeTypes.ts';

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
    /** Last used number; before the first, the number before the start. */
    lastNumber: p.integer(),
    /** Numbers up to the last one that were not used here; after the first upload only SQL changes it. */
    elsewhere: p.string().columnType('int4multirange').lazy(),
    /** Unused numbers, computed by the database: those after the last one that are not withheld. */
    numbersLeft: p.integer().$type<Opt<number>>().generated('always'),
    authorizationNumber: p.text(),
    issueDate: p.date(),
    expirationDate: p.date(),
    /** CAEEspecial and, of kind 1, CausalCAEEsp. */
    specialKind: p.integer().strictNullable(),
    specialCause: p.text().strictNullable(),
    /** The first number to use here, if earlier numbers were used elsewhere; the authority is asked about it. */
    startNumber: p.integer().nullable(),
    /** Whether the authority is still to be asked, for the first time or again. */
    startOpen: p.boolean().default(false),
    /** What the authority's answer found; null until it has answered. */
    startFindings: p.array().$type<CaeStartFinding[]>().nullable(),
    /** The file as uploaded; null for an invented CAE of the sandbox. */
    xml: p.text().strictNullable(),
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
    /** The text typed for an annulment by hand. */
    typedReason: p.text().strictNullable(),
    /** The day, in Montevideo, of the daily report that contains it. */
    reportDate: p.date(),
    annulledAt: p.datetime(),
    caeId: p.uuid(),
    /** The CFE with the number; null if no CFE used it. */
    cfeUuid: p.uuid().strictNullable(),
  },
});

/** Numbers of a CAE that will never belong to a valid CFE; never changed, never removed. */
export class Annulment extends AnnulmentSchema.class {}
AnnulmentSchema.setClass(Annulment);
