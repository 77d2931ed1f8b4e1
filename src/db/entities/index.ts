import { Account } from './Account.ts';
import { AccountInvitation } from './AccountInvitation.ts';
import { Annulment } from './Annulment.ts';
import { ApiKey } from './ApiKey.ts';
import { AuditEntry } from './AuditEntry.ts';
import { AuthorityCertificate } from './AuthorityCertificate.ts';
import { AuthorityEndpoint } from './AuthorityEndpoint.ts';
import { Branch } from './Branch.ts';
import { Cae } from './Cae.ts';
import { Certificate } from './Certificate.ts';
import { Cfe } from './Cfe.ts';
import { ConsoleSession } from './ConsoleSession.ts';
import { CredentialsChecks } from './CredentialsChecks.ts';
import { Customer } from './Customer.ts';
import { DailyReport } from './DailyReport.ts';
import { Delivery } from './Delivery.ts';
import { DeliveryAttempt } from './DeliveryAttempt.ts';
import { DirectoryEntry } from './DirectoryEntry.ts';
import { Enterprise } from './Enterprise.ts';
import { EnterpriseGrant } from './EnterpriseGrant.ts';
import { Event } from './Event.ts';
import { Exchange } from './Exchange.ts';
import { ExchangeRate } from './ExchangeRate.ts';
import { Invitation } from './Invitation.ts';
import { Logo } from './Logo.ts';
import { Mail } from './Mail.ts';
import { MailAttempt } from './MailAttempt.ts';
import { Membership } from './Membership.ts';
import { OutboxMessage } from './OutboxMessage.ts';
import { Payment } from './Payment.ts';
import { Person } from './Person.ts';
import { Plan } from './Plan.ts';
import { QueueEntry } from './QueueEntry.ts';
import { RateLimit } from './RateLimit.ts';
import { ReceiptExport } from './ReceiptExport.ts';
import { ReceiptExportPart } from './ReceiptExportPart.ts';
import { ReportDuty } from './ReportDuty.ts';
import { ReportSubmission } from './ReportSubmission.ts';
import { Run } from './Run.ts';
import { RunItem } from './RunItem.ts';
import { SavedFilter } from './SavedFilter.ts';
import { Sobre } from './Sobre.ts';
import { UiValue } from './UiValue.ts';
import { Warning } from './Warning.ts';
import { Webhook } from './Webhook.ts';

/** Every entity, one per table. */
export const ENTITIES = [
  Account,
  AccountInvitation,
  Annulment,
  ApiKey,
  AuditEntry,
  AuthorityCertificate,
  AuthorityEndpoint,
  QueueEntry,
  Branch,
  Cae,
  Certificate,
  Cfe,
  ConsoleSession,
  CredentialsChecks,
  Customer,
  DailyReport,
  Delivery,
  DeliveryAttempt,
  DirectoryEntry,
  Enterprise,
  EnterpriseGrant,
  Event,
  ExchangeRate,
  Exchange,
  Invitation,
  Logo,
  Mail,
  MailAttempt,
  Membership,
  OutboxMessage,
  Payment,
  Person,
  Plan,
  RateLimit,
  ReceiptExport,
  ReceiptExportPart,
  ReportDuty,
  ReportSubmission,
  SavedFilter,
  Run,
  RunItem,
  Sobre,
  UiValue,
  Warning,
  Webhook,
];
