import * as z from 'zod';
import { addAuthorityCertificates } from '../../commands/addAuthorityCertificates.ts';
import { listAuthorityCertificates } from '../../db/authorityCertificates.ts';
import type { AuthorityCertificate } from '../../db/entities/AuthorityCertificate.ts';
import { defineVerb, type Group } from '../verb.ts';

const row = (certificate: AuthorityCertificate) => ({
  fingerprint: certificate.fingerprint,
  subject: certificate.subject,
  not_before: certificate.notBefore.toISOString(),
  not_after: certificate.notAfter.toISOString(),
  added_at: certificate.addedAt.toISOString(),
});

const list = defineVerb({
  name: 'list',
  summary: 'List the certificates whose signatures count as the tax authority’s',
  reads: true,
  examples: ['', '--json'],
  input: z.strictObject({}),
  async run({ orm }) {
    return (await listAuthorityCertificates(orm.em.fork())).map(row);
  },
});

const add = defineVerb({
  name: 'add',
  summary: 'Trust these certificates for signatures on CAEs and on answers',
  args: { FILE: 'one or more certificates in PEM' },
  examples: ['dgi.pem'],
  input: z.strictObject({ file: z.string() }),
  async run(deps, { file }) {
    return (await addAuthorityCertificates(deps, { pem: deps.readFile(file) })).map(row);
  },
});

/** `cfe authority-certificate`: whose signatures count as the tax authority's. */
export const authorityCertificate: Group = {
  name: 'authority-certificate',
  summary: 'Certificates of the tax authority',
  verbs: [list, add],
};
