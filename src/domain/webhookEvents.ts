/** The events (docs/contract.md#events): their names, and the `data` of each. */
import type { AuthorityChange } from './authorityStatus.ts';
import { formatCfeId } from './cfeId.ts';
import type { CfeStatus } from './cfeStatus.ts';
import type { CfeType, Environment } from './cfeTypes.ts';
import type { EnterpriseChanges, EnterpriseObject } from './enterpriseObject.ts';
import { type LoginStatus, missingPermissions, type Permission } from './enterpriseStatus.ts';
import { type ExactNumber, exactNumber } from './exactNumber.ts';
import type { MailKind, MailStatus } from './mail.ts';
import type { PaymentStatus } from './paymentStatus.ts';
import type { RejectionReason } from './rejection.ts';
import type { ReportStatus } from './reportStatus.ts';

/** `enterprise.updated`. */
interface EnterpriseUpdated {
  readonly name: 'enterprise.updated';
  readonly data: Pick<EnterpriseObject, 'rut' | 'legal_name' | 'trade_name' | 'status'> & {
    readonly changes: EnterpriseChanges;
  };
}

/** `payment.created`. */
interface PaymentCreated {
  readonly name: 'payment.created';
  readonly data: {
    readonly payment_id: string;
    readonly enterprise_rut: string;
    readonly amount: ExactNumber;
    readonly currency: string;
    readonly status: PaymentStatus;
    readonly redirect_url: string;
    readonly created_at: string;
  };
}

/** `efactura.login`. */
interface EfacturaLogin {
  readonly name: 'efactura.login';
  readonly data: {
    readonly enterprise_rut: string;
    readonly status: LoginResult;
    readonly login_status: LoginStatus;
    readonly permissions: readonly Permission[];
    readonly missing_permissions: readonly Permission[];
    readonly message: string;
  };
}

/** Why a CFE left a final status: the authority has accepted what it rejected for E06. */
export const CFE_MOVE_REASONS = ['rejection.withdrawn'] as const;
export type CfeMoveReason = (typeof CFE_MOVE_REASONS)[number];

/** `cfe.updated` (docs/contract.md#events): sent where it is selected. */
interface CfeUpdated {
  readonly name: 'cfe.updated';
  readonly data: {
    readonly enterprise_rut: string;
    readonly environment: Environment;
    readonly cfe_id: string;
    readonly cfe_type: CfeType;
    readonly serie: string;
    readonly numero: number;
    readonly status: CfeStatus;
    readonly changes: { readonly cfe_status: { readonly from: CfeStatus; readonly to: CfeStatus } };
    /** The reasons, as in the CFE object; null where there are none. */
    readonly rejection: readonly RejectionReason[] | null;
    /** Only where the authority withdrew a rejection. */
    readonly reason?: CfeMoveReason;
  };
}

/** `cae.low` (docs/contract.md#warnings). */
interface CaeLow {
  readonly name: 'cae.low';
  readonly data: {
    readonly enterprise_rut: string;
    readonly cfe_type: CfeType;
    readonly numbers_left: number;
    /** At the pace at which they were used lately; null when none were. */
    readonly days_left: number | null;
  };
}

/** `cae.expiring`. */
interface CaeExpiring {
  readonly name: 'cae.expiring';
  readonly data: {
    readonly enterprise_rut: string;
    readonly cfe_type: CfeType;
    readonly serie: string;
    readonly authorization_number: string;
    readonly numbers_left: number;
    readonly expiration_date: string;
    readonly days_left: number;
  };
}

/** `certificate.expiring`. */
interface CertificateExpiring {
  readonly name: 'certificate.expiring';
  readonly data: {
    readonly enterprise_rut: string;
    readonly expiration_date: string;
    readonly days_left: number;
  };
}

/** A field that has changed. */
interface Change<T> {
  readonly from: T;
  readonly to: T;
}

/** `daily_report.updated` (docs/contract.md#daily-reports): of production's, sent where it is selected. */
interface DailyReportUpdated {
  readonly name: 'daily_report.updated';
  readonly data: {
    readonly enterprise_rut: string;
    readonly date: string;
    readonly status: ReportStatus;
    readonly sequence: number | null;
    /** The fields that changed, and only those. */
    readonly changes: {
      readonly status?: Change<ReportStatus>;
      readonly sequence?: Change<number | null>;
    };
  };
}

