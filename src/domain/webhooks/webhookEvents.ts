/** The `data` in the body of each event (events.ts). */
import type { AuthorityChange } from '../authority/authorityStatus.ts';
import type { EnterpriseChanges, EnterpriseObject } from '../enterprises/enterpriseObject.ts';
import { type LoginStatus, missingPermissions, type Permission } from '../enterprises/enterpriseStatus.ts';
import type { TestRunStatus, TestSet } from '../enterprises/homologation.ts';
import type { MailKind, MailStatus } from '../mail/mail.ts';
import type { PaymentStatus } from '../people/payment.ts';
import { formatCfeId } from '../receipts/cfeId.ts';
import type { CfeStatus } from '../receipts/cfeStatus.ts';
import type { CfeType, Environment } from '../receipts/cfeTypes.ts';
import type { RejectionReason } from '../receipts/rejection.ts';
import { transmissionOf } from '../receipts/transmission.ts';
import type { ReportStatus } from '../reports/reportStatus.ts';
import { exactNumber } from '../values/exactNumber.ts';
import type { EventName } from './events.ts';

/** Why a final status changed: the authority accepted a CFE that it had rejected for E06. */
export const CFE_MOVE_REASONS = ['rejection.withdrawn'] as const;
export type CfeMoveReason = (typeof CFE_MOVE_REASONS)[number];

/** Result of a check of the e-invoicing login (docs/contract.md#credentials). */
export const LOGIN_RESULTS = ['success', 'failed', 'permissions_updated'] as const;
export type LoginResult = (typeof LOGIN_RESULTS)[number];

/** Any event that the functions below create. */
export type WebhookEvent = ReturnType<
  | typeof enterpriseUpdated
  | typeof paymentCreated
  | typeof efacturaLogin
  | typeof cfeUpdated
  | typeof caeLow
  | typeof caeExpiring
  | typeof certificateExpiring
  | typeof dailyReportUpdated
  | typeof homologationUpdated
  | typeof receiptDelivered
  | typeof receiptFailed
  | typeof authorityUpdated
  | typeof webhookTest
>;

const event = <const N extends EventName, D>(name: N, data: D) => ({ name, data });

/** Returns the body for a change at `at`, with exact amounts. */
export function eventBody({ name, data }: WebhookEvent, at: Date): string {
  return JSON.stringify({ event: name, timestamp: at.toISOString(), data });
}

/** Reports changed fields of the enterprise object. */
export function enterpriseUpdated(after: EnterpriseObject, changes: EnterpriseChanges) {
  const { rut, legal_name, trade_name, status } = after;
  return event('enterprise.updated', { rut, legal_name, trade_name, status, changes });
}

/** Warns that the numbers of a type are low. */
export function caeLow(low: {
  readonly rut: string;
  readonly type: CfeType;
  readonly numbersLeft: number;
  readonly daysLeft: number | null;
}) {
  const { rut, type, numbersLeft, daysLeft } = low;
  return event('cae.low', {
    enterprise_rut: rut,
    cfe_type: type,
    numbers_left: numbersLeft,
    days_left: daysLeft,
  });
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
}) {
  return event('cae.expiring', {
    enterprise_rut: cae.rut,
    cfe_type: cae.type,
    serie: cae.serie,
    authorization_number: cae.authorizationNumber,
    numbers_left: cae.numbersLeft,
    expiration_date: cae.expirationDate,
    days_left: cae.daysLeft,
  });
}

/** Warns that a certificate expires soon. */
export function certificateExpiring(certificate: {
  readonly rut: string;
  readonly expirationDate: string;
  readonly daysLeft: number;
}) {
  const { rut, expirationDate, daysLeft } = certificate;
  return event('certificate.expiring', {
    enterprise_rut: rut,
    expiration_date: expirationDate,
    days_left: daysLeft,
  });
}

/** Reports a new payment. */
export function paymentCreated(payment: {
  readonly id: string;
  readonly rut: string;
  /** Decimal text. */
  readonly amount: string;
  readonly currency: string;
  readonly status: PaymentStatus;
  readonly redirectUrl: string;
  readonly createdAt: Date;
}) {
  return event('payment.created', {
    payment_id: payment.id,
    enterprise_rut: payment.rut,
    amount: exactNumber(payment.amount),
    currency: payment.currency,
    status: payment.status,
    redirect_url: payment.redirectUrl,
    created_at: payment.createdAt.toISOString(),
  });
}

