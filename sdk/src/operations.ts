/** Made by `npm run generate` from openapi.json. */

/**
 * Method and path of every operation, by its operationId. Those with a sandbox also have how a request selects it: by the
 * key of its caller (key), or by a parameter, with a key of production (query).
 */
export const OPERATIONS = {
  createToken: ['POST', '/tokens', 'key'],
  createEnterprise: ['POST', '/enterprises'],
  listEnterprises: ['GET', '/enterprises'],
  getEnterprise: ['GET', '/enterprises/{rut}'],
  updateEnterprise: ['PUT', '/enterprises/{rut}'],
  patchEnterprise: ['PATCH', '/enterprises/{rut}'],
  createBranch: ['POST', '/enterprises/{rut}/branches'],
  listBranches: ['GET', '/enterprises/{rut}/branches'],
  updateBranch: ['PUT', '/enterprises/{rut}/branches/{branch}'],
  deleteBranch: ['DELETE', '/enterprises/{rut}/branches/{branch}'],
  lookUpRut: ['GET', '/enterprises/{rut}/erut'],
  lookUpRutAlias: ['GET', '/erut/{rut}'],
  getCredentialsStatus: ['GET', '/enterprises/{rut}/efactura-status'],
  validateCredentials: ['POST', '/enterprises/{rut}/validate-efactura'],
  uploadCertificate: ['POST', '/enterprises/{rut}/certificate'],
  getCertificate: ['GET', '/enterprises/{rut}/certificate'],
  uploadCae: ['POST', '/enterprises/{rut}/caes'],
  listCaes: ['GET', '/enterprises/{rut}/caes'],
  createCustomer: ['POST', '/enterprises/{rut}/customers'],
  listCustomers: ['GET', '/enterprises/{rut}/customers'],
  getCustomer: ['GET', '/enterprises/{rut}/customers/{doc_type}/{doc_number}'],
  updateCustomer: ['PUT', '/enterprises/{rut}/customers/{doc_type}/{doc_number}'],
  deleteCustomer: ['DELETE', '/enterprises/{rut}/customers/{doc_type}/{doc_number}'],
  issueCfe: ['POST', '/enterprises/{rut}/cfes', 'key'],
  listCfes: ['GET', '/enterprises/{rut}/cfes', 'query'],
  getCfe: ['GET', '/enterprises/{rut}/cfes/{cfe_id}', 'query'],
  getCfePdf: ['GET', '/enterprises/{rut}/cfes/{cfe_id}/pdf', 'query'],
  getCfeXml: ['GET', '/enterprises/{rut}/cfes/{cfe_id}/xml', 'query'],
  listDailyReports: ['GET', '/enterprises/{rut}/daily-reports'],
  getDailyReport: ['GET', '/enterprises/{rut}/daily-reports/{date}'],
  getDailyReportXml: ['GET', '/enterprises/{rut}/daily-reports/{date}/xml'],
  sendMail: ['POST', '/enterprises/{rut}/cfes/{cfe_id}/emails'],
  listMails: ['GET', '/enterprises/{rut}/cfes/{cfe_id}/emails', 'query'],
  listEvents: ['GET', '/events'],
  getAuthority: ['GET', '/authority', 'key'],
} as const;

/** Names of fields with decimals, in any object; all other numbers are integers. */
export const DECIMAL_FIELDS = [
  'amount',
  'count',
  'exchange_rate',
  'export_amount',
  'item_amount',
  'non_billable_amount',
  'pay_amount',
  'tax_basic_amount',
  'tax_basic_net_amount',
  'tax_free_amount',
  'tax_minimum_amount',
  'tax_minimum_net_amount',
  'total_amount',
  'unit_price',
] as const;
