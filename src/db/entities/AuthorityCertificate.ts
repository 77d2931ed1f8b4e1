import { defineEntity, p } from '@mikro-orm/core';

const AuthorityCertificateSchema = defineEntity({
  name: 'AuthorityCertificate',
  properties: {
    /** SHA-256 of the DER, hex. */
    fingerprint: p.text().primary(),
    certificate: p.blob(),
    subject: p.text(),
    notBefore: p.datetime(),
    notAfter: p.datetime(),
    addedAt: p.datetime(),
  },
});

/** A certificate whose signature on CAE files and answers we take for the authority's. */
export class AuthorityCertificate extends AuthorityCertificateSchema.class {}
AuthorityCertificateSchema.setClass(AuthorityCertificate);