const LOGIN_MESSAGES: Readonly<Record<LoginResult, string>> = {
  success: 'The e-invoicing login succeeded.',
  failed: 'The e-invoicing login failed: the tax authority does not accept the username and password.',
  permissions_updated: 'The e-invoicing login succeeded; its permissions have changed.',
};

/** Reports the result of a check of the e-invoicing login. `enterprise`: its state afterwards. */
export function efacturaLogin(
  enterprise: {
    readonly rut: string;
    readonly loginStatus: LoginStatus;
    readonly permissions: readonly Permission[];
  },
  result: LoginResult,
) {
  const { rut, loginStatus, permissions } = enterprise;
  const missing: readonly Permission[] = missingPermissions(permissions);
  return event('efactura.login', {
    enterprise_rut: rut,
    status: result,
    login_status: loginStatus,
    permissions,
    missing_permissions: missing,
    message: LOGIN_MESSAGES[result],
  });
}

/** Reports a changed CFE. `cfe`: its state afterwards. */
export function cfeUpdated(
  cfe: {
    readonly rut: string;
    readonly environment: Environment;
    readonly type: CfeType;
    readonly sequence: number;
    readonly serie: string;
    readonly numero: number;
    readonly externalId: string | null;
    readonly status: CfeStatus;
    readonly reportOnly: boolean;
    readonly rejection?: readonly RejectionReason[] | null | undefined;
  },
  from: CfeStatus,
  reason?: CfeMoveReason,
) {
  const rejection: readonly RejectionReason[] | null =
    cfe.rejection?.map(({ code, message, detail }) => ({ code, message, detail })) ?? null;
  return event('cfe.updated', {
    enterprise_rut: cfe.rut,
    environment: cfe.environment,
    cfe_id: formatCfeId(cfe),
    cfe_type: cfe.type,
    serie: cfe.serie,
    numero: cfe.numero,
    external_id: cfe.externalId,
    status: cfe.status,
    // A CFE that is not sent is signed at its first change, unless it is rejected.
    transmission: transmissionOf({ ...cfe, isSigned: true }),
    changes: { cfe_status: { from, to: cfe.status } },
    rejection,
    ...(reason ? { reason } : {}),
  });
}

/** Reports a changed daily report. `report`: its state afterwards. */
export function dailyReportUpdated(
  report: {
    readonly rut: string;
    readonly date: string;
    readonly status: ReportStatus;
    readonly sequence: number | null;
  },
  from: { readonly status: ReportStatus; readonly sequence: number | null },
) {
  const { rut, date, status, sequence } = report;
  return event('daily_report.updated', {
    enterprise_rut: rut,
    date,
    status,
    sequence,
    changes: {
      ...(from.status === status ? {} : { status: { from: from.status, to: status } }),
      ...(from.sequence === sequence ? {} : { sequence: { from: from.sequence, to: sequence } }),
    },
  });
}

/** Reports a changed test run. `run`: its state afterwards. */
export function homologationUpdated(
  run: {
    readonly id: string;
    readonly rut: string;
    readonly testSet: TestSet;
    readonly status: TestRunStatus;
  },
  from: TestRunStatus,
) {
  return event('homologation.updated', {
    enterprise_rut: run.rut,
    homologation_id: run.id,
    set: run.testSet,
    status: run.status,
    changes: { status: { from, to: run.status } },
  });
}

/** An e-mail and its CFE. */
interface MailedReceipt {
  readonly cfe: {
    readonly rut: string;
    readonly environment: Environment;
    readonly type: CfeType;
    readonly sequence: number;
  };
  readonly mail: { readonly id: string; readonly kind: MailKind; readonly status: MailStatus };
}

const receiptMailed = ({ cfe, mail }: MailedReceipt) => ({
  enterprise_rut: cfe.rut,
  environment: cfe.environment,
  cfe_id: formatCfeId(cfe),
  mail_id: mail.id,
  kind: mail.kind,
  status: mail.status,
});

/** Reports that the mail server accepted an e-mail with a CFE. */
export const receiptDelivered = (mailed: MailedReceipt) => event('receipt.delivered', receiptMailed(mailed));

/** Reports that an e-mail with a CFE was refused or given up. */
export const receiptFailed = (mailed: MailedReceipt) => event('receipt.failed', receiptMailed(mailed));

/** Reports that the authority has stopped answering, or answers again, since a moment. */
export const authorityUpdated = (environment: Environment, status: AuthorityChange, since: Date) =>
  event('authority.updated', { environment, status, since: since.toISOString() });

/** Creates an event that tests a receiver. */
export const webhookTest = (webhookId: string) =>
  event('webhook.test', { webhook_id: webhookId, message: 'This is a test; nothing has happened.' });
