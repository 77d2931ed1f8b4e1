import { defineEntity, p } from '@mikro-orm/core';

const SavedFilterSchema = defineEntity({
  name: 'SavedFilter',
  properties: {
    id: p.uuid().primary(),
    personId: p.uuid(),
    /** Of the list that it narrows. */
    path: p.text(),
    /** What its person calls it. */
    name: p.text(),
    /** As it stands in an address. */
    query: p.text(),
    createdAt: p.datetime(),
  },
});

/** A filter of a list of the console that somebody keeps for themselves. */
export class SavedFilter extends SavedFilterSchema.class {}
SavedFilterSchema.setClass(SavedFilter);
