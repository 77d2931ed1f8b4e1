import type { Route } from '../route.ts';
import { createCustomer } from './createCustomer.ts';
import { createEnterprise } from './createEnterprise.ts';
import { createToken } from './createToken.ts';
import { deleteCustomer } from './deleteCustomer.ts';
import { getCertificate } from './getCertificate.ts';
import { getCfe } from './getCfe.ts';
import { getCredentialsStatus } from './getCredentialsStatus.ts';
import { getEnterprise } from './getEnterprise.ts';
import { issueCfe } from './issueCfe.ts';
import { listCaes } from './listCaes.ts';
import { listCfes } from './listCfes.ts';
import { listCustomers } from './listCustomers.ts';
import { lookUpRut, lookUpRutAlias } from './lookUpRut.ts';
import { updateCustomer } from './updateCustomer.ts';
import { patchEnterprise, updateEnterprise } from './updateEnterprise.ts';
import { uploadCae } from './uploadCae.ts';
import { uploadCertificate } from './uploadCertificate.ts';
import { validateCredentials } from './validateCredentials.ts';

/** Every route below /v1, one file each, in the order of openapi.json. */
export const ROUTES: readonly Route[] = [
  createToken,
  createEnterprise,
  getEnterprise,
  updateEnterprise,
  patchEnterprise,
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
];
