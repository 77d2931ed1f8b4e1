import * as z from 'zod';
import { ENTERPRISE_FIELDS } from '../../domain/enterprises/enterpriseFields.ts';
import { enterpriseObject, type FullEnterprise } from '../../domain/enterprises/enterpriseObject.ts';
import { ROLES, type Role } from '../../domain/people/roles.ts';
import {
  EfacturaStatusName,
  EnterpriseStatusName,
  LoginStatusName,
  namedEnum,
  PermissionName,
} from '../../domain/requests/enums.ts';
import { describeField, ENTERPRISE_WORDS } from '../../domain/requests/fieldWords.ts';
import { fieldsShape } from '../fields.ts';
import { MomentText, textField } from '../formats.ts';
import { CaeView } from '../numbers/cae.ts';
import { CertificateView } from './certificate.ts';

const W = ENTERPRISE_WORDS;

const RoleName = namedEnum('Role', 'The rights of a caller at an enterprise.', ROLES, {
  VIEWER: 'Reads.',
  MEMBER: 'Reads, issues, uploads CAEs and manages customers.',
  OWNER: 'Everything: also changes the enterprise and uploads its certificate.',
});

const PlanView = z
  .object({
    plan_id: z.string().meta(describeField(W.plan_id)),
    frequency_id: z.string().meta(describeField(W.frequency_id)),
  })
  .meta({ id: 'PlanMetadata', description: 'Plan of an enterprise.' });

const WarningView = z
  .object({
    code: textField(
      'Kind of warning: `enterprise.no_numbers`, no CAE of a type is valid and has numbers left, so the type cannot be issued; `enterprise.no_issuer_since`, receipts lack the day of joining the regime or the resolution; `enterprise.no_exemption_norm`, receipts of an exempt taxpayer lack the norm; `enterprise.ui_value_estimated`, the value of the UI of this year, from 1 December on of the next, is an estimate or another year’s, so that the limit of e-Tickets is not exact; `enterprise.certificate_revoked`, the certificate signs no longer; `enterprise.certificate_untrusted`, no authority that the service trusts certifies it any more; `cae.number_before_unknown` and `cae.first_number_known`, as in the list of CAEs. Codes may be added.',
      'enterprise.no_numbers',
    ),
    message: textField(
      'The same in words; in Spanish by `Accept-Language`.',
      'No CAE of type ETICKET is valid and has numbers left; upload one.',
    ),
  })
  .meta({ id: 'EnterpriseWarning', description: 'Something that the enterprise should fix.' });

/** The enterprise object of the API (docs/contract.md#enterprise). */
export const EnterpriseView = z
  .object({
    rut: z.string().meta(describeField(W.rut)),
    ...fieldsShape(ENTERPRISE_FIELDS),
    has_logo: z.boolean().meta({ description: 'Whether a logo is printed on its receipts.' }),
    role: RoleName,
    status: EnterpriseStatusName,
    is_new_enterprise: z.boolean().meta(describeField(W.is_new_enterprise)),
    is_authorized_issuer: z.boolean().meta({
      description:
        'Whether the authority’s list of electronic issuers names the enterprise, looked at daily; before the first look, whether the permissions include PROD.',
    }),
    scheduled_ready_date: MomentText.nullable().meta({
      description: 'When it may start to issue, UTC; null until set.',
    }),
    certificate: CertificateView,
    caes: z.array(CaeView).meta({ description: 'Its CAEs, in upload order.' }),
    plan_metadata: PlanView.nullable().meta({ description: 'Its plan; null until one is set.' }),
    efactura_metadata: z
      .object({
        status: EfacturaStatusName,
        login_status: LoginStatusName,
        permissions: z.array(PermissionName).meta({
          description: 'Permissions found by the last successful login, or granted by an operator.',
        }),
        missing_perms: z.array(PermissionName).meta({ description: 'Missing permissions.' }),
      })
      .meta({ description: 'The known state of its e-invoicing login at the authority.' }),
    warnings: z
      .array(WarningView)
      .meta({ description: 'What the enterprise should fix; empty when nothing is wrong.' }),
  })
  .meta({ id: 'Enterprise', description: 'A company that issues.' });

/** The answer to an update of the enterprise (docs/contract.md#enterprise). */
export const UpdatedEnterpriseView = EnterpriseView.pick({
  rut: true,
  legal_name: true,
  status: true,
  scheduled_ready_date: true,
  plan_metadata: true,
}).meta({ id: 'UpdatedEnterprise', description: 'The fields of the enterprise returned by an update.' });

/** Returns the enterprise object at `now`, for a caller with that role. */
export function enterpriseView(
  enterprise: FullEnterprise,
  role: Role,
  now: Date,
): z.input<typeof EnterpriseView> {
  return { ...enterpriseObject(enterprise, now), role };
}
