/**
 * The closed sets of values of the API, each with what its values mean: the schemas that requests are read by and answers
 * are described by. A value without words does not compile.
 */
import * as z from 'zod';
import { AUTHORITY_CHANGES, AUTHORITY_STATUSES } from './authorityStatus.ts';
import { CFE_STATUSES } from './cfeStatus.ts';
import { CFE_TYPE_NAMES, ENVIRONMENTS, IVA_TYPES, type IvaType } from './cfeTypes.ts';
import {
  PERMISSIONS as AUTHORITY_PERMISSIONS,
  EFACTURA_STATUSES,
  ENTERPRISE_STATUSES,
  LOGIN_STATUSES,
} from './enterpriseStatus.ts';
import { eventRow, SELECTABLE_EVENTS, type SelectableEvent } from './events.ts';
import { MAIL_ERRORS, MAIL_KINDS, MAIL_STATUSES } from './mail.ts';
import { PAYMENT_STATUSES } from './payment.ts';
import { DOCUMENT_TYPES } from './receiverDocument.ts';
import { REPORT_STATUSES } from './reportStatus.ts';
import { DELIVERY_STATUSES } from './webhook.ts';
import { CFE_MOVE_REASONS, LOGIN_RESULTS } from './webhookEvents.ts';

/** The words of an enum in OpenAPI: its description, each value with its meaning, and the same for programs. */
export function enumWords<V extends string>(
  about: string,
  values: readonly V[],
  meanings: Readonly<Record<V, string>>,
): { description: string; 'x-enum-descriptions': string[] } {
  return {
    description: [about, '', ...values.map((value) => `- \`${value}\`: ${meanings[value]}`)].join('\n'),
    'x-enum-descriptions': values.map((value) => meanings[value]),
  };
}

/** A schema of one of `values`, which stands as `id` among the schemas of openapi.json. */
export function namedEnum<const V extends string>(
  id: string,
  about: string,
  values: readonly V[],
  meanings: Readonly<Record<V, string>>,
) {
  return z.enum(values as readonly [V, ...V[]]).meta({ id, ...enumWords(about, values, meanings) });
}

export const CfeTypeName = namedEnum(
  'CfeType',
  'Type of a receipt. A credit or debit note corrects a receipt of its own family. Source: Formato CFE v25.2, table A (TipoCFE).',
  CFE_TYPE_NAMES,
  {
    ETICKET: '101, e-Ticket: a sale to a consumer; the receiver may stay unnamed up to 5,000 UI net.',
    ETICKET_NC: '102, credit note of an e-Ticket: takes back all or part of it.',
    ETICKET_ND: '103, debit note of an e-Ticket: adds to it.',
    EFACTURA: '111, e-Factura: a sale to a company, named by its RUC.',
    EFACTURA_NC: '112, credit note of an e-Factura.',
    EFACTURA_ND: '113, debit note of an e-Factura.',
    EFACTURA_EXPORT: '121, export e-Factura: goods or services sold abroad, without VAT.',
    EFACTURA_EXPORT_NC: '122, credit note of an export e-Factura.',
    EFACTURA_EXPORT_ND: '123, debit note of an export e-Factura.',
  },
);

export const CfeStatusName = namedEnum(
  'CfeStatus',
  'Where a CFE stands with the tax authority. PENDING and RECEIVED are on the way; the other three are verdicts and do not change, but for a rejection for E06 that the authority withdraws.',
  CFE_STATUSES,
  {
    PENDING: 'Numbered and stored; whether the authority has it is not known yet.',
    RECEIVED: 'The authority has it and has not decided.',
    ACCEPTED: 'Accepted (AE): a valid receipt. It can be corrected by a note only.',
    REJECTED:
      'Rejected (BE), or given up: no valid receipt; `rejection` says why. Issue it anew, mended, with another Idempotency-Key; rejected for `E06` alone, only if nobody will accept it in the authority’s portal.',
    OBSERVED: 'Taken with remarks (CE): a valid receipt.',
  },
);

export const IvaTypeName = namedEnum(
  'IvaType',
  'How a line is taxed, and which total it feeds. Source: Formato CFE v25.2, zone B, field 4 (IndFact).',
  Object.keys(IVA_TYPES) as IvaType[],
  {
    FREE: 'IndFact 5: given away; price and amount are 0, and it feeds no total.',
    EXEMPT: 'IndFact 1: exempt from VAT; feeds `tax_free_amount`.',
    MINIMUM_RATE: 'IndFact 2: VAT at the minimum rate, 10 %; feeds `tax_minimum_net_amount`.',
    BASIC_RATE: 'IndFact 3: VAT at the basic rate, 22 %; feeds `tax_basic_net_amount`.',
    EXPORT: 'IndFact 10: exported or treated like it; feeds `total_amount` without VAT.',
    NON_BILLABLE_NEGATIVE:
      'IndFact 7: not billed, taken off `pay_amount` alone, after VAT (a rounding, an amount paid before); its price and amount are positive. A discount that is to lower the VAT too is a lower `unit_price`.',
  },
);

