import * as z from 'zod';
import { base64File } from './base64.ts';
import { MontevideoDateTime } from './dates.ts';
import { integer } from './decimal.ts';
import { addIssue } from './issue.ts';
import { LENGTHS } from './lengths.ts';
import { Rut } from './rut.ts';
import { text } from './text.ts';

/** Longest plan and frequency names, logins and passwords; ours, because none of them reaches a CFE. */
const NAME_LENGTH = 100;
const PASSWORD_LENGTH = 1000;

/** Body of POST /enterprises (docs/contract.md#enterprise); lengths as the CFE format allows for the issuer. */
export const CreateEnterprise = z.strictObject({
  rut: Rut,
  legal_name: text(LENGTHS.legalName),
  department_name: text(LENGTHS.department),
  locality_name: text(LENGTHS.city),
  street_name: text(LENGTHS.address),
  branch: integer({ minimum: 0, maximum: 9999 }),
  is_new_enterprise: z.boolean().optional(),
  trade_name: text(LENGTHS.tradeName).optional(),
  phone_number: text(LENGTHS.phone).optional(),
});
export type CreateEnterprise = z.infer<typeof CreateEnterprise>;

/**
 * Body of PUT /enterprises/{rut} (docs/contract.md#enterprise): at least one field; the date comes out as an instant.
 */
export const UpdateEnterprise = z
  .strictObject({
    scheduled_ready_date: MontevideoDateTime.optional(),
    plan_id: text(NAME_LENGTH).optional(),
    frequency_id: text(NAME_LENGTH).optional(),
  })
  .superRefine((update, ctx) => {
    if (Object.keys(update).length > 0) return;
    addIssue(
      ctx,
      'update.empty',
      'at least one of scheduled_ready_date, plan_id, frequency_id must be given.',
    );
  });
export type UpdateEnterprise = z.infer<typeof UpdateEnterprise>;

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
