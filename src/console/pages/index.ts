import type { Page } from '../page.ts';
import * as account from './account.ts';
import * as accounts from './accounts.ts';
import * as audit from './audit.ts';
import * as cfe from './cfe.ts';
import * as cfes from './cfes.ts';
import * as customers from './customers.ts';
import * as deliveries from './deliveries.ts';
import * as delivery from './delivery.ts';
import * as enterprise from './enterprise.ts';
import * as enterpriseForms from './enterpriseForms.ts';
import * as enterprises from './enterprises.ts';
import * as exports from './exports.ts';
import * as health from './health.ts';
import * as help from './help.ts';
import * as invitation from './invitation.ts';
import * as join from './join.ts';
import * as keys from './keys.ts';
import * as me from './me.ts';
import * as members from './members.ts';
import * as plan from './plan.ts';
import * as report from './report.ts';
import * as reports from './reports.ts';
import * as runs from './runs.ts';
import * as savedFilters from './savedFilters.ts';
import * as search from './search.ts';
import * as secondFactor from './secondFactor.ts';
import * as signIn from './signIn.ts';
import * as stuck from './stuck.ts';
import * as webhook from './webhook.ts';
import * as webhooks from './webhooks.ts';

/** All pages and forms of the console. */
export const PAGES: readonly Page[] = [
  health.healthPage,
  enterprises.enterprisesPage,
  enterprises.papersPage,
  enterprise.enterprisePage,
  enterprise.enterpriseLogo,
  enterpriseForms.sendLogin,
  enterpriseForms.sendCertificate,
  enterpriseForms.sendCae,
  enterpriseForms.sendAnnulment,
  enterpriseForms.sendNewBranch,
  enterpriseForms.sendBranch,
  enterpriseForms.sendCloseBranch,
  enterpriseForms.sendData,
  enterpriseForms.sendLogo,
  enterpriseForms.sendRemoveLogo,
  enterpriseForms.sendGrant,
  enterpriseForms.sendWithdraw,
  enterpriseForms.sendDay,
  enterpriseForms.sendDuty,
  enterpriseForms.sendSuspend,
  enterpriseForms.sendResume,
  enterpriseForms.sendPermission,
  enterpriseForms.sendTransfer,
  reports.reportsPage,
  report.reportPage,
  report.reportXml,
  report.sendReportNow,
  report.sendRetryReport,
  report.sendSettleReport,
  reports.ratesPage,
  search.searchPage,
  cfes.cfesPage,
  exports.exportsPage,
  exports.sendExport,
  exports.sendStopExport,
  exports.exportZip,
  signIn.signInPage,
  signIn.sendSignIn,
  signIn.codePage,
  signIn.sendCode,
  signIn.oidcPage,
  signIn.oidcReturn,
  signIn.sendSignOut,
  invitation.invitationPage,
  invitation.sendInvitation,
  me.mePage,
  me.sendEndSessions,
  me.sendPassword,
  secondFactor.secondFactorPage,
  secondFactor.sendSecondFactor,
  secondFactor.sendSecondFactorOff,
  me.sendLanguage,
  help.helpPage,
  savedFilters.sendSavedFilter,
  savedFilters.sendDeleteFilter,
  audit.auditListPage,
  accounts.accountListPage,
  accounts.sendAccount,
  account.accountPage,
  account.sendLimit,
  account.sendGrant,
  account.sendRemoveGrant,
  account.sendPerson,
  account.sendInvite,
  account.sendDisable,
  account.sendEnd,
  webhooks.webhooksPage,
  webhooks.sendWebhook,
  webhook.webhookPage,
  webhook.sendWebhookChange,
  webhook.sendWebhookEnabled,
  webhook.sendWebhookTest,
  webhook.sendWebhookSecret,
  webhook.sendWebhookRemove,
  deliveries.deliveriesPage,
  delivery.deliveryPage,
  delivery.sendRedeliver,
  keys.keysPage,
  keys.sendKey,
  keys.sendRevokeKey,
  members.membersPage,
  members.sendMemberInvitation,
  members.sendWithdrawInvitation,
  members.sendMemberRole,
  members.sendRemoveMember,
  join.joinPage,
  join.sendJoin,
  plan.planPage,
  plan.enterprisePlanPage,
  plan.sendPlan,
  plan.payPage,
  cfe.cfePage,
  cfe.cfeXmlPage,
  cfe.cfeExchangePage,
  cfe.sendCfeSupport,
  cfe.sendCfeMail,
  cfe.sendCfeMailAgain,
  customers.customersPage,
  customers.sendCustomer,
  customers.customerPage,
  customers.sendCustomerChange,
  customers.sendCustomerDelete,
  stuck.stuckPage,
  runs.newRunPage,
  runs.sendRun,
  runs.runsPage,
  runs.runPage,
  runs.sendStopRun,
];
