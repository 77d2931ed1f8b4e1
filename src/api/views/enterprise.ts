import * as z from 'zod';
import { enterpriseObject, type FullEnterprise } from '../../domain/enterpriseObject.ts';
import {
  EFACTURA_STATUSES,
  ENTERPRISE_STATUSES,
  LOGIN_STATUSES,
  PERMISSIONS,
} from '../../domain/enterpriseStatus.ts';
import { ROLES, type Role } from '../roles.ts';
import { CaeView } from './cae.ts';
import { CertificateView } from './certificate.ts';
import { DateText, MomentText } from './formats.ts';

const PlanView = z.object({ plan_id: z.string(), frequency_id: z.string() });

/** The enterprise object of the API (docs/contract.md#enterprise). */
export const EnterpriseView = z
  .object({
    rut: z.string(),
    legal_name: z.string(),
    trade_name: z.string().nullable(),
    street_name: z.string(),
    locality_name: z.string(),
    department_name: z.string(),
    branch: z.number().int(),
    phone_number: z.string().nullable(),
    email: z.string().nullable(),
    website: z.string().nullable(),
    issuer_since: DateText.nullable(),
    resolution: z.string().nullable(),
    has_logo: z.boolean().meta({ description: 'Whether a logo is printed on its receipts' }),
    role: z.enum(ROLES).meta({ description: 'Role of the caller at this enterprise' }),
    status: z.enum(ENTERPRISE_STATUSES),
    is_new_enterprise: z.boolean(),
    is_authorized_issuer: z.boolean().meta({ description: 'Whether the permissions include PROD' }),
    scheduled_ready_date: MomentText.nullable(),
    certificate: CertificateView,
    caes: z.array(CaeView),
    plan_metadata: PlanView.nullable(),
    efactura_metadata: z.object({
      status: z.enum(EFACTURA_STATUSES),
      login_status: z.enum(LOGIN_STATUSES),
      permissions: z.array(z.enum(PERMISSIONS)),
      missing_perms: z.array(z.enum(PERMISSIONS)),
    }),
  })
  .meta({ id: 'Enterprise' });

/** What the update of an enterprise answers (docs/contract.md#enterprise). */
export const UpdatedEnterpriseView = EnterpriseView.pick({
  rut: true,
  legal_name: true,
  status: true,
  scheduled_ready_date: true,
  plan_metadata: true,
}).meta({ id: 'UpdatedEnterprise' });

/** The enterprise object at `now`, as a caller with that role sees it. */
export function enterpriseView(
  enterprise: FullEnterprise,
  role: Role,
  now: Date,
): z.input<typeof EnterpriseView> {
  return { ...enterpriseObject(enterprise, now), role };
}
