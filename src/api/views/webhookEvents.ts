import * as z from 'zod';
import type { EnterpriseChanges } from '../../domain/enterpriseObject.ts';
import {
  AuthorityChangeName,
  CfeMoveReasonName,
  CfeStatusName,
  CfeTypeName,
  EnterpriseStatusName,
  EnvironmentName,
  LoginResultName,
  LoginStatusName,
  MailKindName,
  MailStatusName,
  PaymentStatusName,
  PermissionName,
  ReportStatusName,
} from '../../domain/enums.ts';
import { CFE_WORDS, ENTERPRISE_WORDS, words } from '../../domain/fieldWords.ts';
import type { WebhookEvent } from '../../domain/webhookEvents.ts';
import { AuthorizationNumber } from './cae.ts';
import { Rejection } from './cfe.ts';
import { EnterpriseView } from './enterprise.ts';
import { ExactNumber } from './exactNumber.ts';
import { countOf, DateText, MomentText, textOf } from './formats.ts';

/** The envelope around the `data` of an event (docs/contract.md#webhooks). */
const event = <N extends WebhookEvent['name'], D extends z.ZodType>(
  name: N,
  id: string,
  about: string,
  data: D,
) =>
  z
    .object({
      event: z.literal(name).meta({ description: 'Name of the event.' }),
      timestamp: MomentText.meta({ description: 'When the change was made, UTC.' }),
      data: data.meta({ description: 'What has happened.' }),
    })
    .meta({ id, description: about });

/** A field that has changed: what it was and what it is. */
const change = <S extends z.ZodType>(schema: S) =>
  z
    .object({
      from: schema.meta({ description: 'Before the change.' }),
      to: schema.meta({ description: 'After it.' }),
    })
    .meta({ description: 'What it was and what it is.' });

/** The fields of the enterprise object, each with what it was and what it is; the role is a caller's and never changes here. */
function changesOfEnterprise(): z.ZodType<EnterpriseChanges, EnterpriseChanges> {
  const { role: _, ...fields } = EnterpriseView.shape;
  const changes = Object.entries(fields).map(([field, schema]) => [field, change(schema).exactOptional()]);
  return z.object(
    Object.fromEntries(changes) as Record<
      string,
      z.ZodType<EnterpriseChanges[string], EnterpriseChanges[string]>
    >,
  );
}

const EnterpriseRut = z.string().meta(words(ENTERPRISE_WORDS.rut));
const Id = z.string().meta(words(CFE_WORDS.cfe_id));
const Serie = z.string().meta(words(CFE_WORDS.serie));
const Numero = z.int().min(1).meta(words(CFE_WORDS.numero));
const Sequence = z
  .int()
  .nullable()
  .meta({
    description: 'Number of the last submission that was sent, 1 to 99; null before the first.',
    examples: [1],
  });

const ReceiptMailed = z.object({
  enterprise_rut: EnterpriseRut,
  environment: EnvironmentName,
  cfe_id: Id,
  mail_id: textOf('Id of the e-mail, as GET …/emails lists it.', '0c0e1ab1-0000-4000-8000-000000000004'),
  kind: MailKindName,
  status: MailStatusName,
});

