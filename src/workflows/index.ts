/** All workflows, for the worker's bundle. */
export { bulkRun } from './bulkRun.ts';
export { checkCaeStart } from './checkCaeStart.ts';
export { deliverReceipt, deliverWebhook } from './deliveries.ts';
export { exchangeCfe } from './exchangeCfe.ts';
export { exportReceipts } from './exportReceipts.ts';
export { homologation } from './homologation.ts';
export { issueCfes } from './issueCfes.ts';
export { onboardEnterprise } from './onboardEnterprise.ts';
export { reportDay } from './reportDay.ts';
export {
  askRejected,
  loadDirectory,
  purgeExpired,
  recoverRuns,
  startDailyReports,
  tellExpiries,
} from './scheduled.ts';
export { validateCredentials } from './validateCredentials.ts';
