import * as z from 'zod';
import { CFE_STATUSES } from '../../domain/cfeStatus.ts';
import { CFE_TYPE_NAMES, ENVIRONMENTS } from '../../domain/cfeTypes.ts';
import type { EnterpriseChanges } from '../../domain/enterpriseObject.ts';
import { ENTERPRISE_STATUSES, LOGIN_STATUSES, PERMISSIONS } from '../../domain/enterpriseStatus.ts';
import { MAIL_KINDS, MAIL_STATUSES } from '../../domain/mail.ts';
import { PAYMENT_STATUSES } from '../../domain/paymentStatus.ts';
import { REPORT_STATUSES } from '../../domain/reportStatus.ts';
import { CFE_MOVE_REASONS, LOGIN_RESULTS, type WebhookEvent } from '../../domain/webhookEvents.ts';
import { Rejection } from './cfe.ts';
import { EnterpriseView } from './enterprise.ts';
import { ExactNumber } from './exactNumber.ts';
import { DateText, MomentText } from './formats.ts';

/** The envelope around the `data` of an event (docs/contract.md#webhooks). */
const event = <N extends WebhookEvent['name'], D extends z.ZodType>(name: N, id: string, data: D) =>
  z
    .object({
      event: z.literal(name),
      timestamp: MomentText.meta({ description: 'When the change was made' }),
      data,
    })
    .meta({ id });

/** The fields of the enterprise object, each with what it was and what it is; the role is a caller's and never changes here. */
function changesOfEnterprise(): z.ZodType<EnterpriseChanges, EnterpriseChanges> {
  const { role: _, ...fields } = EnterpriseView.shape;
  const changes = Object.entries(fields).map(([field, schema]) => [
    field,
    z.object({ from: schema, to: schema }).exactOptional(),
  ]);
  return z.object(
    Object.fromEntries(changes) as Record<
      string,
      z.ZodType<EnterpriseChanges[string], EnterpriseChanges[string]>
    >,
  );
}

const ReceiptMailed = z.object({
  enterprise_rut: z.string(),
  environment: z.enum(ENVIRONMENTS),
  cfe_id: z.string(),
  mail_id: z.string(),
  kind: z.enum(MAIL_KINDS),
  status: z.enum(MAIL_STATUSES),
});

/** What a customer's server is sent, by the name of the event; `data` is what domain/webhookEvents.ts makes. */
export const WEBHOOK_EVENT_VIEWS = {
  'enterprise.updated': event(
    'enterprise.updated',
    'EnterpriseUpdatedEvent',
    z.object({
      rut: z.string(),
      legal_name: z.string(),
      trade_name: z.string().nullable(),
      status: z.enum(ENTERPRISE_STATUSES),
      changes: changesOfEnterprise().meta({ description: 'The fields that changed, and only those' }),
    }),
  ),
  'payment.created': event(
    'payment.created',
    'PaymentCreatedEvent',
    z.object({
      payment_id: z.string(),
      enterprise_rut: z.string(),
      amount: ExactNumber,
      currency: z.string(),
      status: z.enum(PAYMENT_STATUSES),
      redirect_url: z.string().meta({ format: 'uri', description: 'Where to pay' }),
      created_at: MomentText,
    }),
  ),
  'efactura.login': event(
    'efactura.login',
    'EfacturaLoginEvent',
    z.object({
      enterprise_rut: z.string(),
      status: z.enum(LOGIN_RESULTS).meta({ description: 'How the check ended' }),
      login_status: z.enum(LOGIN_STATUSES),
      permissions: z.array(z.enum(PERMISSIONS)).readonly(),
      missing_permissions: z.array(z.enum(PERMISSIONS)).readonly(),
      message: z.string().meta({ description: 'For people' }),
    }),
  ),
  'cfe.updated': event(
    'cfe.updated',
    'CfeUpdatedEvent',
    z.object({
      enterprise_rut: z.string(),
      environment: z.enum(ENVIRONMENTS),
      cfe_id: z.string(),
      cfe_type: z.enum(CFE_TYPE_NAMES),
      serie: z.string(),
      numero: z.int(),
      status: z.enum(CFE_STATUSES),
      changes: z.object({
        cfe_status: z.object({ from: z.enum(CFE_STATUSES), to: z.enum(CFE_STATUSES) }),
      }),
      rejection: Rejection,
      reason: z.enum(CFE_MOVE_REASONS).optional().meta({
        description: 'Only where a CFE leaves REJECTED: the authority has accepted what it rejected for E06',
      }),
    }),
  ),
  'cae.low': event(
    'cae.low',
    'CaeLowEvent',
    z.object({
      enterprise_rut: z.string(),
      cfe_type: z.enum(CFE_TYPE_NAMES),
      numbers_left: z.int().meta({ description: 'In all CAEs of the type that are valid today' }),
      days_left: z
        .int()
        .nullable()
        .meta({ description: 'At the pace of the last 28 days; null when none were used in them' }),
    }),
  ),
  'cae.expiring': event(
    'cae.expiring',
    'CaeExpiringEvent',
    z.object({
      enterprise_rut: z.string(),
      cfe_type: z.enum(CFE_TYPE_NAMES),
      serie: z.string(),
      authorization_number: z.string(),
      numbers_left: z.int(),
      expiration_date: DateText,
      days_left: z.int().meta({ description: 'Days until the last day of the CAE' }),
    }),
  ),
  'certificate.expiring': event(
    'certificate.expiring',
    'CertificateExpiringEvent',
    z.object({
      enterprise_rut: z.string(),
      expiration_date: DateText,
      days_left: z.int().meta({ description: 'Days until the last day of the certificate' }),
    }),
  ),
  'daily_report.updated': event(
    'daily_report.updated',
    'DailyReportUpdatedEvent',
    z.object({
      enterprise_rut: z.string(),
      date: DateText,
      status: z.enum(REPORT_STATUSES),
      sequence: z.int().nullable(),
      changes: z
        .object({
          status: z.object({ from: z.enum(REPORT_STATUSES), to: z.enum(REPORT_STATUSES) }).exactOptional(),
          sequence: z.object({ from: z.int().nullable(), to: z.int().nullable() }).exactOptional(),
        })
        .meta({ description: 'The fields that changed, and only those' }),
    }),
  ),
  'receipt.delivered': event('receipt.delivered', 'ReceiptDeliveredEvent', ReceiptMailed),
  'receipt.failed': event('receipt.failed', 'ReceiptFailedEvent', ReceiptMailed),
  'webhook.test': event(
    'webhook.test',
    'WebhookTestEvent',
    z.object({ webhook_id: z.string(), message: z.string() }),
  ),
} as const satisfies {
  readonly [N in WebhookEvent['name']]: z.ZodType<
    unknown,
    { event: N; timestamp: string; data: Extract<WebhookEvent, { name: N }>['data'] }
  >;
};
