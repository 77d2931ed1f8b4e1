import * as z from 'zod';
import { uploadCertificate } from '../../commands/uploadCertificate.ts';
import { currentCertificate } from '../../db/certificates.ts';
import { findEnterprise } from '../../db/enterprises.ts';
import { ENVIRONMENTS } from '../../domain/cfeTypes.ts';
import { UploadCertificate } from '../../domain/enterprise.ts';
import { certificateObject } from '../../domain/enterpriseObject.ts';
import { required } from '../../domain/faults.ts';
import { Rut } from '../../domain/rut.ts';
import { Refusal } from '../../errors.ts';
import { defineVerb, type Group } from '../verb.ts';

const ARGS = { RUT: 'RUT of the enterprise' };
const ENVIRONMENT = {
  flags: '--environment <environment>',
  about: 'default: production',
  choices: ENVIRONMENTS,
} as const;

const show = defineVerb({
  name: 'show',
  summary: 'Show the certificate that signs for an enterprise',
  reads: true,
  args: ARGS,
  options: [ENVIRONMENT],
  examples: ['219999830019'],
  input: z.strictObject({ rut: Rut, environment: z.enum(ENVIRONMENTS).optional() }),
  async run({ orm, clock }, { rut, environment = 'production' }) {
    const em = orm.em.fork();
    if (!(await findEnterprise(em, rut)))
      throw new Refusal('NOT_FOUND', `No enterprise with RUT ${rut} is registered.`);
    return certificateObject(await currentCertificate(em, rut, environment), clock());
  },
});

const upload = defineVerb({
  name: 'upload',
  summary: 'Take a .p12: it signs from now on, the certificate before stays for the record',
  args: { ...ARGS, FILE: 'the .p12' },
  options: [
    {
      flags: '--password-file <file>',
      about: 'a file whose first line is the password of the .p12; - for standard input',
      required: true,
    },
    ENVIRONMENT,
  ],
  examples: ['219999830019 empresa.p12 --password-file password.txt'],
  input: z.strictObject({
    rut: Rut,
    file: z.string(),
    passwordFile: z.string(),
    environment: z.enum(ENVIRONMENTS).optional(),
  }),
  async run(deps, { rut, file, passwordFile, environment = 'production' }) {
    const body = required(UploadCertificate, {
      cert_b64: deps.readBytes(file).toString('base64'),
      password: deps.readFile(passwordFile).split(/\r?\n/, 1)[0] ?? '',
    });
    const certificate = await uploadCertificate(
      { ...deps, sealer: deps.sealer(), certificateAuthorities: deps.certificateAuthorities() },
      { rut, environment, file: Buffer.from(body.cert_b64, 'base64'), password: body.password },
    );
    return certificateObject(certificate, deps.clock());
  },
});

/** `cfe certificate`: what enterprises sign with. */
export const certificate: Group = {
  name: 'certificate',
  summary: 'The certificates that enterprises sign with',
  verbs: [show, upload],
};