/** `data` of `receipt.delivered` and `receipt.failed`. */
interface ReceiptMailed {
  readonly enterprise_rut: string;
  readonly environment: Environment;
  readonly cfe_id: string;
  readonly mail_id: string;
  readonly kind: MailKind;
  readonly status: MailStatus;
}

/** `receipt.delivered` (docs/contract.md#e-mail): sent where it is selected. */
interface ReceiptDelivered {
  readonly name: 'receipt.delivered';
  readonly data: ReceiptMailed;
}

/** `receipt.failed`. */
interface ReceiptFailed {
  readonly name: 'receipt.failed';
  readonly data: ReceiptMailed;
}

/** `authority.updated` (docs/contract.md#the-authority): sent where it is selected. */
interface AuthorityUpdated {
  readonly name: 'authority.updated';
  readonly data: {
    readonly environment: Environment;
    readonly status: AuthorityChange;
    readonly since: string;
  };
}

/** `webhook.test`: sent on request, whatever events are selected. */
interface WebhookTest {
  readonly name: 'webhook.test';
  readonly data: { readonly webhook_id: string; readonly message: string };
}

/** What a customer's server is sent. */
export type WebhookEvent =
  | EnterpriseUpdated
  | PaymentCreated
  | EfacturaLogin
  | CfeUpdated
  | CaeLow
  | CaeExpiring
  | CertificateExpiring
  | DailyReportUpdated
  | ReceiptDelivered
  | ReceiptFailed
  | AuthorityUpdated
  | WebhookTest;

/** How a check of the e-invoicing login ended (docs/contract.md#credentials). */
export const LOGIN_RESULTS = ['success', 'failed', 'permissions_updated'] as const;
export type LoginResult = (typeof LOGIN_RESULTS)[number];

/** The body that a receiver gets for a change made at `at`: its envelope, with exact amounts. */
export function eventBody({ name, data }: WebhookEvent, at: Date): string {
  return JSON.stringify({ event: name, timestamp: at.toISOString(), data });
}

/** Tells that fields of the enterprise object have changed. */
export function enterpriseUpdated(after: EnterpriseObject, changes: EnterpriseChanges): EnterpriseUpdated {
  const { rut, legal_name, trade_name, status } = after;
  return { name: 'enterprise.updated', data: { rut, legal_name, trade_name, status, changes } };
}

/** Warns that the numbers of a type run low. */
export function caeLow(low: {
  readonly rut: string;
  readonly type: CfeType;
  readonly numbersLeft: number;
  readonly daysLeft: number | null;
}): CaeLow {
  const { rut, type, numbersLeft, daysLeft } = low;
  return {
    name: 'cae.low',
    data: { enterprise_rut: rut, cfe_type: type, numbers_left: numbersLeft, days_left: daysLeft },
  };
}

/** Warns that a CAE with numbers left expires soon. */
export function caeExpiring(cae: {
  readonly rut: string;
  readonly type: CfeType;
  readonly serie: string;
  readonly authorizationNumber: string;
  readonly numbersLeft: number;
  readonly expirationDate: string;
  readonly daysLeft: number;
}): CaeExpiring {
  return {
    name: 'cae.expiring',
    data: {
      enterprise_rut: cae.rut,
      cfe_type: cae.type,
      serie: cae.serie,
      authorization_number: cae.authorizationNumber,
      numbers_left: cae.numbersLeft,
      expiration_date: cae.expirationDate,
      days_left: cae.daysLeft,
    },
  };
}

/** Warns that a certificate expires soon. */
export function certificateExpiring(certificate: {
  readonly rut: string;
  readonly expirationDate: string;
  readonly daysLeft: number;
}): CertificateExpiring {
  const { rut, expirationDate, daysLeft } = certificate;
  return {
    name: 'certificate.expiring',
    data: { enterprise_rut: rut, expiration_date: expirationDate, days_left: daysLeft },
  };
}

/** Tells that a payment was created. */
export function paymentCreated(payment: {
  readonly id: string;
  readonly rut: string;
  /** Decimal text. */
  readonly amount: string;
  readonly currency: string;
  readonly status: PaymentStatus;
  readonly redirectUrl: string;
  readonly createdAt: Date;
}): PaymentCreated {
  return {
    name: 'payment.created',
    data: {
      payment_id: payment.id,
      enterprise_rut: payment.rut,
      amount: exactNumber(payment.amount),
      currency: payment.currency,
      status: payment.status,
      redirect_url: payment.redirectUrl,
      created_at: payment.createdAt.toISOString(),
    },
  };
}

