import * as z from 'zod';
import { addAuthorityCertificates } from '../../commands/authority/addAuthorityCertificates.ts';
import { uploadCertificate } from '../../commands/enterprises/uploadCertificate.ts';
import { uploadCae } from '../../commands/numbers/uploadCae.ts';
import { listAuthorityCertificates } from '../../db/authority/authorityCertificates.ts';
import { findCurrentCertificate } from '../../db/enterprises/certificates.ts';
import type { AuthorityCertificate } from '../../db/entities/authority.ts';
import { UploadCertificate } from '../../domain/enterprises/enterprise.ts';
import { caeObject, certificateObject } from '../../domain/enterprises/enterpriseObject.ts';
import { LAST_NUMBER } from '../../domain/operations/parseSearch.ts';
import { parseOrRefuse } from '../../domain/requests/faults.ts';
import { CAES } from '../../lists/numbers.ts';
import {
  EnvironmentInput,
  environmentFilter,
  RutInput,
  requireEnterpriseOfRut,
  wholeNumberInput,
} from '../inputs.ts';
import { listVerb } from '../listVerb.ts';
import { actingVerb, readVerb, verbGroup } from '../verb.ts';

export const certificateGroup = verbGroup('certificate', 'The signing certificates of enterprises', {
  'show RUT': readVerb({
    summary: 'Show the signing certificate of an enterprise',
    takes: { rut: RutInput, environment: EnvironmentInput },
    examples: ['219999830019'],
    async run({ orm, clock }, { rut, environment }) {
      const em = orm.em.fork();
      await requireEnterpriseOfRut(em, rut);
      return certificateObject(await findCurrentCertificate(em, rut, environment), clock());
    },
  }),
  'upload RUT FILE': actingVerb({
    summary: 'Upload a .p12: it signs from now on, the previous certificate stays for the record',
    takes: {
      rut: RutInput,
      file: z.string().describe('the .p12'),
      passwordFile: z
        .string()
        .describe('a file whose first line is the password of the .p12; - for standard input'),
      environment: EnvironmentInput,
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

export const caeGroup = verbGroup('cae', 'The ranges of numbers that the authority granted to enterprises', {
  'list RUT': listVerb(CAES, {
    summary: 'List the CAEs of an enterprise, with the numbers and days left, and what to check',
    takes: { rut: RutInput, environment: EnvironmentInput },
    columns:
      'cfe_type series number_start number_end last_number numbers_left days_left expiration_date status warnings',
    examples: ['219999830019', '219999830019 --status OK --json'],
    rows: async (_, caes) => caes,
    async search({ orm, clock }, filter) {
      await requireEnterpriseOfRut(orm.em.fork(), filter.rut);
      return { ...filter, now: clock() };
    },
  }),
  'upload RUT FILE': actingVerb({
    summary: 'Add a CAE from the file signed by the authority',
    takes: {
      rut: RutInput,
      file: z.string().describe('the XML of the CAE'),
      start: wholeNumberInput(1, LAST_NUMBER).describe(
        'the first number to use: the first of the CAE, unless some were used elsewhere',
      ),
      environment: EnvironmentInput,
    },
    examples: ['219999830019 cae-101.xml --start 1'],
    async run(deps, { rut, file, start: startNumber, environment }) {
      const input = { rut, file: deps.readBytes(file), startNumber, environment };
      return caeObject(await uploadCae(deps, input), deps.clock());
    },
  }),
});

const authorityRow = (certificate: AuthorityCertificate) => ({
  fingerprint: certificate.fingerprint,
  subject: certificate.subject,
  environment: certificate.environment,
  not_before: certificate.notBefore.toISOString(),
  not_after: certificate.notAfter.toISOString(),
  added_at: certificate.addedAt.toISOString(),
});

export const authorityCertificateGroup = verbGroup(
  'authority-certificate',
  'Certificates of the tax authority',
  {
    list: readVerb({
      summary: 'List the certificates whose signatures are accepted as the tax authority’s',
      run: async ({ orm }) => (await listAuthorityCertificates(orm.em.fork())).map(authorityRow),
    }),
    'add FILE': actingVerb({
      summary: 'Trust these certificates for signatures on CAEs and on answers',
      takes: {
        file: z.string().describe('one or more certificates in PEM'),
        environment: environmentFilter(
          'their environment; by default it follows from the RUT of each certificate',
        ),
      },
      examples: ['dgi.pem', 'third-signer.pem --environment sandbox'],
      async run(deps, { file, environment }) {
        const added = await addAuthorityCertificates(deps, { pem: deps.readFile(file), environment });
        return added.map(authorityRow);
      },
    }),
  },
);
