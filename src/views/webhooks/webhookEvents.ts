import * as z from 'zod';
import { ENTERPRISE_FIELDS } from '../../domain/enterprises/enterpriseFields.ts';
import type { EnterpriseChanges } from '../../domain/enterprises/enterpriseObject.ts';
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
  TestRunStatusName,
  TestSetName,
} from '../../domain/requests/enums.ts';
import { CFE_FIELD_WORDS, describeField, ENTERPRISE_WORDS } from '../../domain/requests/fieldWords.ts';
import { type EventName, eventRow } from '../../domain/webhooks/events.ts';
import type { WebhookEvent } from '../../domain/webhooks/webhookEvents.ts';
import { EnterpriseView } from '../enterprises/enterprise.ts';
import { ExactNumberView } from '../exactNumber.ts';
import { fieldsShape } from '../fields.ts';
import { countField, DateText, MomentText, textField } from '../formats.ts';
import { AuthorizationNumber } from '../numbers/cae.ts';
import { ExternalId, Rejection, Transmission } from '../receipts/cfe.ts';

/** A changed field, with its old and its new value. */
const change = <S extends z.ZodType>(schema: S) =>
  z
    .object({
      from: schema.meta({ description: 'Before the change.' }),
      to: schema.meta({ description: 'After it.' }),
    })
    .meta({ description: 'The old and the new value.' });

/**
 * Returns the fields of the enterprise object, each with its old and its new value; `role` is the notified account's.
 * Warnings follow from the other fields.
 */
function changesOfEnterprise(): z.ZodType<EnterpriseChanges, EnterpriseChanges> {
  const { warnings: _, ...shape } = EnterpriseView.shape;
  const role = shape.role.nullable().meta({
    description: 'Role of the account that receives this event; null: no role.',
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
    description: 'Number of the last sent submission, 1 to 99; null before the first.',
    examples: [1],
  });

const ReceiptMailed = z.object({
  enterprise_rut: EnterpriseRut,
  environment: EnvironmentName,
  cfe_id: Id,
  mail_id: textField('Id of the e-mail, as GET …/emails lists it.', '0c0e1ab1-0000-4000-8000-000000000004'),
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
    payment_id: textField('Id of the payment.', '7d9f7c0e-5a3b-4c1d-9e2f-000000000001'),
    enterprise_rut: EnterpriseRut,
    amount: ExactNumberView.meta({ description: 'Amount due, in `currency`.', examples: [990.5] }),
    currency: textField('Currency of the amount, ISO 4217.', 'UYU'),
    status: PaymentStatusName,
    redirect_url: z.string().meta({
      format: 'uri',
      description: 'The page for paying.',
      examples: ['https://pay.example.com/checkout/7d9f7c0e-5a3b-4c1d-9e2f-000000000001'],
    }),
    created_at: MomentText.meta({ description: 'When the payment was created, UTC.' }),
  }),
  'efactura.login': z.object({
    enterprise_rut: EnterpriseRut,
    status: LoginResultName,
    login_status: LoginStatusName,
    permissions: z.array(PermissionName).readonly().meta({ description: 'Permissions that it has.' }),
    missing_permissions: z.array(PermissionName).readonly().meta({ description: 'Missing permissions.' }),
    message: textField('The result in words, for people.', 'The e-invoicing login succeeded.'),
  }),
  'cfe.updated': z.object({
    enterprise_rut: EnterpriseRut,
    environment: EnvironmentName,
    cfe_id: Id,
    cfe_type: CfeTypeName,
    serie: Serie,
    numero: Numero,
    external_id: ExternalId,
    status: CfeStatusName,
    transmission: Transmission,
    changes: z
      .object({ cfe_status: change(CfeStatusName) })
      .meta({ description: 'The status before and after.' }),
    rejection: Rejection,
    reason: CfeMoveReasonName.optional().meta({
      description:
        'Only when a CFE leaves REJECTED: the authority has accepted a CFE that it rejected for E06.',
    }),
  }),
  'cae.low': z.object({
    enterprise_rut: EnterpriseRut,
    cfe_type: CfeTypeName,
    numbers_left: countField('Numbers left in all CAEs of the type that are valid today.', 140),
    days_left: z
      .int()
      .nullable()
      .meta({
        description:
          'Whole days for which they last at the rate of the last 28 days; null when no numbers were used in those days.',
        examples: [6],
      }),
  }),
  'cae.expiring': z.object({
    enterprise_rut: EnterpriseRut,
    cfe_type: CfeTypeName,
    serie: Serie,
    authorization_number: AuthorizationNumber,
    numbers_left: countField('Numbers left in the CAE.', 812),
    expiration_date: DateText.meta({ description: 'Its last day, in Montevideo.' }),
    days_left: countField('Days until its last day.', 30),
  }),
  'certificate.expiring': z.object({
    enterprise_rut: EnterpriseRut,
    expiration_date: DateText.meta({ description: 'Its last day, in Montevideo.' }),
    days_left: countField('Days until its last day.', 7),
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
  'homologation.updated': z.object({
    enterprise_rut: EnterpriseRut,
    homologation_id: textField('Id of the run.', '5b3e0c1a-0000-4000-8000-000000000009'),
    set: TestSetName,
    status: TestRunStatusName,
    changes: z
      .object({ status: change(TestRunStatusName) })
      .meta({ description: 'The status before and after.' }),
  }),
  'receipt.delivered': ReceiptMailed,
  'receipt.failed': ReceiptMailed,
  'authority.updated': z.object({
    environment: EnvironmentName,
    status: AuthorityChangeName,
    since: MomentText.meta({ description: 'When it changed, UTC.' }),
  }),
  'webhook.test': z.object({
    webhook_id: textField('Id of the webhook.', '0c0e1ab1-0000-4000-8000-000000000002'),
    message: textField('Says that this is a test, for people.', 'This is a test; nothing has happened.'),
  }),
} as const satisfies {
  readonly [N in EventName]: z.ZodType<unknown, Extract<WebhookEvent, { name: N }>['data']>;
};

/** Returns `CfeUpdated` for `cfe.updated`, for the names of schemas and operations. */
export const pascalCase = (name: string): string =>
  name.replace(/(?:^|[._])(\w)/g, (_, letter: string) => letter.toUpperCase());

/** The envelope around the `data` of an event (docs/contract.md#webhooks). */
const withEnvelope = <N extends EventName>(name: N) =>
  z
    .object({
      event: z.literal(name).meta({ description: 'Name of the event.' }),
      timestamp: MomentText.meta({ description: 'When the change was made, UTC.' }),
      data: DATA[name].meta({ description: 'The data of the event.' }) as (typeof DATA)[N],
    })
    .meta({
      id: `${pascalCase(name)}Event`,
      description: [eventRow(name).says, eventRow(name).more].filter(Boolean).join(' '),
    });

/** The body sent to a customer's server, by event name. */
export const WEBHOOK_EVENT_VIEWS = Object.fromEntries(
  (Object.keys(DATA) as EventName[]).map((name) => [name, withEnvelope(name)]),
) as { readonly [N in EventName]: ReturnType<typeof withEnvelope<N>> };
