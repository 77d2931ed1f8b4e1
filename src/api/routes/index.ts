import type { Route } from '../route.ts';
import { createBranch } from './createBranch.ts';
import { createCustomer } from './createCustomer.ts';
import { createEnterprise } from './createEnterprise.ts';
import { createToken } from './createToken.ts';
import { deleteBranch } from './deleteBranch.ts';
import { deleteCustomer } from './deleteCustomer.ts';
import { getAuthority } from './getAuthority.ts';
import { getCertificate } from './getCertificate.ts';
import { getCfe } from './getCfe.ts';
import { getCfePdf } from './getCfePdf.ts';
import { getCfeXml } from './getCfeXml.ts';
import { getCredentialsStatus } from './getCredentialsStatus.ts';
import { getDailyReport } from './getDailyReport.ts';
import { getDailyReportXml } from './getDailyReportXml.ts';
import { getEnterprise } from './getEnterprise.ts';
import { issueCfe } from './issueCfe.ts';
import { listBranches } from './listBranches.ts';
import { listCaes } from './listCaes.ts';
import { listCfes } from './listCfes.ts';
import { listCustomers } from './listCustomers.ts';
import { listDailyReports } from './listDailyReports.ts';
import { listEnterprises } from './listEnterprises.ts';
import { listEvents } from './listEvents.ts';
import { listMails } from './listMails.ts';
import { lookUpRut, lookUpRutAlias } from './lookUpRut.ts';
import { sendMail } from './sendMail.ts';
import { updateBranch } from './updateBranch.ts';
import { updateCustomer } from './updateCustomer.ts';
import { patchEnterprise, updateEnterprise } from './updateEnterprise.ts';
import { uploadCae } from './uploadCae.ts';
import { uploadCertificate } from './uploadCertificate.ts';
import { validateCredentials } from './validateCredentials.ts';

/** Every route below /v1, one file each, in the order of openapi.json. */
export const ROUTES: readonly Route[] = [
  createToken,
  createEnterprise,
  listEnterprises,
  getEnterprise,
  updateEnterprise,
  patchEnterprise,
  createBranch,
  listBranches,
  updateBranch,
  deleteBranch,
  lookUpRut,
  lookUpRutAlias,
  getCredentialsStatus,
  validateCredentials,
  uploadCertificate,
  getCertificate,
  uploadCae,
  listCaes,
  createCustomer,
  listCustomers,
  updateCustomer,
  deleteCustomer,
  issueCfe,
  listCfes,
  getCfe,
  getCfePdf,
  getCfeXml,
  listDailyReports,
  getDailyReport,
  getDailyReportXml,
  sendMail,
  listMails,
  listEvents,
  getAuthority,
];