const LOGIN_MESSAGES: Readonly<Record<LoginResult, string>> = {
  success: 'The e-invoicing login succeeded.',
  failed: 'The e-invoicing login failed: the tax authority does not accept the username and password.',
  permissions_updated: 'The e-invoicing login succeeded; its permissions have changed.',
};

/** Tells how a check of the e-invoicing login ended, with the enterprise as it stands afterwards. */
export function efacturaLogin(
  enterprise: {
    readonly rut: string;
    readonly loginStatus: LoginStatus;
    readonly permissions: readonly Permission[];
  },
  result: LoginResult,
): EfacturaLogin {
  const { rut, loginStatus, permissions } = enterprise;
  return {
    name: 'efactura.login',
    data: {
      enterprise_rut: rut,
      status: result,
      login_status: loginStatus,
      permissions: [...permissions],
      missing_permissions: missingPermissions(permissions),
      message: LOGIN_MESSAGES[result],
    },
  };
}

/** Tells that a CFE has moved on; `cfe` as it stands afterwards. */
export function cfeUpdated(
  cfe: {
    readonly rut: string;
    readonly environment: Environment;
    readonly type: CfeType;
    readonly sequence: number;
    readonly serie: string;
    readonly numero: number;
    readonly status: CfeStatus;
    readonly rejection?: readonly RejectionReason[] | null | undefined;
  },
  from: CfeStatus,
  reason?: CfeMoveReason,
): CfeUpdated {
  return {
    name: 'cfe.updated',
    data: {
      enterprise_rut: cfe.rut,
      environment: cfe.environment,
      cfe_id: formatCfeId(cfe),
      cfe_type: cfe.type,
      serie: cfe.serie,
      numero: cfe.numero,
      status: cfe.status,
      changes: { cfe_status: { from, to: cfe.status } },
      rejection: cfe.rejection?.map(({ code, message, detail }) => ({ code, message, detail })) ?? null,
      ...(reason ? { reason } : {}),
    },
  };
}

/** Tells that the report of a day has moved on; `report` as it stands afterwards. */
export function dailyReportUpdated(
  report: {
    readonly rut: string;
    readonly date: string;
    readonly status: ReportStatus;
    readonly sequence: number | null;
  },
  from: { readonly status: ReportStatus; readonly sequence: number | null },
): DailyReportUpdated {
  const { rut, date, status, sequence } = report;
  return {
    name: 'daily_report.updated',
    data: {
      enterprise_rut: rut,
      date,
      status,
      sequence,
      changes: {
        ...(from.status === status ? {} : { status: { from: from.status, to: status } }),
        ...(from.sequence === sequence ? {} : { sequence: { from: from.sequence, to: sequence } }),
      },
    },
  };
}

/** An e-mail as it stands, with the CFE that it brings. */
interface MailedReceipt {
  readonly cfe: {
    readonly rut: string;
    readonly environment: Environment;
    readonly type: CfeType;
    readonly sequence: number;
  };
  readonly mail: { readonly id: string; readonly kind: MailKind; readonly status: MailStatus };
}

const receiptMailed = ({ cfe, mail }: MailedReceipt): ReceiptMailed => ({
  enterprise_rut: cfe.rut,
  environment: cfe.environment,
  cfe_id: formatCfeId(cfe),
  mail_id: mail.id,
  kind: mail.kind,
  status: mail.status,
});

/** Tells that the mail server has taken an e-mail with a CFE. */
export const receiptDelivered = (mailed: MailedReceipt): ReceiptDelivered => ({
  name: 'receipt.delivered',
  data: receiptMailed(mailed),
});

/** Tells that an e-mail with a CFE was refused, or given up. */
export const receiptFailed = (mailed: MailedReceipt): ReceiptFailed => ({
  name: 'receipt.failed',
  data: receiptMailed(mailed),
});

/** Tells that the authority does not answer since that moment, or answers again. */
export const authorityUpdated = (
  environment: Environment,
  status: AuthorityUpdated['data']['status'],
  since: Date,
): AuthorityUpdated => ({
  name: 'authority.updated',
  data: { environment, status, since: since.toISOString() },
});

/** An event to try a receiver with. */
export const webhookTest = (webhookId: string): WebhookTest => ({
  name: 'webhook.test',
  data: { webhook_id: webhookId, message: 'This is a test; nothing has happened.' },
});
