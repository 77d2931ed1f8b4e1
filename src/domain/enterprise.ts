import * as z from 'zod';
import { base64File } from './base64.ts';
import { date, MontevideoDateTime } from './dates.ts';
import { integer } from './decimal.ts';
import { Email } from './email.ts';
import { addIssue } from './issue.ts';
import { LENGTHS } from './lengths.ts';
import { readLogo } from './logo.ts';
import { Rut } from './rut.ts';
import { text } from './text.ts';

/** Longest plan and frequency names, logins and passwords; ours, because none of them reaches a CFE. */
const NAME_LENGTH = 100;
const PASSWORD_LENGTH = 1000;
/** The day on which the regime began. */
const FIRST_DAY = '2011-10-01';

/** CdgDGISucur: the code that the authority gave to a branch. */
const BranchCode = integer({ minimum: 0, maximum: 9999 });

/** Body of POST /enterprises (docs/contract.md#enterprise); lengths as the CFE format allows for the issuer. */
export const CreateEnterprise = z.strictObject({
  rut: Rut,
  legal_name: text(LENGTHS.legalName),
  department_name: text(LENGTHS.department),
  locality_name: text(LENGTHS.city),
  street_name: text(LENGTHS.address),
  branch: BranchCode,
  is_new_enterprise: z.boolean().optional(),
  trade_name: text(LENGTHS.tradeName).optional(),
  phone_number: text(LENGTHS.phone).optional(),
});
export type CreateEnterprise = z.infer<typeof CreateEnterprise>;

/** CorreoEmisor holds less than an e-mail address may have. */
const IssuerEmail = Email.and(text(LENGTHS.email));

/** A web address as it is printed: a host, with or without scheme and path. */
const Website = text(LENGTHS.website).superRefine((value, ctx) => {
  const named = URL.canParse(value) ? value : `https://${value}`;
  const url = URL.canParse(named) ? new URL(named) : undefined;
  if (url && ['http:', 'https:'].includes(url.protocol) && url.hostname.includes('.') && !/\s/.test(value))
    return;
  addIssue(ctx, 'website.malformed', 'must be a web address, such as www.example.com.uy.');
});

/** The resolution by which an enterprise was made an issuer: its number and year. */
const Resolution = text(LENGTHS.resolution)
  .superRefine((value, ctx) => {
    if (/^[0-9]{1,6}\/[0-9]{4}$/.test(value)) return;
    addIssue(ctx, 'resolution.malformed', 'must be the number and year of the resolution, such as 798/2012.');
  })
  .meta({ pattern: '^[0-9]{1,6}/[0-9]{4}$' });

const Logo = base64File().transform((value, ctx) => {
  const bytes = Buffer.from(value, 'base64');
  const read = readLogo(bytes);
  if (read.ok) return { bytes, mediaType: read.mediaType };
  addIssue(ctx, 'logo.unusable', read.words);
  return z.NEVER;
});

/**
 * Body of PUT /enterprises/{rut} (docs/contract.md#enterprise): at least one field. What is left out stays; null
 * removes what may be missing. The scheduled date comes out as an instant, the logo as its bytes.
 */
export const UpdateEnterprise = z
  .strictObject({
    scheduled_ready_date: MontevideoDateTime.optional(),
    plan_id: text(NAME_LENGTH).optional(),
    frequency_id: text(NAME_LENGTH).optional(),
    legal_name: text(LENGTHS.legalName).optional(),
    trade_name: text(LENGTHS.tradeName).nullable().optional(),
    phone_number: text(LENGTHS.phone).nullable().optional(),
    email: IssuerEmail.nullable().optional(),
    website: Website.nullable().optional(),
    department_name: text(LENGTHS.department).optional(),
    locality_name: text(LENGTHS.city).optional(),
    street_name: text(LENGTHS.address).optional(),
    branch: BranchCode.optional(),
    issuer_since: date({ earliest: FIRST_DAY, latest: '2050-12-31' }).nullable().optional(),
    resolution: Resolution.nullable().optional(),
    logo_b64: Logo.nullable().optional(),
  })
  .superRefine((update, ctx) => {
    if (Object.keys(update).length > 0) return;
    addIssue(ctx, 'update.empty', 'at least one field must be given.');
  });
export type UpdateEnterprise = z.infer<typeof UpdateEnterprise>;

/** Body of POST …/branches. */
export const CreateBranch = z.strictObject({
  branch: BranchCode,
  street_name: text(LENGTHS.address),
  locality_name: text(LENGTHS.city),
  department_name: text(LENGTHS.department),
  phone_number: text(LENGTHS.phone).optional(),
});
export type CreateBranch = z.infer<typeof CreateBranch>;

/** Body of PUT …/branches/{branch}: the branch as it is from now on. */
export const UpdateBranch = CreateBranch.omit({ branch: true });
export type UpdateBranch = z.infer<typeof UpdateBranch>;

/** Body of POST …/certificate. */
export const UploadCertificate = z.strictObject({ cert_b64: base64File(), password: text(PASSWORD_LENGTH) });
export type UploadCertificate = z.infer<typeof UploadCertificate>;

/** Body of POST …/caes. */
export const UploadCae = z.strictObject({
  cae_b64: base64File(),
  cae_start_number: integer({ minimum: 1, maximum: 9_999_999 }),
});
export type UploadCae = z.infer<typeof UploadCae>;

/** Body of POST …/validate-efactura (docs/contract.md#credentials): empty, or the login at the authority. */
export const ValidateCredentials = z
  .strictObject({ username: text(NAME_LENGTH).optional(), password: text(PASSWORD_LENGTH).optional() })
  .superRefine((login, ctx) => {
    if ((login.username === undefined) === (login.password === undefined)) return;
    const missing = login.username === undefined ? 'username' : 'password';
    addIssue(ctx, 'credentials.incomplete', 'is required; username and password must be given together.', [
      missing,
    ]);
  });
export type ValidateCredentials = z.infer<typeof ValidateCredentials>;
