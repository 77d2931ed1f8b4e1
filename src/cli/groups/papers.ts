import * as z from 'zod';
import { addAuthorityCertificates } from '../../commands/addAuthorityCertificates.ts';
import { uploadCae } from '../../commands/uploadCae.ts';
import { uploadCertificate } from '../../commands/uploadCertificate.ts';
import { listAuthorityCertificates } from '../../db/authorityCertificates.ts';
import { findCurrentCertificate } from '../../db/certificates.ts';
import type { AuthorityCertificate } from '../../db/entities/authority.ts';
import { findCaes } from '../../db/numbers.ts';
import { countRecentNumbers } from '../../db/warnings.ts';
import { caeStatus } from '../../domain/cae.ts';
import { UploadCertificate } from '../../domain/enterprise.ts';
import { caeObject, certificateObject } from '../../domain/enterpriseObject.ts';
import { parseOrRefuse } from '../../domain/faults.ts';
import { montevideoDate } from '../../domain/montevideo.ts';
import { LAST_NUMBER } from '../../domain/parseSearch.ts';
import { daysLeft } from '../../domain/warnings.ts';
import { anyEnvironment, count, InEnvironment, OfRut, oneEnterprise, optional } from '../inputs.ts';
import { act, group, query } from '../verb.ts';

export const certificate = group('certificate', 'The certificates that enterprises sign with', {
  'show RUT': query({
    summary: 'Show the certificate that signs for an enterprise',
    takes: { rut: OfRut, environment: InEnvironment },
    examples: ['219999830019'],
    async run({ orm, clock }, { rut, environment }) {
      const em = orm.em.fork();
      await oneEnterprise(em, rut);
      return certificateObject(await findCurrentCertificate(em, rut, environment), clock());
    },
  }),
  'upload RUT FILE': act({
    summary: 'Take a .p12: it signs from now on, the certificate before stays for the record',
    takes: {
      rut: OfRut,
      file: z.string().describe('the .p12'),
      passwordFile: z
        .string()
        .describe('a file whose first line is the password of the .p12; - for standard input'),
      environment: InEnvironment,
    },
    examples: ['219999830019 empresa.p12 --password-file password.txt'],
    async run(deps, { rut, file, passwordFile, environment }) {
      const body = parseOrRefuse(UploadCertificate, {
        cert_b64: deps.readBytes(file).toString('base64'),
        password: deps.readFile(passwordFile).split(/\r?\n/, 1)[0] ?? '',
      });
      const uploaded = await uploadCertificate(
        { ...deps, sealer: deps.sealer(), certificateAuthorities: deps.certificateAuthorities() },
        { rut, environment, file: Buffer.from(body.cert_b64, 'base64'), password: body.password },
      );
      return certificateObject(uploaded, deps.clock());
    },
  }),
});

export const cae = group('cae', 'The ranges of numbers that the authority granted to enterprises', {
  'list RUT': query({
    summary: 'List the CAEs of an enterprise, with the numbers and days that are left',
    takes: {
      rut: OfRut,
      environment: InEnvironment,
      status: optional(z.enum(['OK', 'EXPIRED']), 'only with this status'),
    },
    columns:
      'cfe_type series number_start number_end last_number numbers_left days_left expiration_date status',
    examples: ['219999830019', '219999830019 --status OK --json'],
    async run({ orm, clock }, { rut, environment, status }) {
      const [em, now] = [orm.em.fork(), clock()];
      await oneEnterprise(em, rut);
      const used =
        environment === 'production' ? (await countRecentNumbers(em, [rut], now)).get(rut) : undefined;
      return (await findCaes(em, rut, environment))
        .filter((one) => status === undefined || caeStatus(one, montevideoDate(now)) === status)
        .map((one) => ({
          ...caeObject(one, now),
          days_left: daysLeft(one.numbersLeft, used?.get(one.type) ?? 0),
        }));
    },
  }),
  'upload RUT FILE': act({
    summary: 'Take a CAE from the file that the authority signed',
    takes: {
      rut: OfRut,
      file: z.string().describe('the XML of the CAE'),
      start: count(1, LAST_NUMBER).describe(
        'the first number to use: that of the CAE, unless some were used elsewhere',
      ),
      environment: InEnvironment,
    },
    examples: ['219999830019 cae-101.xml --start 1'],
    async run(deps, { rut, file, start: startNumber, environment }) {
      const input = { rut, file: deps.readBytes(file), startNumber, environment };
      return caeObject(await uploadCae(deps, input), deps.clock());
    },
  }),
});

const authorityRow = (one: AuthorityCertificate) => ({
  fingerprint: one.fingerprint,
  subject: one.subject,
  environment: one.environment,
  not_before: one.notBefore.toISOString(),
  not_after: one.notAfter.toISOString(),
  added_at: one.addedAt.toISOString(),
});

/** Whose signatures count as the tax authority's. */
export const authorityCertificate = group('authority-certificate', 'Certificates of the tax authority', {
  list: query({
    summary: 'List the certificates whose signatures count as the tax authority’s',
    run: async ({ orm }) => (await listAuthorityCertificates(orm.em.fork())).map(authorityRow),
  }),
  'add FILE': act({
    summary: 'Trust these certificates for signatures on CAEs and on answers',
    takes: {
      file: z.string().describe('one or more certificates in PEM'),
      environment: anyEnvironment('where they count; without it the RUT of each certificate tells'),
    },
    examples: ['dgi.pem', 'third-signer.pem --environment sandbox'],
    async run(deps, { file, environment }) {
      const added = await addAuthorityCertificates(deps, { pem: deps.readFile(file), environment });
      return added.map(authorityRow);
    },
  }),
});
