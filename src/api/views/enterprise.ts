import * as z from 'zod';
import { enterpriseObject, type FullEnterprise } from '../../domain/enterpriseObject.ts';
import {
  EfacturaStatusName,
  EnterpriseStatusName,
  LoginStatusName,
  namedEnum,
  PermissionName,
} from '../../domain/enums.ts';
import { ENTERPRISE_WORDS, words } from '../../domain/fieldWords.ts';
import { ROLES, type Role } from '../roles.ts';
import { CaeView } from './cae.ts';
import { CertificateView } from './certificate.ts';
import { DateText, MomentText } from './formats.ts';

const W = ENTERPRISE_WORDS;

const RoleName = namedEnum('Role', 'What a caller may do at an enterprise.', ROLES, {
  VIEWER: 'Reads.',
  MEMBER: 'Reads, issues, uploads CAEs and keeps customers.',
  OWNER: 'Everything: also changes the enterprise and uploads its certificate.',
});

const PlanView = z
  .object({
    plan_id: z.string().meta(words(W.plan_id)),
    frequency_id: z.string().meta(words(W.frequency_id)),
  })
  .meta({ id: 'PlanMetadata', description: 'Plan of an enterprise.' });

/** The enterprise object of the API (docs/contract.md#enterprise). */
export const EnterpriseView = z
  .object({
    rut: z.string().meta(words(W.rut)),
    legal_name: z.string().meta(words(W.legal_name)),
    trade_name: z.string().nullable().meta(words(W.trade_name)),
    street_name: z.string().meta(words(W.street_name)),
    locality_name: z.string().meta(words(W.locality_name)),
    department_name: z.string().meta(words(W.department_name)),
    branch: z.int().min(0).meta(words(W.branch)),
    phone_number: z.string().nullable().meta(words(W.phone_number)),
    email: z.string().nullable().meta(words(W.email)),
    website: z.string().nullable().meta(words(W.website)),
    issuer_since: DateText.nullable().meta(words(W.issuer_since)),
    resolution: z.string().nullable().meta(words(W.resolution)),
    has_logo: z.boolean().meta({ description: 'Whether a logo is printed on its receipts.' }),
    role: RoleName,
    status: EnterpriseStatusName,
    is_new_enterprise: z.boolean().meta(words(W.is_new_enterprise)),
    is_authorized_issuer: z.boolean().meta({ description: 'Whether the permissions include PROD.' }),
    scheduled_ready_date: MomentText.nullable().meta({
      description: 'From when on it may issue, UTC; null until set.',
    }),
    certificate: CertificateView,
    caes: z.array(CaeView).meta({ description: 'Its CAEs, in upload order.' }),
    plan_metadata: PlanView.nullable().meta({ description: 'Its plan; null until one is set.' }),
    efactura_metadata: z
      .object({
        status: EfacturaStatusName,
        login_status: LoginStatusName,
        permissions: z
          .array(PermissionName)
          .meta({ description: 'Those that the last login that succeeded found, or an operator granted.' }),
        missing_perms: z.array(PermissionName).meta({ description: 'Those that it lacks.' }),
      })
      .meta({ description: 'What is known of its e-invoicing login at the authority.' }),
  })
  .meta({ id: 'Enterprise', description: 'A company that issues.' });

/** What the update of an enterprise answers (docs/contract.md#enterprise). */
export const UpdatedEnterpriseView = EnterpriseView.pick({
  rut: true,
  legal_name: true,
  status: true,
  scheduled_ready_date: true,
  plan_metadata: true,
}).meta({ id: 'UpdatedEnterprise', description: 'What an update answers of the enterprise.' });

/** The enterprise object at `now`, as a caller with that role sees it. */
export function enterpriseView(
  enterprise: FullEnterprise,
  role: Role,
  now: Date,
): z.input<typeof EnterpriseView> {
  return { ...enterpriseObject(enterprise, now), role };
}
