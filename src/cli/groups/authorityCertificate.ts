import * as z from 'zod';
import { addAuthorityCertificates } from '../../commands/addAuthorityCertificates.ts';
import { environmentOf, listAuthorityCertificates } from '../../db/authorityCertificates.ts';
import type { AuthorityCertificate } from '../../db/entities/AuthorityCertificate.ts';
import { ENVIRONMENTS } from '../../domain/cfeTypes.ts';
import { type CliDeps, defineVerb, type Group } from '../verb.ts';

const row = (certificate: AuthorityCertificate, { authorityRuts }: CliDeps) => ({
  fingerprint: certificate.fingerprint,
  subject: certificate.subject,
  environment: environmentOf(certificate, authorityRuts) ?? null,
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
  async run(deps) {
    return (await listAuthorityCertificates(deps.orm.em.fork())).map((one) => row(one, deps));
  },
});

const add = defineVerb({
  name: 'add',
  summary: 'Trust these certificates for signatures on CAEs and on answers',
  args: { FILE: 'one or more certificates in PEM' },
  options: [
    {
      flags: '--environment <environment>',
      about: 'where they count; without it the RUT of each certificate tells',
      choices: ENVIRONMENTS,
    },
  ],
  examples: ['dgi.pem', 'third-signer.pem --environment sandbox'],
  input: z.strictObject({ file: z.string(), environment: z.enum(ENVIRONMENTS).optional() }),
  async run(deps, { file, environment }) {
    const added = await addAuthorityCertificates(deps, { pem: deps.readFile(file), environment });
    return added.map((one) => row(one, deps));
  },
});

/** `cfe authority-certificate`: whose signatures count as the tax authority's. */
export const authorityCertificate: Group = {
  name: 'authority-certificate',
  summary: 'Certificates of the tax authority',
  verbs: [list, add],
};
