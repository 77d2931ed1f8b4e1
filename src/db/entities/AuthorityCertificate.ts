import { defineEntity, p } from '@mikro-orm/core';
import type { Environment } from '../../domain/cfeTypes.ts';

const AuthorityCertificateSchema = defineEntity({
  name: 'AuthorityCertificate',
  properties: {
    /** SHA-256 of the DER, hex. */
    fingerprint: p.text().primary(),
    certificate: p.blob(),
    subject: p.text(),
    /** The environment it was added for; null: the RUT of its subject tells (db/authorityCertificates.ts). */
    environment: p.text().$type<Environment>().strictNullable(),
    notBefore: p.datetime(),
    notAfter: p.datetime(),
    addedAt: p.datetime(),
  },
});

/** A certificate whose signature on CAE files and answers we take for the authority's. */
export class AuthorityCertificate extends AuthorityCertificateSchema.class {}
AuthorityCertificateSchema.setClass(AuthorityCertificate);
