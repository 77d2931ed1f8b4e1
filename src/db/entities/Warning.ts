import { defineEntity, p } from '@mikro-orm/core';

const WarningSchema = defineEntity({
  name: 'Warning',
  properties: {
    rut: p.text().primary(),
    /** What it was about, as domain/warnings.ts names it. */
    about: p.text().primary(),
    givenAt: p.datetime(),
  },
});

/** A warning that an enterprise was given: it is not repeated while its row is there. */
export class Warning extends WarningSchema.class {}
WarningSchema.setClass(Warning);
