import * as z from 'zod';
import { creationShape, updateShape } from '../requests/fields.ts';
import { describeField, ENTERPRISE_WORDS } from '../requests/fieldWords.ts';
import { base64File } from '../values/base64.ts';
import { StartDateTime } from '../values/dates.ts';
import { integerSchema } from '../values/decimal.ts';
import { addIssue } from '../values/issue.ts';
import { Rut } from '../values/rut.ts';
import { textSchema } from '../values/text.ts';
import { BRANCH_FIELDS, ENTERPRISE_FIELDS, FIRST_FIELDS } from './enterpriseFields.ts';
import { readLogo } from './logo.ts';

/** Our own limits for plan names, frequency names, logins and passwords, which no CFE contains. */
const NAME_LENGTH = 100;
const PASSWORD_LENGTH = 1000;
const W = ENTERPRISE_WORDS;

/** Body of POST /enterprises (docs/contract.md#enterprise); lengths as the CFE format allows for the issuer. */
export const CreateEnterprise = z
  .strictObject({
    rut: Rut.meta(describeField(W.rut)),
    ...creationShape(FIRST_FIELDS),
    is_new_enterprise: z.boolean().meta(describeField(W.is_new_enterprise)).optional(),
  })
  .meta({ description: 'A company that will issue, with its first branch.' });
export type CreateEnterprise = z.infer<typeof CreateEnterprise>;

const Logo = base64File().transform((value, ctx) => {
  const bytes = Buffer.from(value, 'base64');
  const read = readLogo(bytes);
  if (read.ok) return { bytes, mediaType: read.mediaType };
  addIssue(ctx, 'logo.unusable', read.words);
  return z.NEVER;
});

/**
 * Body of PUT /enterprises/{rut} (docs/contract.md#enterprise): at least one field. Omitted fields stay unchanged, null
 * removes an optional field. The scheduled date becomes an instant, the logo its bytes.
 */
export const UpdateEnterprise = z
  .strictObject({
    scheduled_ready_date: StartDateTime.nullable()
      .meta({
        description:
          'Moment from which the enterprise may issue: date and time in America/Montevideo without a time zone, or with one, as in responses; from 2011-10-01 to 2050-12-31. A moment in the past counts as reached. null only while it is not set.',
      })
      .optional(),
    plan_id: textSchema(NAME_LENGTH).meta(describeField(W.plan_id)).optional(),
    frequency_id: textSchema(NAME_LENGTH).meta(describeField(W.frequency_id)).optional(),
    ...updateShape(ENTERPRISE_FIELDS),
    logo_b64: Logo.nullable()
      .meta({
        description:
          'Logo for printed receipts: a PNG or JPEG in base64 (RFC 4648 §4), at most 64 KiB and 1,000 pixels a side; null removes it.',
        examples: [
          'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGP4DwABAQEAsTj2FAAAAABJRU5ErkJggg==',
        ],
      })
      .optional(),
  })
  .superRefine((update, ctx) => {
    if (Object.keys(update).length > 0) return;
    addIssue(ctx, 'update.empty', 'at least one field must be given.');
  })
  .meta({
    description: 'The changes. Omitted fields stay unchanged; null removes an optional field.',
    minProperties: 1,
  });
export type UpdateEnterprise = z.infer<typeof UpdateEnterprise>;

/** Body of POST …/branches. */
export const CreateBranch = z
  .strictObject({
    ...creationShape({ branch: ENTERPRISE_FIELDS.branch, ...BRANCH_FIELDS }),
  })
  .meta({ description: 'A branch that the tax authority knows.' });
export type CreateBranch = z.infer<typeof CreateBranch>;

/** Body of PUT …/branches/{branch}: the new state of the branch. */
export const UpdateBranch = CreateBranch.omit({ branch: true }).meta({
  description: 'The new state of the branch.',
});
export type UpdateBranch = z.infer<typeof UpdateBranch>;

/** Body of POST …/certificate. */
export const UploadCertificate = z
  .strictObject({
    cert_b64: base64File().meta({
      description:
        'The .p12 file (PKCS #12) in base64 (RFC 4648 §4): one certificate with its RSA key of at least 2048 bits, for the RUC of the enterprise.',
      examples: ['MIIK3wIBAzCCCpUGCSqGSIb3DQEHAaCC'],
    }),
    password: textSchema(PASSWORD_LENGTH).meta({
      description: 'Password of the file; it is not stored.',
      examples: ['demo-certificate'],
    }),
  })
  .meta({ description: 'The certificate that signs from now on.' });
export type UploadCertificate = z.infer<typeof UploadCertificate>;

/** Body of POST …/caes. */
export const UploadCae = z
  .strictObject({
    cae_b64: base64File().meta({
      description:
        'The XML file of the CAE from the authority, in base64 (RFC 4648 §4); at most 64 KiB. Source: Formato CAE v05.',
      examples: ['PD94bWwgdmVyc2lvbj0iMS4wIj8+PENBRSB4'],
    }),
    cae_start_number: integerSchema({ minimum: 1, maximum: 9_999_999 }).meta({
      description: 'First number to use, within the range of the CAE; the service never uses lower ones.',
      examples: [1],
    }),
  })
  .meta({ description: 'A range of numbers.' });
export type UploadCae = z.infer<typeof UploadCae>;

/** Body of POST …/validate-efactura (docs/contract.md#credentials): empty, or the login at the authority. */
export const ValidateCredentials = z
  .strictObject({
    username: textSchema(NAME_LENGTH)
      .meta({ description: 'User name of the e-invoicing login at the authority.', examples: ['demo'] })
      .optional(),
    password: textSchema(PASSWORD_LENGTH)
      .meta({ description: 'Its password; stored encrypted.', examples: ['demo-portal-login'] })
      .optional(),
  })
  .superRefine((login, ctx) => {
    if ((login.username === undefined) === (login.password === undefined)) return;
    const missing = login.username === undefined ? 'username' : 'password';
    addIssue(ctx, 'credentials.incomplete', 'is required; username and password must be given together.', [
      missing,
    ]);
  })
  .meta({
    description: 'The login to check, both fields or neither; `{}` checks the stored one.',
    dependentRequired: { username: ['password'], password: ['username'] },
  });
export type ValidateCredentials = z.infer<typeof ValidateCredentials>;
