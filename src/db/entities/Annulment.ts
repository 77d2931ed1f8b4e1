import { defineEntity, p } from '@mikro-orm/core';
import type { AnnulmentReason } from '../../domain/annulment.ts';
import type { CfeType, Environment } from '../../domain/cfeTypes.ts';

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
    /** The day in Montevideo in whose daily report it stands. */
    reportDate: p.date(),
    annulledAt: p.datetime(),
    caeId: p.uuid(),
    /** The CFE that had the number; null where no CFE was given it. */
    cfeId: p.uuid().strictNullable(),
  },
});

/** Numbers of a CAE that are no valid CFE and never will be; never changed, never removed. */
export class Annulment extends AnnulmentSchema.class {}
AnnulmentSchema.setClass(Annulment);
