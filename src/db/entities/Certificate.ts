import { defineEntity, p } from '@mikro-orm/core';
import type { Environment } from '../../domain/cfeTypes.ts';

const CertificateSchema = defineEntity({
  name: 'Certificate',
  properties: {
    id: p.uuid().primary(),
    rut: p.text(),
    environment: p.text().$type<Environment>(),
    subject: p.text(),
    notBefore: p.datetime(),
    notAfter: p.datetime(),
    /** The certificate itself, DER. */
    certificate: p.blob(),
    /** PKCS#8 private key, sealed (crypto/sealed.ts); null once it was replaced and no CFE needs it (db/purge.ts). */
    sealedKey: p.text().strictNullable(),
    createdAt: p.datetime(),
    replacedAt: p.datetime().strictNullable(),
  },
});

/** A digital certificate of an enterprise; the one not yet replaced signs. */
export class Certificate extends CertificateSchema.class {}
CertificateSchema.setClass(Certificate);
