import type { Route } from '../route.ts';
import { createBranch, deleteBranch, listBranches, updateBranch } from './branches.ts';
import { listCaes, uploadCae } from './caes.ts';
import { getCertificate, uploadCertificate } from './certificate.ts';
import { getCfePdf, getCfeXml } from './cfeFiles.ts';
import { createToken } from './createToken.ts';
import { getCredentialsStatus, validateCredentials } from './credentials.ts';
import { createCustomer, deleteCustomer, getCustomer, listCustomers, updateCustomer } from './customers.ts';
import { getDailyReport, getDailyReportXml, listDailyReports } from './dailyReports.ts';
import {
  createEnterprise,
  getEnterprise,
  listEnterprises,
  patchEnterprise,
  updateEnterprise,
} from './enterprises.ts';
import { getAuthority } from './getAuthority.ts';
import { getCfe } from './getCfe.ts';
import { issueCfe } from './issueCfe.ts';
import { listCfes } from './listCfes.ts';
import { listEvents } from './listEvents.ts';
import { lookUpRut, lookUpRutAlias } from './lookUpRut.ts';
import { listMails, sendMail } from './mails.ts';

/** Every route below /v1, in the order of openapi.json. */
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
  getCustomer,
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
