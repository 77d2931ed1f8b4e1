import type { Page } from '../page.ts';
import * as customers from './enterprises/customers.ts';
import * as enterprise from './enterprises/enterprise.ts';
import * as enterpriseForms from './enterprises/enterpriseForms.ts';
import * as enterprises from './enterprises/enterprises.ts';
import * as help from './help.ts';
import * as audit from './operations/audit.ts';
import * as health from './operations/health.ts';
import * as runs from './operations/runs.ts';
import * as search from './operations/search.ts';
import * as stuck from './operations/stuck.ts';
import * as account from './people/account.ts';
import * as accounts from './people/accounts.ts';
import * as invitation from './people/invitation.ts';
import * as join from './people/join.ts';
import * as keys from './people/keys.ts';
import * as me from './people/me.ts';
import * as members from './people/members.ts';
import * as plan from './people/plan.ts';
import * as savedFilters from './people/savedFilters.ts';
import * as secondFactor from './people/secondFactor.ts';
import * as signIn from './people/signIn.ts';
import * as cfe from './receipts/cfe.ts';
import * as cfes from './receipts/cfes.ts';
import * as exports from './receipts/exports.ts';
import * as report from './reports/report.ts';
import * as reports from './reports/reports.ts';
import * as deliveries from './webhooks/deliveries.ts';
import * as delivery from './webhooks/delivery.ts';
import * as webhook from './webhooks/webhook.ts';
import * as webhooks from './webhooks/webhooks.ts';

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
