/** All workflows, one file per process: what the worker bundles. */
export { askRejected } from './askRejected.ts';
export { bulkRun } from './bulkRun.ts';
export { deliverReceipt } from './deliverReceipt.ts';
export { deliverWebhook } from './deliverWebhook.ts';
export { exchangeCfe } from './exchangeCfe.ts';
export { exportReceipts } from './exportReceipts.ts';
export { issueCfe } from './issueCfe.ts';
export { loadDirectory } from './loadDirectory.ts';
export { onboardEnterprise } from './onboardEnterprise.ts';
export { purgeExpired } from './purgeExpired.ts';
export { reportDay } from './reportDay.ts';
export { startDailyReports } from './startDailyReports.ts';
export { tellExpiries } from './tellExpiries.ts';
export { validateCredentials } from './validateCredentials.ts';