/** What a customer's server is sent, by the name of the event; `data` is what domain/webhookEvents.ts makes. */
export const WEBHOOK_EVENT_VIEWS = {
  'enterprise.updated': event(
    'enterprise.updated',
    'EnterpriseUpdatedEvent',
    'Something in the enterprise object has changed; creation, and the last number of a CAE, are no changes.',
    z.object({
      rut: EnterpriseRut,
      legal_name: z.string().meta(words(ENTERPRISE_WORDS.legal_name)),
      trade_name: z.string().nullable().meta(words(ENTERPRISE_WORDS.trade_name)),
      status: EnterpriseStatusName,
      changes: changesOfEnterprise().meta({ description: 'The fields that changed, and only those.' }),
    }),
  ),
  'payment.created': event(
    'payment.created',
    'PaymentCreatedEvent',
    'A plan with a price was chosen: it is to be paid.',
    z.object({
      payment_id: textOf('Id of the payment.', '7d9f7c0e-5a3b-4c1d-9e2f-000000000001'),
      enterprise_rut: EnterpriseRut,
      amount: ExactNumber.meta({ description: 'What is to be paid, in `currency`.', examples: [990.5] }),
      currency: textOf('Currency of the amount, ISO 4217.', 'UYU'),
      status: PaymentStatusName,
      redirect_url: z.string().meta({
        format: 'uri',
        description: 'Where to pay.',
        examples: ['https://pay.example.com/checkout/7d9f7c0e-5a3b-4c1d-9e2f-000000000001'],
      }),
      created_at: MomentText.meta({ description: 'When the payment was made out, UTC.' }),
    }),
  ),
  'efactura.login': event(
    'efactura.login',
    'EfacturaLoginEvent',
    'A check of the e-invoicing login has finished.',
    z.object({
      enterprise_rut: EnterpriseRut,
      status: LoginResultName,
      login_status: LoginStatusName,
      permissions: z.array(PermissionName).readonly().meta({ description: 'Those that it has.' }),
      missing_permissions: z.array(PermissionName).readonly().meta({ description: 'Those that it lacks.' }),
      message: textOf('The result in words, for people.', 'The e-invoicing login succeeded.'),
    }),
  ),
  'cfe.updated': event(
    'cfe.updated',
    'CfeUpdatedEvent',
    'The status of a CFE has changed.',
    z.object({
      enterprise_rut: EnterpriseRut,
      environment: EnvironmentName,
      cfe_id: Id,
      cfe_type: CfeTypeName,
      serie: Serie,
      numero: Numero,
      status: CfeStatusName,
      changes: z
        .object({ cfe_status: change(CfeStatusName) })
        .meta({ description: 'The status before and after.' }),
      rejection: Rejection,
      reason: CfeMoveReasonName.optional().meta({
        description: 'Only where a CFE leaves REJECTED: the authority has accepted what it rejected for E06.',
      }),
    }),
  ),
  'cae.low': event(
    'cae.low',
    'CaeLowEvent',
    'The numbers of a type run low: they last less than 7 days, are less than a tenth, or are none.',
    z.object({
      enterprise_rut: EnterpriseRut,
      cfe_type: CfeTypeName,
      numbers_left: countOf('Numbers left in all CAEs of the type that are valid today.', 140),
      days_left: z
        .int()
        .nullable()
        .meta({
          description:
            'Whole days for which they last at the pace of the last 28; null when none were used in them.',
          examples: [6],
        }),
    }),
  ),
  'cae.expiring': event(
    'cae.expiring',
    'CaeExpiringEvent',
    'A CAE with numbers left expires in 30, 7 or 1 days.',
    z.object({
      enterprise_rut: EnterpriseRut,
      cfe_type: CfeTypeName,
      serie: Serie,
      authorization_number: AuthorizationNumber,
      numbers_left: countOf('Numbers left in it.', 812),
      expiration_date: DateText.meta({ description: 'Its last day, in Montevideo.' }),
      days_left: countOf('Days until its last day.', 30),
    }),
  ),
  'certificate.expiring': event(
    'certificate.expiring',
    'CertificateExpiringEvent',
    'The certificate expires in 30, 7 or 1 days.',
    z.object({
      enterprise_rut: EnterpriseRut,
      expiration_date: DateText.meta({ description: 'Its last day, in Montevideo.' }),
      days_left: countOf('Days until its last day.', 7),
    }),
  ),
  'daily_report.updated': event(
    'daily_report.updated',
    'DailyReportUpdatedEvent',
    'The status of a daily report has changed.',
    z.object({
      enterprise_rut: EnterpriseRut,
      date: DateText.meta({ description: 'The day of the report, in Montevideo.' }),
      status: ReportStatusName,
      sequence: Sequence,
      changes: z
        .object({
          status: change(ReportStatusName).exactOptional(),
          sequence: change(Sequence).exactOptional(),
        })
        .meta({ description: 'The fields that changed, and only those.' }),
    }),
  ),
  'receipt.delivered': event(
    'receipt.delivered',
    'ReceiptDeliveredEvent',
    'An e-mail with a receipt was taken by the mail server.',
    ReceiptMailed,
  ),
  'receipt.failed': event(
    'receipt.failed',
    'ReceiptFailedEvent',
    'An e-mail with a receipt was refused, or given up after the last retry.',
    ReceiptMailed,
  ),
  'authority.updated': event(
    'authority.updated',
    'AuthorityUpdatedEvent',
    'The tax authority has stopped answering, or answers again.',
    z.object({
      environment: EnvironmentName,
      status: AuthorityChangeName,
      since: MomentText.meta({ description: 'Since when.' }),
    }),
  ),
  'webhook.test': event(
    'webhook.test',
    'WebhookTestEvent',
    'A test of the webhook was asked for; nothing has happened.',
    z.object({
      webhook_id: textOf('Id of the webhook.', '0c0e1ab1-0000-4000-8000-000000000002'),
      message: textOf('That this is a test, in words for people.', 'This is a test; nothing has happened.'),
    }),
  ),
} as const satisfies {
  readonly [N in WebhookEvent['name']]: z.ZodType<
    unknown,
    { event: N; timestamp: string; data: Extract<WebhookEvent, { name: N }>['data'] }
  >;
};
