import { describe, expect, test } from '@jest/globals';
import { enterpriseChanges, enterpriseObject } from '../../../../src/domain/enterprises/enterpriseObject.ts';
import { checkoutUrl } from '../../../../src/domain/people/payment.ts';
import { efacturaLogin } from '../../../../src/domain/webhooks/webhookEvents.ts';

describe('efacturaLogin', () => {
  test.each([
    ['success', 'SUCCESS', ['HOMO'], ['PROD'], 'The e-invoicing login succeeded.'],
    [
      'failed',
      'FAILED',
      ['HOMO', 'PROD'],
      [],
      'The e-invoicing login failed: the tax authority does not accept the username and password.',
    ],
    [
      'permissions_updated',
      'SUCCESS',
      [],
      ['HOMO', 'PROD'],
      'The e-invoicing login succeeded; its permissions have changed.',
    ],
  ] as const)('tells of %s', (status, loginStatus, permissions, missing_permissions, message) => {
    expect(efacturaLogin({ rut: '219999830019', loginStatus, permissions }, status)).toEqual({
      name: 'efactura.login',
      data: {
        enterprise_rut: '219999830019',
        status,
        login_status: loginStatus,
        permissions,
        missing_permissions,
        message,
      },
    });
  });
});

describe('enterpriseChanges', () => {
  const NOW = new Date('2026-03-02T13:00:00Z');
  const cae = {
    rut: '219999830019',
    type: 'ETICKET',
    serie: 'A',
    numberStart: 1,
    numberEnd: 100,
    lastNumber: 0,
    numbersLeft: 100,
    authorizationNumber: '90110000001',
    issueDate: '2026-01-01',
    expirationDate: '2026-03-02',
  } as const;
  const enterprise = {
    rut: '219999830019',
    legalName: 'Comercial Ñandú S.A.',
    streetName: 'Rincón 501',
    localityName: 'Montevideo',
    departmentName: 'Montevideo',
    branch: 1,
    issuerSince: '2012-03-01',
    status: 'READY',
    isNewEnterprise: false,
    efacturaStatus: 'VALID',
    loginStatus: 'SUCCESS',
    permissions: ['HOMO'],
  } as const;
  const KNOWN = { year: NOW.getUTCFullYear(), value: '6.4208', estimate: false };
  const object = (changes: { lastNumber?: number; numbersLeft?: number }, more = {}, now = NOW) =>
    enterpriseObject(
      {
        enterprise: { ...enterprise, ...more },
        certificate: null,
        caes: [{ ...cae, ...changes }],
        uiValues: [KNOWN],
      },
      now,
    );

  test('are none between equal states, and none when numbers were used', () => {
    expect(enterpriseChanges(object({}), object({}))).toEqual({});
    expect(enterpriseChanges(object({}), object({ lastNumber: 57, numbersLeft: 43 }))).toEqual({});
    const usedUp = object({ lastNumber: 100, numbersLeft: 0 });
    expect(usedUp.warnings).toMatchObject([{ code: 'enterprise.no_numbers' }]);
    expect(enterpriseChanges(object({}), usedUp)).toEqual({});
  });

  test('are every field that differs, those that follow from others too', () => {
    const changes = enterpriseChanges(object({}), object({}, { permissions: ['HOMO', 'PROD'] }));

    expect(Object.keys(changes)).toEqual(['is_authorized_issuer', 'efactura_metadata']);
    expect(changes['is_authorized_issuer']).toEqual({ from: false, to: true });
  });

  test('are there when a day passes and a CAE expires with it', () => {
    const changes = enterpriseChanges(object({}), object({}, {}, new Date('2026-03-03T13:00:00Z')));

    expect(changes).toEqual({
      caes: {
        from: [expect.objectContaining({ status: 'OK' })],
        to: [expect.objectContaining({ status: 'EXPIRED' })],
      },
    });
  });
});

describe('checkoutUrl', () => {
  test.each([
    ['https://pay.example', 'https://pay.example/1'],
    ['https://pay.example/checkout/', 'https://pay.example/checkout/1'],
    ['https://pay.example/checkout?lang=es', 'https://pay.example/checkout/1?lang=es'],
  ])('%s with the payment 1 is %s', (base, url) => {
    expect(checkoutUrl(base, '1')).toBe(url);
  });
});
