import * as z from 'zod';
import { ENTERPRISE_FIELDS } from '../domain/enterpriseFields.ts';
import type { EnterpriseChanges } from '../domain/enterpriseObject.ts';
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
} from '../domain/enums.ts';
import { type EventName, eventRow } from '../domain/events.ts';
import { CFE_FIELD_WORDS, describeField, ENTERPRISE_WORDS } from '../domain/fieldWords.ts';
import type { WebhookEvent } from '../domain/webhookEvents.ts';
import { AuthorizationNumber } from './cae.ts';
import { Rejection } from './cfe.ts';
import { EnterpriseView } from './enterprise.ts';
import { ExactNumber } from './exactNumber.ts';
import { fieldsShape } from './fields.ts';
import { countOf, DateText, MomentText, textOf } from './formats.ts';

/** A field that has changed: what it was and what it is. */
const change = <S extends z.ZodType>(schema: S) =>
  z
    .object({
      from: schema.meta({ description: 'Before the change.' }),
      to: schema.meta({ description: 'After it.' }),
    })
    .meta({ description: 'What it was and what it is.' });

/** The fields of the enterprise object, each with what it was and what it is; the role is that of the account that gets the event, and warnings follow from the other fields. */
function changesOfEnterprise(): z.ZodType<EnterpriseChanges, EnterpriseChanges> {
  const { warnings: _, ...shape } = EnterpriseView.shape;
  const role = shape.role.nullable().meta({
    description: 'Role of the account that gets this event, and of no other; null: none.',
  });
  const fields = { ...shape, role };
  const changes = Object.entries(fields).map(([field, schema]) => [field, change(schema).exactOptional()]);
  return z.object(
    Object.fromEntries(changes) as Record<
      string,
      z.ZodType<EnterpriseChanges[string], EnterpriseChanges[string]>
    >,
  );
}

const FIELDS = fieldsShape(ENTERPRISE_FIELDS);
const EnterpriseRut = z.string().meta(describeField(ENTERPRISE_WORDS.rut));
const Id = z.string().meta(describeField(CFE_FIELD_WORDS.cfe_id));
const Serie = z.string().meta(describeField(CFE_FIELD_WORDS.serie));
const Numero = z.int().min(1).meta(describeField(CFE_FIELD_WORDS.numero));
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

/** The `data` of each event, by its name. */
const DATA = {
  'enterprise.updated': z.object({
    rut: EnterpriseRut,
    legal_name: FIELDS.legal_name,
    trade_name: FIELDS.trade_name,
    status: EnterpriseStatusName,
    changes: changesOfEnterprise().meta({ description: 'The fields that changed, and only those.' }),
  }),
  'payment.created': z.object({
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
  'efactura.login': z.object({
    enterprise_rut: EnterpriseRut,
    status: LoginResultName,
    login_status: LoginStatusName,
    permissions: z.array(PermissionName).readonly().meta({ description: 'Those that it has.' }),
    missing_permissions: z.array(PermissionName).readonly().meta({ description: 'Those that it lacks.' }),
    message: textOf('The result in words, for people.', 'The e-invoicing login succeeded.'),
  }),
  'cfe.updated': z.object({
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
  'cae.low': z.object({
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
  'cae.expiring': z.object({
    enterprise_rut: EnterpriseRut,
    cfe_type: CfeTypeName,
    serie: Serie,
    authorization_number: AuthorizationNumber,
    numbers_left: countOf('Numbers left in it.', 812),
    expiration_date: DateText.meta({ description: 'Its last day, in Montevideo.' }),
    days_left: countOf('Days until its last day.', 30),
  }),
  'certificate.expiring': z.object({
    enterprise_rut: EnterpriseRut,
    expiration_date: DateText.meta({ description: 'Its last day, in Montevideo.' }),
    days_left: countOf('Days until its last day.', 7),
  }),
  'daily_report.updated': z.object({
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
  'receipt.delivered': ReceiptMailed,
  'receipt.failed': ReceiptMailed,
  'authority.updated': z.object({
    environment: EnvironmentName,
    status: AuthorityChangeName,
    since: MomentText.meta({ description: 'Since when.' }),
  }),
  'webhook.test': z.object({
    webhook_id: textOf('Id of the webhook.', '0c0e1ab1-0000-4000-8000-000000000002'),
    message: textOf('That this is a test, in words for people.', 'This is a test; nothing has happened.'),
  }),
} as const satisfies {
  readonly [N in EventName]: z.ZodType<unknown, Extract<WebhookEvent, { name: N }>['data']>;
};

/** `cfe.updated` is `CfeUpdated` in the names of schemas and operations. */
export const pascalCase = (name: string): string =>
  name.replace(/(?:^|[._])(\w)/g, (_, letter: string) => letter.toUpperCase());

/** The envelope around the `data` of an event (docs/contract.md#webhooks). */
const enveloped = <N extends EventName>(name: N) =>
  z
    .object({
      event: z.literal(name).meta({ description: 'Name of the event.' }),
      timestamp: MomentText.meta({ description: 'When the change was made, UTC.' }),
      data: DATA[name].meta({ description: 'What has happened.' }) as (typeof DATA)[N],
    })
    .meta({
      id: `${pascalCase(name)}Event`,
      description: [eventRow(name).says, eventRow(name).more].filter(Boolean).join(' '),
    });

/** What a customer's server is sent, by the name of the event. */
export const WEBHOOK_EVENT_VIEWS = Object.fromEntries(
  (Object.keys(DATA) as EventName[]).map((name) => [name, enveloped(name)]),
) as { readonly [N in EventName]: ReturnType<typeof enveloped<N>> };
