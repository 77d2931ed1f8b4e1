import type { Route } from '../route.ts';
import { getAuthorityRoute } from './authority/getAuthority.ts';
import {
  createBranchRoute,
  deleteBranchRoute,
  listBranchesRoute,
  updateBranchRoute,
} from './enterprises/branches.ts';
import { getCertificateRoute, uploadCertificateRoute } from './enterprises/certificate.ts';
import { getCredentialsStatusRoute, validateCredentialsRoute } from './enterprises/credentials.ts';
import {
  createCustomerRoute,
  deleteCustomerRoute,
  getCustomerRoute,
  listCustomersRoute,
  updateCustomerRoute,
} from './enterprises/customers.ts';
import {
  createEnterpriseRoute,
  getEnterpriseRoute,
  listEnterprisesRoute,
  patchEnterpriseRoute,
  updateEnterpriseRoute,
} from './enterprises/enterprises.ts';
import {
  getHomologationRoute,
  startHomologationRoute,
  stopHomologationRoute,
} from './enterprises/homologation.ts';
import { lookUpRutAliasRoute, lookUpRutRoute } from './enterprises/lookUpRut.ts';
import { listMailsRoute, sendMailRoute } from './mail/mails.ts';
import { listCaesRoute, uploadCaeRoute } from './numbers/caes.ts';
import { createTokenRoute } from './people/createToken.ts';
import { getCfePdfRoute, getCfeXmlRoute } from './receipts/cfeFiles.ts';
import { creditCfeRoute, getCreditRoute } from './receipts/creditCfe.ts';
import { getCfeRoute } from './receipts/getCfe.ts';
import { issueCfeRoute } from './receipts/issueCfe.ts';
import { listCfesRoute } from './receipts/listCfes.ts';
import { previewCfeRoute } from './receipts/previewCfe.ts';
import {
  getDailyReportRoute,
  getDailyReportXmlRoute,
  listDailyReportsRoute,
} from './reports/dailyReports.ts';
import { listEventsRoute } from './webhooks/listEvents.ts';

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
  previewCfeRoute,
  listCfesRoute,
  getCfeRoute,
  getCfePdfRoute,
  getCfeXmlRoute,
  creditCfeRoute,
  getCreditRoute,
  listDailyReportsRoute,
  getDailyReportRoute,
  getDailyReportXmlRoute,
  startHomologationRoute,
  getHomologationRoute,
  stopHomologationRoute,
  sendMailRoute,
  listMailsRoute,
  listEventsRoute,
  getAuthorityRoute,
];
