/** The enums of the API with the meaning of each value, for requests and responses. A value without words does not compile. */
import * as z from 'zod';
import { AUTHORITY_CHANGES, AUTHORITY_STATUSES } from '../authority/authorityStatus.ts';
import {
  PERMISSIONS as AUTHORITY_PERMISSIONS,
  EFACTURA_STATUSES,
  ENTERPRISE_STATUSES,
  LOGIN_STATUSES,
} from '../enterprises/enterpriseStatus.ts';
import { TEST_RUN_STATUSES, TEST_SETS } from '../enterprises/homologation.ts';
import { MAIL_ERRORS, MAIL_KINDS, MAIL_STATUSES } from '../mail/mail.ts';
import { PAYMENT_STATUSES } from '../people/payment.ts';
import { CFE_STATUSES } from '../receipts/cfeStatus.ts';
import { CFE_TYPE_NAMES, ENVIRONMENTS, IVA_TYPES, type IvaType } from '../receipts/cfeTypes.ts';
import { DOCUMENT_TYPES } from '../receipts/receiverDocument.ts';
import { TRANSMISSIONS } from '../receipts/transmission.ts';
import { REPORT_STATUSES } from '../reports/reportStatus.ts';
import { eventRow, SELECTABLE_EVENTS, type SelectableEvent } from '../webhooks/events.ts';
import { DELIVERY_STATUSES } from '../webhooks/webhook.ts';
import { CFE_MOVE_REASONS, LOGIN_RESULTS } from '../webhooks/webhookEvents.ts';

/** Returns the OpenAPI description of an enum: for people with all meanings, and for programs. */
export function enumWords<V extends string>(
  summary: string,
  values: readonly V[],
  meanings: Readonly<Record<V, string>>,
): { description: string; 'x-enum-descriptions': string[] } {
  return {
    description: [summary, '', ...values.map((value) => `- \`${value}\`: ${meanings[value]}`)].join('\n'),
    'x-enum-descriptions': values.map((value) => meanings[value]),
  };
}

/** Returns a schema of one of `values`, named `id` in openapi.json. */
export function namedEnum<const V extends string>(
  id: string,
  summary: string,
  values: readonly V[],
  meanings: Readonly<Record<V, string>>,
) {
  return z.enum(values as readonly [V, ...V[]]).meta({ id, ...enumWords(summary, values, meanings) });
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
  'Status of a CFE at the tax authority. PENDING and RECEIVED are in progress; the other three are verdicts and never change, except for a rejection for E06 that the authority withdraws.',
  CFE_STATUSES,
  {
    PENDING: 'Numbered and stored; it is not known yet whether the authority has it.',
    RECEIVED: 'The authority has it and has not decided.',
    ACCEPTED:
      'Accepted (AE), or signed and only reported (`transmission`): a valid receipt. Only a note can correct it.',
    REJECTED:
      'Rejected (BE) or abandoned: not a valid receipt; `rejection` has the reasons. Correct it and issue it again with another Idempotency-Key; after a rejection for `E06` only, first make sure that no one will accept it in the authority’s portal.',
    OBSERVED: 'Accepted with remarks (CE): a valid receipt.',
  },
);

export const TransmissionName = namedEnum(
  'Transmission',
  'How a CFE reached the tax authority.',
  TRANSMISSIONS,
  {
    SENT: 'The authority has received it.',
    REPORT_ONLY:
      'Signed and never sent: an e-Ticket or its note up to 5,000 UI of an enterprise with `small_tickets` REPORT_ONLY; it is in the daily report.',
  },
);

