import { defineEntity, p } from '@mikro-orm/core';

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
