import type { Route } from '../route.ts';
import { createBranchRoute, deleteBranchRoute, listBranchesRoute, updateBranchRoute } from './branches.ts';
import { listCaesRoute, uploadCaeRoute } from './caes.ts';
import { getCertificateRoute, uploadCertificateRoute } from './certificate.ts';
import { getCfePdfRoute, getCfeXmlRoute } from './cfeFiles.ts';
import { createTokenRoute } from './createToken.ts';
import { getCredentialsStatusRoute, validateCredentialsRoute } from './credentials.ts';
import {
  createCustomerRoute,
  deleteCustomerRoute,
  getCustomerRoute,
  listCustomersRoute,
  updateCustomerRoute,
} from './customers.ts';
import { getDailyReportRoute, getDailyReportXmlRoute, listDailyReportsRoute } from './dailyReports.ts';
import {
  createEnterpriseRoute,
  getEnterpriseRoute,
  listEnterprisesRoute,
  patchEnterpriseRoute,
  updateEnterpriseRoute,
} from './enterprises.ts';
import { getAuthorityRoute } from './getAuthority.ts';
import { getCfeRoute } from './getCfe.ts';
import { issueCfeRoute } from './issueCfe.ts';
import { listCfesRoute } from './listCfes.ts';
import { listEventsRoute } from './listEvents.ts';
import { lookUpRutAliasRoute, lookUpRutRoute } from './lookUpRut.ts';
import { listMailsRoute, sendMailRoute } from './mails.ts';

/** Every route below /v1, in the order of openapi.json. */
export const ROUTES: readonly Route[] = [
  createTokenRoute,
  createEnterpriseRoute,
  listEnterprisesRoute,
  getEnterpriseRoute,
  updateEnterpriseRoute,
  patchEnterpriseRoute,
  createBranchRoute,
  listBranchesRoute,
  updateBranchRoute,
  deleteBranchRoute,
  lookUpRutRoute,
  lookUpRutAliasRoute,
  getCredentialsStatusRoute,
  validateCredentialsRoute,
  uploadCertificateRoute,
  getCertificateRoute,
  uploadCaeRoute,
  listCaesRoute,
  createCustomerRoute,
  listCustomersRoute,
  getCustomerRoute,
  updateCustomerRoute,
  deleteCustomerRoute,
  issueCfeRoute,
  listCfesRoute,
  getCfeRoute,
  getCfePdfRoute,
  getCfeXmlRoute,
  listDailyReportsRoute,
  getDailyReportRoute,
  getDailyReportXmlRoute,
  sendMailRoute,
  listMailsRoute,
  listEventsRoute,
  getAuthorityRoute,
];