export const IvaTypeName = namedEnum(
  'IvaType',
  'Tax of a line, which decides the total that it counts in. Source: Formato CFE v25.2, zone B, field 4 (IndFact).',
  Object.keys(IVA_TYPES) as IvaType[],
  {
    FREE: 'IndFact 5: free of charge; price and amount are 0, and it counts in no total.',
    EXEMPT: 'IndFact 1: exempt from VAT; counts in `tax_free_amount`.',
    MINIMUM_RATE: 'IndFact 2: VAT at the minimum rate, 10 %; counts in `tax_minimum_net_amount`.',
    BASIC_RATE: 'IndFact 3: VAT at the basic rate, 22 %; counts in `tax_basic_net_amount`.',
    OTHER_RATE:
      'IndFact 4: VAT at another rate or on a notional base (used cars); always without VAT; counts in `tax_other_net_amount`, its VAT is what `tax_other_amount` says.',
    PERCEIVED: 'IndFact 11: VAT already perceived before (meat); counts in `perceived_amount`.',
    SUSPENDED: 'IndFact 12: VAT in suspense (farm produce); counts in `suspended_amount`.',
    EXPORT: 'IndFact 10: exported or equivalent; counts in `total_amount` without VAT.',
    NON_BILLABLE:
      'IndFact 6: not billed, added only to `pay_amount`, after VAT (a collection for others, a rounding up).',
    NON_BILLABLE_NEGATIVE:
      'IndFact 7: not billed, subtracted only from `pay_amount`, after VAT (a rounding, an amount paid before); its price and amount are positive. A discount that also lowers the VAT is one of `discounts` or `header.adjustments`.',
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
  'Kind of document that identifies a receiver. Source: Formato CFE v25.2, zone A, field 60 (TipoDocRecep).',
  DOCUMENT_TYPES,
  {
    RUC: 'TipoDocRecep 2: tax id of a company in Uruguay, 12 digits. The only kind in e-Facturas.',
    CI: 'TipoDocRecep 3: cédula de identidad of Uruguay, 7 or 8 digits without dots or hyphen; sent with 8.',
    NIE: 'TipoDocRecep 1: identification number of a foreigner in Uruguay, at most 12 digits.',
    PASSPORT: 'TipoDocRecep 5: passport of any country, up to 20 characters.',
    DNI: 'TipoDocRecep 6: identity document of Argentina, Brazil, Chile or Paraguay, up to 20 characters.',
    NIFE: 'TipoDocRecep 7: tax id of another country, up to 20 characters.',
    OTHER: 'TipoDocRecep 4: any other document, up to 20 characters.',
  },
);

export const EnvironmentName = namedEnum('Environment', 'Environment of a CFE.', ENVIRONMENTS, {
  production: 'A fiscal document.',
  sandbox: 'A test, sent to the authority’s test environment, without fiscal validity.',
});

export const EnterpriseStatusName = namedEnum(
  'EnterpriseStatus',
  'Whether an enterprise may issue in production.',
  ENTERPRISE_STATUSES,
  {
    PENDING:
      'Something is missing: permission PROD, certificate, plan, CAE, or the start date is in the future.',
    READY: 'It had all five and may issue. Losing one later does not change the status.',
    SUSPENDED: 'An operator suspended it: issuing is refused, everything else continues.',
  },
);

export const EfacturaStatusName = namedEnum(
  'EfacturaStatus',
  'State of the enterprise’s e-invoicing login at the authority.',
  EFACTURA_STATUSES,
  {
    NOT_VALIDATED: 'Never checked.',
    VALIDATING: 'A check is running; its result comes as the event `efactura.login`.',
    VALID: 'The last check succeeded.',
    INVALID: 'The last check failed: the authority does not accept the login.',
  },
);

export const LoginStatusName = namedEnum(
  'LoginStatus',
  'Result of the last e-invoicing login.',
  LOGIN_STATUSES,
  {
    NOT_ATTEMPTED: 'There was no attempt.',
    SUCCESS: 'The authority accepted it.',
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
  ['NONE', 'VALID', 'EXPIRED', 'REVOKED'],
  {
    NONE: 'No certificate was uploaded.',
    VALID: 'It can sign today.',
    EXPIRED: 'Its last day has passed: upload a new certificate to sign again.',
    REVOKED: 'Its certification authority revoked it: upload a new certificate to sign again.',
  },
);

export const CaeStatusName = namedEnum(
  'CaeStatus',
  'Whether numbers may be taken from a CAE, by today’s date in Montevideo.',
  ['OK', 'EXPIRED'],
  {
    OK: 'Its last day has not passed, even if no number is left.',
    EXPIRED: 'Its last day has passed; its unused numbers are annulled.',
  },
);

export const ReportStatusName = namedEnum(
  'DailyReportStatus',
  'Status of the report of a day at the authority.',
  REPORT_STATUSES,
  {
    OPEN: 'Not sent yet: the day is not over, or the service waits for missing data.',
    SENT: 'Sent; the answer of the authority is not known yet.',
    RECEIVED: 'The authority has it (AR) and has not yet compared it with its CFEs.',
    CONSISTENT: 'Compared, and it matches (DR).',
    DIFFERS: 'Compared, and it does not match (ER).',
    SUPERSEDED: 'Replaced by a report of the day with a higher sequence (FR).',
    REFUSED: 'Refused by the authority (BR).',
  },
);

export const TestSetName = namedEnum('TestSet', 'The set of tests at the authority.', TEST_SETS, {
  TESTING:
    'The test in Testing, with which a company starts: at least 50 receipts received of each of six types, all signed on one day, and the report of that day.',
  SIMULATION:
    'The simulation of a software provider: one receipt of each type, two emission dates, an annulled number, and the report.',
});

export const TestRunStatusName = namedEnum('HomologationStatus', 'Status of a test run.', TEST_RUN_STATUSES, {
  RUNNING: 'Receipts are being issued, or await their verdicts.',
  REPORTING: 'All receipts have their verdicts; the report of the day is being sent.',
  READY_TO_PROCESS: 'The authority has the report; the checklist says which click is left at its portal.',
  FAILED: 'It ended without the result that the authority requires; `failure` says why.',
  STOPPED: 'It was stopped; issued receipts still get their verdicts.',
});

export const SubmissionStatusName = namedEnum(
  'SubmissionStatus',
  'Status of one submission of a daily report.',
  ['PREPARED', 'SENT', 'RECEIVED', 'CONSISTENT', 'DIFFERS', 'SUPERSEDED', 'REFUSED'],
  {
    PREPARED: 'Signed and stored, not sent yet.',
    SENT: 'Sent; the answer of the authority is not known yet.',
    RECEIVED: 'The authority has it (AR) and has not yet compared it.',
    CONSISTENT: 'Compared, and it matches (DR).',
    DIFFERS: 'Compared, and it does not match (ER).',
    SUPERSEDED: 'Replaced by a submission with a higher sequence (FR).',
    REFUSED: 'Refused by the authority (BR).',
  },
);

export const MailKindName = namedEnum('EmailKind', 'Content of an e-mail.', MAIL_KINDS, {
  RECEIPT: 'The receipt for a person, with PDF and XML.',
  EXCHANGE: 'The sobre between companies, to a receiver that issues CFEs itself.',
});

export const MailStatusName = namedEnum('EmailStatus', 'Status of an e-mail.', MAIL_STATUSES, {
  PENDING: 'In progress; it may be retried.',
  SENT: 'The mail server accepted it.',
  FAILED: 'Refused permanently, or the last retry failed.',
  DISABLED: 'Not sent: no mail server is configured.',
});

export const MailErrorName = namedEnum('EmailError', 'Why an e-mail was not accepted.', MAIL_ERRORS, {
  refused: 'The mail server refused it: with a code 4xx temporarily, with 5xx permanently.',
  login: 'The mail server does not accept the login of the service.',
  dns: 'The mail server was not found.',
  tls: 'The connection to the mail server was not secure.',
  connection_refused: 'The mail server was not reached.',
  connection: 'The connection to the mail server broke.',
  timeout: 'The mail server did not answer in time.',
  print: 'The receipt could not be printed: a bug of the service.',
  address: 'Mail servers do not accept this form of address.',
  sandbox: 'A receipt of the sandbox to an address that the operator has not allowed.',
  cfe_rejected: 'The CFE was rejected before the e-mail was sent.',
  account_limit: 'The account has reached its daily limit of e-mails; it is retried.',
  mailbox_limit: 'The mailbox has reached its daily limit of e-mails; it is retried.',
  bounced: 'The address permanently refused an earlier e-mail of the account.',
  transferred: 'The enterprise was transferred to another account before the e-mail was sent.',
});

export const PaymentStatusName = namedEnum('PaymentStatus', 'Status of a payment.', PAYMENT_STATUSES, {
  PENDING: 'To be paid at `redirect_url`.',
  PAID: 'Paid.',
  CANCELLED: 'No longer due.',
});

export const LoginResultName = namedEnum(
  'LoginResult',
  'Result of a check of the e-invoicing login.',
  LOGIN_RESULTS,
  {
    success: 'The login succeeded.',
    failed: 'The login failed: the authority does not accept username and password.',
    permissions_updated: 'The login succeeded, as before, and the permissions have changed.',
  },
);

export const CfeMoveReasonName = namedEnum(
  'CfeMoveReason',
  'Why the verdict on a CFE changed.',
  CFE_MOVE_REASONS,
  {
    'rejection.withdrawn': 'The authority accepted, in its portal, a CFE that it had rejected for E06.',
  },
);

export const AuthorityStatusName = namedEnum(
  'AuthorityStatus',
  'Availability of the tax authority in an environment.',
  AUTHORITY_STATUSES,
  {
    UP: 'It answers, and no CFE has waited for it for more than a minute.',
    SLOW: 'It answers, and the oldest waiting CFE has waited for more than a minute.',
    DOWN: 'It does not answer: the service sends only occasional probes. CFEs are accepted as usual, and wait.',
  },
);

export const AuthorityChangeName = namedEnum(
  'AuthorityChange',
  'Change in the availability of the tax authority.',
  AUTHORITY_CHANGES,
  { UP: 'It answers again.', DOWN: 'It has stopped answering; CFEs are accepted as usual, and wait.' },
);

export const DeliveryStatusName = namedEnum(
  'DeliveryStatus',
  'Status of the delivery of an event to a webhook.',
  DELIVERY_STATUSES,
  {
    PENDING: 'In progress, or waiting for its next attempt.',
    DELIVERED: 'The receiver answered with 2xx.',
    FAILED: 'The last retry failed.',
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
