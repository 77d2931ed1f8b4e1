import { defineEntity, p } from '@mikro-orm/core';
import type { LogoType } from '../../domain/logo.ts';

const LogoSchema = defineEntity({
  name: 'Logo',
  properties: {
    /** Of the bytes, in hex. */
    sha256: p.text().primary(),
    mediaType: p.text().$type<LogoType>(),
    bytes: p.blob(),
    createdAt: p.datetime(),
  },
});

/** A picture that enterprises print on their receipts; never changed, so that a receipt keeps the one it was numbered with. */
export class Logo extends LogoSchema.class {}
LogoSchema.setClass(Logo);
