/** One event of each name, created by the service's own code: the examples of the document. */

import {
  enterpriseChanges,
  enterpriseObject,
  type FullEnterprise,
} from '../../domain/enterprises/enterpriseObject.ts';
import type { EventName } from '../../domain/webhooks/events.ts';
import {
  authorityUpdated,
  caeExpiring,
  caeLow,
  certificateExpiring,
  cfeUpdated,
  dailyReportUpdated,
  efacturaLogin,
  enterpriseUpdated,
  eventBody,
  homologationUpdated,
  paymentCreated,
  receiptDelivered,
  receiptFailed,
  type WebhookEvent,
  webhookTest,
} from '../../domain/webhooks/webhookEvents.ts';

const NOW = new Date('2026-11-20T15:00:00.000Z');
const RUT = '219000090011';

const ENTERPRISE = {
  rut: RUT,
  legalName: 'Almacén Demo SA',
  tradeName: 'Almacén Demo',
  streetName: 'Rincón 500',
  localityName: 'Montevideo',
  departmentName: 'Montevideo',
  branch: 1,
  isNewEnterprise: false,
  efacturaStatus: 'VALID',
  loginStatus: 'SUCCESS',
  permissions: ['HOMO', 'PROD'],
} as const;

const objectOf = (status: FullEnterprise['enterprise']['status']) =>
  enterpriseObject({ enterprise: { ...ENTERPRISE, status }, certificate: null, caes: [], uiValues: [] }, NOW);

const MAILED = { rut: RUT, environment: 'production', type: 'EFACTURA', sequence: 7 } as const;
const MAIL = { id: '0c0e1ab1-0000-4000-8000-000000000004', kind: 'RECEIPT' } as const;

/** The sample of each event, by name. @internal exported for tests */
export const SAMPLE_EVENTS: { readonly [N in EventName]: Extract<WebhookEvent, { name: N }> } = {
  'enterprise.updated': enterpriseUpdated(
    objectOf('READY'),
    enterpriseChanges(objectOf('PENDING'), objectOf('READY')),
  ),
  'payment.created': paymentCreated({
    id: '7d9f7c0e-5a3b-4c1d-9e2f-000000000001',
    rut: RUT,
    amount: '990.50',
    currency: 'UYU',
    status: 'PENDING',
    redirectUrl: 'https://pay.example.com/checkout/7d9f7c0e-5a3b-4c1d-9e2f-000000000001',
    createdAt: NOW,
  }),
  'efactura.login': efacturaLogin(ENTERPRISE, 'success'),
  'cfe.updated': cfeUpdated(
    {
      reportOnly: false,
      rut: RUT,
      environment: 'production',
      type: 'ETICKET',
      sequence: 7,
      serie: 'A',
      numero: 12,
      externalId: 'order-4711',
      status: 'REJECTED',
      rejection: [
        { code: 'E05', message: 'No cumple validaciones de Formato comprobantes', detail: 'A-C124' },
      ],
    },
    'RECEIVED',
  ),
  'cae.low': caeLow({ rut: RUT, type: 'ETICKET', numbersLeft: 140, daysLeft: 6 }),
  'cae.expiring': caeExpiring({
    rut: RUT,
    type: 'EFACTURA',
    serie: 'A',
    authorizationNumber: '90260000194',
    numbersLeft: 812,
    expirationDate: '2026-12-20',
    daysLeft: 30,
  }),
  'certificate.expiring': certificateExpiring({ rut: RUT, expirationDate: '2026-11-27', daysLeft: 7 }),
  'daily_report.updated': dailyReportUpdated(
    { rut: RUT, date: '2026-11-19', status: 'RECEIVED', sequence: 1 },
    { status: 'SENT', sequence: 1 },
  ),
  'homologation.updated': homologationUpdated(
    {
      id: '5b3e0c1a-0000-4000-8000-000000000009',
      rut: RUT,
      testSet: 'TESTING',
      status: 'READY_TO_PROCESS',
    },
    'REPORTING',
  ),
  'receipt.delivered': receiptDelivered({ cfe: MAILED, mail: { ...MAIL, status: 'SENT' } }),
  'receipt.failed': receiptFailed({ cfe: MAILED, mail: { ...MAIL, status: 'FAILED' } }),
  'authority.updated': authorityUpdated('production', 'DOWN', new Date('2026-11-20T14:59:58.250Z')),
  'webhook.test': webhookTest('0c0e1ab1-0000-4000-8000-000000000002'),
};

/** A second sample of `enterprise.updated`: the account's own role changed. @internal exported for tests */
export const ROLE_CHANGED = enterpriseUpdated(objectOf('READY'), { role: { from: 'MEMBER', to: null } });

/** Returns the body of a sample, byte for byte as a receiver gets it. */
export const sampleBody = (name: EventName): string => eventBody(SAMPLE_EVENTS[name], NOW);

/** Returns the other samples of an event, each with a summary. */
export const moreSamples = (name: EventName): Readonly<Record<string, [summary: string, body: string]>> =>
  name === 'enterprise.updated'
    ? { role: ['The role of the notified account has changed', eventBody(ROLE_CHANGED, NOW)] }
    : {};