/** Currencies of a receipt. */
export const CURRENCIES = ['UYU', 'USD', 'EUR'] as const;
export const CurrencyName = namedEnum(
  'Currency',
  'Currency of every amount of a receipt (ISO 4217). Source: Formato CFE v25.2, zone A, field 110 (TpoMoneda).',
  CURRENCIES,
  {
    UYU: 'Uruguayan pesos; `exchange_rate` is 1.',
    USD: 'US dollars; `exchange_rate` is pesos for one dollar.',
    EUR: 'Euros; `exchange_rate` is pesos for one euro.',
  },
);

export const DocumentTypeName = namedEnum(
  'DocumentType',
  'Kind of document that identifies a receiver; there are no others: a person who has only a Uruguayan cédula, or a passport, cannot be named here. Source: Formato CFE v25.2, zone A, field 60 (TipoDocRecep).',
  DOCUMENT_TYPES,
  {
    RUC: 'TipoDocRecep 2: tax id of a company in Uruguay, 12 digits.',
    NIFE: 'TipoDocRecep 7: tax id of another country, up to 20 characters; not in e-Facturas.',
  },
);

export const EnvironmentName = namedEnum('Environment', 'Where a CFE is valid.', ENVIRONMENTS, {
  production: 'A fiscal document.',
  sandbox: 'A trial, sent to the authority’s test environment, without fiscal validity.',
});

export const EnterpriseStatusName = namedEnum(
  'EnterpriseStatus',
  'Whether an enterprise may issue in production.',
  ENTERPRISE_STATUSES,
  {
    PENDING: 'It lacks something: permission PROD, certificate, plan, CAE, or its start date has not come.',
    READY: 'It had all five and may issue. Losing one later does not change the status.',
    SUSPENDED: 'An operator suspended it: issuing is refused, all else goes on.',
  },
);

export const EfacturaStatusName = namedEnum(
  'EfacturaStatus',
  'What is known of the enterprise’s e-invoicing login at the authority.',
  EFACTURA_STATUSES,
  {
    NOT_VALIDATED: 'Never checked.',
    VALIDATING: 'A check is running; its result comes as the event `efactura.login`.',
    VALID: 'The last check succeeded.',
    INVALID: 'The last check failed: the authority does not take the login.',
  },
);

export const LoginStatusName = namedEnum(
  'LoginStatus',
  'How the last e-invoicing login went.',
  LOGIN_STATUSES,
  {
    NOT_ATTEMPTED: 'None was tried.',
    SUCCESS: 'The authority took it.',
    FAILED: 'The authority refused it.',
  },
);

export const PermissionName = namedEnum(
  'Permission',
  'An environment of the authority that the enterprise may use.',
  AUTHORITY_PERMISSIONS,
  {
    HOMO: 'The homologation (test) environment.',
    PROD: 'The production environment: needed to issue.',
  },
);

export const CertificateStatusName = namedEnum(
  'CertificateStatus',
  'Whether there is a certificate that can sign.',
  ['NONE', 'VALID', 'EXPIRED'],
  {
    NONE: 'None was uploaded.',
    VALID: 'It can sign today.',
    EXPIRED: 'Its last day has passed: nothing can be signed until another is uploaded.',
  },
);

export const CaeStatusName = namedEnum(
  'CaeStatus',
  'Whether numbers may be taken from a CAE, by today’s date in Montevideo.',
  ['OK', 'EXPIRED'],
  {
    OK: 'Today is not after its last day, even if no number is left.',
    EXPIRED: 'Its last day has passed; what it had left is annulled.',
  },
);

export const ReportStatusName = namedEnum(
  'DailyReportStatus',
  'Where the report of a day stands with the authority.',
  REPORT_STATUSES,
  {
    OPEN: 'Not sent yet: the day is not over, or something is waited for.',
    SENT: 'On its way; what the authority says of it is not known.',
    RECEIVED: 'The authority has it (AR) and has yet to compare it with the CFEs that it holds.',
    CONSISTENT: 'Compared, and it agrees (DR).',
    DIFFERS: 'Compared, and it does not agree (ER).',
    SUPERSEDED: 'A report of the day with a higher sequence counts (FR).',
    REFUSED: 'Not taken as a report (BR).',
  },
);

