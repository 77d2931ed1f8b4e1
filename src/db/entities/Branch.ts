import { defineEntity, p } from '@mikro-orm/core';

const BranchSchema = defineEntity({
  name: 'Branch',
  properties: {
    rut: p.text().primary(),
    /** CdgDGISucur: the code the authority gave to the branch. */
    branch: p.integer().primary(),
    streetName: p.text(),
    localityName: p.text(),
    departmentName: p.text(),
    phoneNumber: p.text().strictNullable(),
    /** When the first CFE was issued from it; null before that. */
    usedAt: p.datetime().strictNullable(),
    /** Since when nothing is issued from it any more; null while it is open. */
    closedAt: p.datetime().strictNullable(),
    createdAt: p.datetime(),
  },
});

/** A branch of an enterprise beside the first, which stands in the enterprise's own row (docs/contract.md#branches). */
export class Branch extends BranchSchema.class {}
BranchSchema.setClass(Branch);
