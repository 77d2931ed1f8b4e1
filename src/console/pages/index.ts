import type { Page } from '../page.ts';
import {
  accountPage,
  sendDisable,
  sendEnd,
  sendGrant,
  sendInvite,
  sendLimit,
  sendPerson,
  sendRemoveGrant,
} from './account.ts';
import { accountListPage, sendAccount } from './accounts.ts';
import { auditListPage } from './audit.ts';
import {
  cfeExchangePage,
  cfePage,
  cfeXmlPage,
  sendCfeMail,
  sendCfeMailAgain,
  sendCfeSupport,
} from './cfe.ts';
import { cfesPage } from './cfes.ts';
import {
  customerPage,
  customersPage,
  sendCustomer,
  sendCustomerChange,
  sendCustomerDelete,
} from './customers.ts';
import { deliveriesPage } from './deliveries.ts';
import { deliveryPage, sendRedeliver } from './delivery.ts';
import { enterpriseLogo, enterprisePage } from './enterprise.ts';
import * as enterpriseForms from './enterpriseForms.ts';
import { enterprisesPage, papersPage } from './enterprises.ts';
import { exportsPage, exportZip, sendExport, sendStopExport } from './exports.ts';
import { healthPage } from './health.ts';
import { helpPage } from './help.ts';
import { invitationPage, sendInvitation } from './invitation.ts';
import { joinPage, sendJoin } from './join.ts';
import { keysPage, sendKey, sendRevokeKey } from './keys.ts';
import { mePage, sendEndSessions, sendLanguage, sendPassword } from './me.ts';
import {
  membersPage,
  sendMemberInvitation,
  sendMemberRole,
  sendRemoveMember,
  sendWithdrawInvitation,
} from './members.ts';
import { enterprisePlanPage, payPage, planPage, sendPlan } from './plan.ts';
import { reportPage, reportXml, sendReportNow, sendRetryReport, sendSettleReport } from './report.ts';
import { ratesPage, reportsPage } from './reports.ts';
import { newRunPage, runPage, runsPage, sendRun, sendStopRun } from './runs.ts';
import { sendDeleteFilter, sendSavedFilter } from './savedFilters.ts';
import { searchPage } from './search.ts';
import { secondFactorPage, sendSecondFactor, sendSecondFactorOff } from './secondFactor.ts';
import { codePage, oidcPage, oidcReturn, sendCode, sendSignIn, sendSignOut, signInPage } from './signIn.ts';
import { stuckPage } from './stuck.ts';
import {
  sendWebhookChange,
  sendWebhookEnabled,
  sendWebhookRemove,
  sendWebhookSecret,
  sendWebhookTest,
  webhookPage,
} from './webhook.ts';
import { sendWebhook, webhooksPage } from './webhooks.ts';

/** Every page and form of the console. */
export const PAGES: readonly Page[] = [
  healthPage,
  enterprisesPage,
  papersPage,
  enterprisePage,
  enterpriseLogo,
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
  reportsPage,
  reportPage,
  reportXml,
  sendReportNow,
  sendRetryReport,
  sendSettleReport,
  ratesPage,
  searchPage,
  cfesPage,
  exportsPage,
  sendExport,
  sendStopExport,
  exportZip,
  signInPage,
  sendSignIn,
  codePage,
  sendCode,
  oidcPage,
  oidcReturn,
  sendSignOut,
  invitationPage,
  sendInvitation,
  mePage,
  sendEndSessions,
  sendPassword,
  secondFactorPage,
  sendSecondFactor,
  sendSecondFactorOff,
  sendLanguage,
  helpPage,
  sendSavedFilter,
  sendDeleteFilter,
  auditListPage,
  accountListPage,
  sendAccount,
  accountPage,
  sendLimit,
  sendGrant,
  sendRemoveGrant,
  sendPerson,
  sendInvite,
  sendDisable,
  sendEnd,
  webhooksPage,
  sendWebhook,
  webhookPage,
  sendWebhookChange,
  sendWebhookEnabled,
  sendWebhookTest,
  sendWebhookSecret,
  sendWebhookRemove,
  deliveriesPage,
  deliveryPage,
  sendRedeliver,
  keysPage,
  sendKey,
  sendRevokeKey,
  membersPage,
  sendMemberInvitation,
  sendWithdrawInvitation,
  sendMemberRole,
  sendRemoveMember,
  joinPage,
  sendJoin,
  planPage,
  enterprisePlanPage,
  sendPlan,
  payPage,
  cfePage,
  cfeXmlPage,
  cfeExchangePage,
  sendCfeSupport,
  sendCfeMail,
  sendCfeMailAgain,
  customersPage,
  sendCustomer,
  customerPage,
  sendCustomerChange,
  sendCustomerDelete,
  stuckPage,
  newRunPage,
  sendRun,
  runsPage,
  runPage,
  sendStopRun,
];