export const SubmissionStatusName = namedEnum(
  'SubmissionStatus',
  'Where one submission of a daily report stands.',
  ['PREPARED', 'SENT', 'RECEIVED', 'CONSISTENT', 'DIFFERS', 'SUPERSEDED', 'REFUSED'],
  {
    PREPARED: 'Signed and stored, not sent yet.',
    SENT: 'On its way; what the authority says of it is not known.',
    RECEIVED: 'The authority has it (AR) and has yet to compare it.',
    CONSISTENT: 'Compared, and it agrees (DR).',
    DIFFERS: 'Compared, and it does not agree (ER).',
    SUPERSEDED: 'One with a higher sequence counts (FR).',
    REFUSED: 'Not taken as a report (BR).',
  },
);

export const MailKindName = namedEnum('EmailKind', 'What an e-mail brings.', MAIL_KINDS, {
  RECEIPT: 'The receipt, to read, with PDF and XML.',
  EXCHANGE: 'The sobre between companies, to a receiver that issues CFEs itself.',
});

export const MailStatusName = namedEnum('EmailStatus', 'Where an e-mail stands.', MAIL_STATUSES, {
  PENDING: 'Under way; it may be tried again.',
  SENT: 'The mail server took it.',
  FAILED: 'Refused for good, or given up after the last retry.',
  DISABLED: 'Not sent: no mail server is configured.',
});

export const MailErrorName = namedEnum('EmailError', 'Why an e-mail was not taken.', MAIL_ERRORS, {
  refused: 'The mail server refused it: by a code 4xx for now, by 5xx for good.',
  login: 'The mail server does not take the login of the service.',
  dns: 'The mail server was not found.',
  tls: 'The connection to the mail server was not secure.',
  connection_refused: 'The mail server was not reached.',
  connection: 'The connection to the mail server broke.',
  timeout: 'The mail server did not answer in time.',
  print: 'The receipt could not be printed: a fault of the service.',
  address: 'No mail server can be given this address.',
  sandbox: 'A receipt of the sandbox to an address that the operator has not named.',
  cfe_rejected: 'The CFE was rejected before the e-mail went out.',
  account_limit: 'The account has sent as many e-mails as it may in a day; it is tried again.',
  mailbox_limit: 'As many e-mails as may in a day went to the mailbox; it is tried again.',
  bounced: 'The address refused an earlier e-mail of the account for good.',
  transferred: 'The enterprise was transferred to another account before it went out.',
});

export const PaymentStatusName = namedEnum('PaymentStatus', 'Where a payment stands.', PAYMENT_STATUSES, {
  PENDING: 'To be paid at `redirect_url`.',
  PAID: 'Paid.',
  CANCELLED: 'No longer due.',
});

export const LoginResultName = namedEnum(
  'LoginResult',
  'How a check of the e-invoicing login ended.',
  LOGIN_RESULTS,
  {
    success: 'The login succeeded.',
    failed: 'The login failed: the authority does not take username and password.',
    permissions_updated: 'The login succeeded, as the one before did, and the permissions have changed.',
  },
);

export const CfeMoveReasonName = namedEnum('CfeMoveReason', 'Why a CFE left a verdict.', CFE_MOVE_REASONS, {
  'rejection.withdrawn': 'The authority has accepted, in its portal, what it had rejected for E06.',
});

export const AuthorityStatusName = namedEnum(
  'AuthorityStatus',
  'How the tax authority stands for an environment.',
  AUTHORITY_STATUSES,
  {
    UP: 'It answers, and no CFE has waited for it for more than a minute.',
    SLOW: 'It answers, and the oldest CFE that waits for it has waited for more than a minute.',
    DOWN: 'It does not answer: nothing is sent but a probe now and then. CFEs are accepted as usual, and wait.',
  },
);

export const AuthorityChangeName = namedEnum(
  'AuthorityChange',
  'What has become of the tax authority.',
  AUTHORITY_CHANGES,
  { UP: 'It answers again.', DOWN: 'It has stopped answering; CFEs are accepted as usual, and wait.' },
);

export const DeliveryStatusName = namedEnum(
  'DeliveryStatus',
  'Where the delivery of an event to a webhook stands.',
  DELIVERY_STATUSES,
  {
    PENDING: 'Under way, or waiting for its next attempt.',
    DELIVERED: 'The receiver answered with 2xx.',
    FAILED: 'Given up after the last retry.',
  },
);

export const SelectableEventName = namedEnum(
  'WebhookEvent',
  'The events that a webhook may select.',
  SELECTABLE_EVENTS,
  Object.fromEntries(SELECTABLE_EVENTS.map((name) => [name, eventRow(name).says])) as Record<
    SelectableEvent,
    string
  >,
);
