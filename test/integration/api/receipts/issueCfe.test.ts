import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { Certificate } from '../../../../src/db/entities/enterprises.ts';
import { Cfe } from '../../../../src/db/entities/receipts.ts';
import { CFE_TYPE_NAMES, CFE_TYPES, type CfeType } from '../../../../src/domain/receipts/cfeTypes.ts';
import { startApi } from '../../../support/api/api.ts';
import { useApi } from '../../../support/api/apiSuite.ts';
import { testsOfEveryEnterpriseRoute } from '../../../support/api/everyRoute.ts';
import { expectFaults, expectRefusal } from '../../../support/api/expectRefusal.ts';
import { outboxOf } from '../../../support/commandDeps.ts';
import {
  anEnterprise,
  aReadyEnterprise,
  giveCae,
  giveCertificate,
} from '../../../support/enterprises/enterprises.ts';
import { aCfeBody, type Body, type CfeWishes } from '../../../support/receipts/cfeBodies.ts';
import { day } from '../../../support/receipts/papers.ts';

const suite = useApi();
const ready = () => aReadyEnterprise(suite.db.orm, suite.owner.accountId);
const path = (rut: string) => `/enterprises/${rut}/cfes`;

interface CfeAnswer {
  cfe_id: string;
  numero: number;
  serie: string;
}

const post = (rut: string, body: unknown) => suite.owner.client.post<CfeAnswer>(path(rut), body);
const issue = (rut: string, wishes: CfeWishes = {}) => post(rut, aCfeBody(wishes));
const stored = (rut: string) => suite.db.orm.em.fork().count(Cfe, { rut });

/** A correct body, changed by `change`. */
function changed(
  change: (body: { header: Record<string, Body>; details: Body[] } & Body) => void,
  wishes: CfeWishes = {},
) {
  const body = structuredClone(aCfeBody(wishes)) as { header: Record<string, Body>; details: Body[] } & Body;
  change(body);
  return body;
}

describe('POST /enterprises/{rut}/cfes', () => {
  testsOfEveryEnterpriseRoute(suite, {
    method: 'POST',
    path,
    rut: ready,
    body: () => aCfeBody(),
    sandbox: true,
  });

  test('201: the CFE, numbered and PENDING, with null for what it has not yet', async () => {
    const rut = await ready();

    const answer = await issue(rut);

    expect(answer.status).toBe(201);
    expect(answer.data).toEqual({
      cfe_id: '101-1',
      enterprise_rut: rut,
      environment: 'production',
      external_id: null,
      cfe_type: 'ETICKET',
      cfe_type_code: '101',
      cfe_type_label: 'e-Ticket',
      cfe_status: 'PENDING',
      serie: 'A',
      numero: 1,
      emission_date: day(0),
      total_amount: 122,
      pay_amount: 122,
      currency: 'UYU',
      exchange_rate: 1,
      receiver: null,
      transmission: null,
      warnings: [],
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      rejection: null,
      security_code: null,
      qr_url: null,
      receipt_url: expect.stringMatching(/^https:\/\/cfe\.example\/r\/[\w-]{22}$/),
    });
    const { keyId, sobreId, workflowId } = await suite.db.orm.em
      .fork()
      .findOneOrFail(Cfe, { rut }, { populate: ['keyId'] });
    expect(keyId).toBe(suite.owner.keyId);
    expect(workflowId).toBe(`cfe:${rut}:101-1:${sobreId?.slice(0, 8)}`);
    expect(await outboxOf(suite.db.orm, workflowId ?? '')).toEqual([
      { workflow: 'issueCfes', signal: null, input: { sobreId } },
    ]);
  });

  test('201: an e-Factura tells its receiver', async () => {
    expect((await issue(await ready(), { type: 'EFACTURA' })).data).toMatchObject({
      cfe_id: '111-1',
      receiver: {
        receiver_doc_type: 'RUC',
        receiver_document: '219999830019',
        legal_name: 'Almacén del Sur S.R.L.',
        country_code: 'UY',
      },
    });
  });

  test('201: an amount beyond what binary holds comes back digit by digit', async () => {
    const sum = '123456789012345.67';
    const text = JSON.stringify(
      changed(
        ({ header, details }) => {
          header['totals'] = {
            currency: 'UYU',
            exchange_rate: 1,
            total_amount: 'SUM',
            pay_amount: 'SUM',
            tax_free_amount: 'SUM',
            line_count: 1,
          };
          Object.assign(details[0] ?? {}, {
            iva_type: 'EXEMPT',
            count: 'COUNT',
            unit_price: 10,
            item_amount: 'SUM',
          });
        },
        { type: 'EFACTURA' },
      ),
    );
    const exact = text.replaceAll('"SUM"', sum).replace('"COUNT"', '12345678901234.567');

    const answer = await post(await ready(), exact);

    expect(answer.status).toBe(201);
    expect(answer.text).toContain(`"total_amount":${sum},`);
  });

  test.each(readdirSync('local/demo/documents').filter((name) => !/-n[cd]\.json$|rejected/.test(name)))(
    '201: the document of the demo %s',
    async (name) => {
      const text = readFileSync(`local/demo/documents/${name}`, 'utf8').replaceAll('{today}', day(0));
      const answer = await post(await ready(), text);
      expect([answer.status, answer.error]).toEqual([201, undefined]);
    },
  );

  test.each(CFE_TYPE_NAMES.filter((type) => CFE_TYPES[type].note !== null))(
    '201: %s against its original',
    async (type) => {
      const rut = await ready();
      const original = await issue(rut, { type: type.replace(/_N[CD]$/, '') as CfeType });
      const answer = await issue(rut, { type, reference: original.data.cfe_id });
      expect(answer.status).toBe(201);
      expect(answer.data).toMatchObject({ cfe_type: type, cfe_id: `${CFE_TYPES[type].code}-1` });
    },
  );

  test('201: a hundred at once are numbered 1 to 100 without gap or repeat', async () => {
    const rut = await ready();
    const answers = await Promise.all(Array.from({ length: 100 }, () => issue(rut)));
    expect(answers.map(({ status }) => status)).toEqual(Array(100).fill(201));
    const numbers = answers.map(({ data }) => data.numero).toSorted((a, b) => a - b);
    expect(numbers).toEqual(Array.from({ length: 100 }, (_, i) => i + 1));
    expect(new Set(answers.map(({ data }) => data.cfe_id)).size).toBe(100);
  });

  test('201: two API processes on one database number as one', async () => {
    await using second = await startApi({ orm: suite.db.orm, keys: suite.api.deps });
    const other = await second.aCaller({ accountId: suite.owner.accountId });
    const rut = await ready();

    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, i) =>
        (i % 2 === 0 ? suite.owner : other).client.post<CfeAnswer>(path(rut), aCfeBody()),
      ),
    );

    const numbers = answers.map(({ data }) => data.numero).toSorted((a, b) => a - b);
    expect(numbers).toEqual(Array.from({ length: 40 }, (_, i) => i + 1));
  });

  test('400: every fault at once, of shape and of rules, with its place and what to do', async () => {
    const rut = await ready();
    const body = changed((body) => {
      body['recevier'] = {};
      Object.assign(body.header['totals'] ?? {}, { total_amount: 122.005, line_count: 2 });
      Object.assign(body.header['doc_id'] ?? {}, { emission_date: '2026-02-30' });
      Object.assign(body.details[0] ?? {}, { line_number: 2, item_name: '', count: 0, colour: 'red' });
      body['extra'] = JSON.stringify({ due_date: 'tomorrow' });
    });

    expectFaults(await post(rut, body), [
      ['/recevier', 'body.unknown_field', /^recevier: unknown field/],
      [
        '/header/totals/total_amount',
        'number.too_many_decimals',
        'header.totals.total_amount: must have at most 2 decimals, found 3 in 122.005.',
      ],
      ['/header/totals/line_count', 'totals.line_count', /: must be 1 .*, found 2\.$/],
      ['/header/doc_id/emission_date', 'date.malformed', /must be .* YYYY-MM-DD, found "2026-02-30"\.$/],
      ['/details/0/line_number', 'line.line_number', /^details\[0\]\.line_number: must be 1 .*found 2\.$/],
      ['/details/0/item_name', 'text.empty', 'details[0].item_name: must not be empty or blank.'],
      ['/details/0/count', 'line.count', /^details\[0\]\.count: /],
      ['/details/0/item_amount', 'line.item_amount', /^details\[0\]\.item_amount: /],
      ['/details/0/colour', 'body.unknown_field', /^details\[0\]\.colour: unknown field/],
      ['/extra/due_date', 'date.malformed', /^extra\.due_date: /],
    ]);
    expect(await stored(rut)).toBe(0);
  });

  test('400: the older sandbox layout is told which fields to use now', async () => {
    const answer = await post(await ready(), {
      cfe_type_code: '101',
      items: [{ name: 'Yerba', quantity: 1, price: 122 }],
      payment_methods: [{ code: 1, amount: 122 }],
    });

    expectFaults(answer, [
      ['/cfe_type', 'body.missing', /^cfe_type: is required and must be one of /],
      ['/header', 'body.missing', 'header: is required and must be an object.'],
      ['/details', 'body.missing', 'details: is required and must be an array.'],
      [
        '/cfe_type_code',
        'body.unknown_field',
        'cfe_type_code: unknown field; use cfe_type with the name of the type (ETICKET).',
      ],
      ['/items', 'body.unknown_field', 'items: unknown field; use details.'],
      [
        '/payment_methods',
        'body.unknown_field',
        'payment_methods: unknown field; use header.doc_id.payment_method.',
      ],
    ]);
  });

  test.each([
    ['unit_price', 100.0000001, '/details/0/unit_price'],
    ['count', 1.0001, '/details/0/count'],
  ])('400: more decimals in %s than the format holds', async (field, value, pointer) => {
    const body = changed(({ details }) => Object.assign(details[0] ?? {}, { [field]: value }));
    const error = expectRefusal(await post(await ready(), body), 400, 'INVALID_INPUT');
    expect(error.details?.fields).toContainEqual(
      expect.objectContaining({ path: pointer, code: 'number.too_many_decimals' }),
    );
  });

  test('201: trailing zeros are no decimals', async () => {
    const text = JSON.stringify(aCfeBody()).replace('"count":1', '"count":1.000000');
    expect((await post(await ready(), text)).status).toBe(201);
  });

  test('400: lines out of order', async () => {
    const line = (line_number: number) => ({
      line_number,
      iva_type: 'EXEMPT',
      item_name: 'Libro',
      count: 1,
      unit_price: 10,
      item_amount: 10,
    });
    const body = changed((body) => {
      body.details = [line(2), line(1)];
      body.header['totals'] = {
        currency: 'UYU',
        exchange_rate: 1,
        total_amount: 20,
        pay_amount: 20,
        line_count: 2,
        tax_free_amount: 20,
      };
    });
    expectFaults(await post(await ready(), body), [
      ['/details/0/line_number', 'line.line_number', /must be 1 .*found 2\.$/],
      ['/details/1/line_number', 'line.line_number', /must be 2 .*found 1\.$/],
    ]);
  });

  test('400: totals that do not add up', async () => {
    const body = changed(({ header }) =>
      Object.assign(header['totals'] ?? {}, { total_amount: 123, pay_amount: 124 }),
    );
    expectFaults(await post(await ready(), body), [
      ['/header/totals/total_amount', 'totals.total_amount', /must be 122\.00 .*found 123\.00\.$/],
      ['/header/totals/pay_amount', 'totals.pay_amount', /must be .*found 124\.00\.$/],
    ]);
  });

  test('400: an e-Ticket above 5,000 UI without a receiver, by the UI value that is loaded', async () => {
    expectFaults(await issue(await ready(), { net: 50_000 }), [
      ['/header/receiver', 'receiver.identification_required', /.+/],
    ]);
  });

  test('400 enterprise.not_ready: names every fact that lacks', async () => {
    const rut = await anEnterprise(suite.db.orm, suite.owner.accountId);
    expectFaults(await issue(rut), [
      [
        '',
        'enterprise.not_ready',
        'The enterprise is not READY; it still needs: the permission PROD of the tax authority (validate the e-invoicing ' +
          'credentials); a valid certificate; a plan; a CAE with status OK; a scheduled_ready_date in the past.',
      ],
      ['', 'cae.none_left', /ETICKET/],
    ]);
  });

  test('400 enterprise.not_ready: names only the one fact that lacks', async () => {
    const rut = await aReadyEnterprise(suite.db.orm, suite.owner.accountId, {
      values: { status: 'PENDING', scheduledReadyDate: new Date(Date.now() + 86_400_000) },
    });
    expectFaults(await issue(rut), [
      [
        '',
        'enterprise.not_ready',
        'The enterprise is not READY; it still needs: a scheduled_ready_date in the past.',
      ],
    ]);
  });

  test('400 enterprise.not_ready: when all is there, that it comes in a moment', async () => {
    const rut = await aReadyEnterprise(suite.db.orm, suite.owner.accountId, {
      values: { status: 'PENDING' },
    });
    expectFaults(await issue(rut), [['', 'enterprise.not_ready', /will be READY in a moment/]]);
  });

  test('400 enterprise.not_authorized: READY, and the permission PROD was withdrawn', async () => {
    const rut = await aReadyEnterprise(suite.db.orm, suite.owner.accountId, {
      values: { permissions: ['HOMO'] },
    });
    expectFaults(await issue(rut), [['', 'enterprise.not_authorized', /no longer has the permission PROD/]]);
    expect(await stored(rut)).toBe(0);
  });

  test('400 enterprise.not_yet: its first day here has not come', async () => {
    const rut = await aReadyEnterprise(suite.db.orm, suite.owner.accountId, {
      values: { migratedOn: '2999-01-01' },
    });
    expectFaults(await issue(rut), [
      ['/header/doc_id/emission_date', 'enterprise.not_yet', /issues here from 2999-01-01 on/],
    ]);
    expect(await stored(rut)).toBe(0);
  });

  test('400 enterprise.suspended', async () => {
    const rut = await aReadyEnterprise(suite.db.orm, suite.owner.accountId, {
      values: { status: 'SUSPENDED', statusBeforeSuspension: 'READY' },
    });
    expectFaults(await issue(rut), [['', 'enterprise.suspended', /is suspended and cannot issue/]]);
    expect(await stored(rut)).toBe(0);
  });

  test('400: the state of the enterprise and the faults of the body come together', async () => {
    const rut = await aReadyEnterprise(suite.db.orm, suite.owner.accountId, {
      caes: [],
      values: { status: 'SUSPENDED', statusBeforeSuspension: 'READY' },
    });
    expectFaults(await issue(rut, { itemName: '' }), [
      ['', 'enterprise.suspended', /.+/],
      ['', 'cae.none_left', /.+/],
      ['/details/0/item_name', 'text.empty', /.+/],
    ]);
  });

  test('400: the certificate has expired since', async () => {
    const rut = await ready();
    const notAfter = new Date(Date.now() - 1_000);
    await suite.db.orm.em.fork().nativeUpdate(Certificate, { rut }, { notAfter });
    expectFaults(await issue(rut), [
      [
        '',
        'enterprise.certificate_expired',
        'The certificate of the enterprise has expired; upload a new one.',
      ],
    ]);
  });

  test('400: the certificate was revoked since', async () => {
    const rut = await ready();
    await suite.db.orm.em.fork().nativeUpdate(Certificate, { rut }, { revokedAt: new Date() });
    expectFaults(await issue(rut), [['', 'enterprise.certificate_revoked', /revoked by its authority/]]);
  });

  test('400 cae.none_left: no CAE of the type has a number to give', async () => {
    const rut = await aReadyEnterprise(suite.db.orm, suite.owner.accountId, { caes: [{ from: 1, to: 1 }] });
    await issue(rut);
    expectFaults(await issue(rut), [
      ['', 'cae.none_left', 'No CAE of type ETICKET is valid and has numbers left; upload one.'],
    ]);
    expectFaults(await issue(rut, { type: 'EFACTURA' }), [['', 'cae.none_left', /EFACTURA/]]);
    expect(await stored(rut)).toBe(1);
  });

  test('400 reference.rejected: a note against a rejected CFE takes no number', async () => {
    const rut = await ready();
    await issue(rut);
    await suite.db.orm.em.fork().nativeUpdate(Cfe, { rut }, { status: 'REJECTED', settledAt: new Date() });
    expectFaults(await issue(rut, { type: 'ETICKET_NC', reference: '101-1' }), [
      ['/reference/cfe_id', 'reference.rejected', /not REJECTED; 101-1 is REJECTED\.$/],
    ]);
    expect(await stored(rut)).toBe(1);
  });

  test('413: a body above 1 MiB; 700 lines fit', async () => {
    const rut = await ready();
    const details = Array.from({ length: 700 }, (_, i) => ({
      line_number: i + 1,
      iva_type: 'BASIC_RATE',
      item_name: `Artículo ${i + 1} ${'x'.repeat(60)}`,
      item_description: 'y'.repeat(1_000),
      count: 1,
      unit_price: 1,
      item_amount: 1,
    }));
    const body = changed((body) => {
      body.details = details;
      body.header['totals'] = {
        currency: 'UYU',
        exchange_rate: 1,
        total_amount: 854,
        pay_amount: 854,
        line_count: 700,
        tax_basic_net_amount: 700,
        tax_basic_amount: 154,
      };
    });
    expect((await post(rut, body)).status).toBe(201);
    body.details = details.map((line) => ({ ...line, item_description: 'y'.repeat(1_600) }));
    expectRefusal(await post(rut, body), 413, 'PAYLOAD_TOO_LARGE');
  });
});

describe('POST /enterprises/{rut}/cfes in sandbox', () => {
  const issueThere = (rut: string) => suite.sandbox.client.post<CfeAnswer>(path(rut), aCfeBody());

  test('201: needs no READY, has its own numbers, and is not seen by production', async () => {
    const rut = await aReadyEnterprise(suite.db.orm, suite.owner.accountId, {
      values: { status: 'PENDING' },
    });
    await giveCertificate(suite.db.orm, rut, { environment: 'sandbox' });
    await giveCae(suite.db.orm, rut, { environment: 'sandbox', serie: 'T', from: 501, to: 600 });

    const answer = await issueThere(rut);

    expect([answer.status, answer.data.cfe_id, answer.data.serie, answer.data.numero]).toEqual([
      201,
      '101-1',
      'T',
      501,
    ]);
    expectRefusal(await suite.owner.client.get(`${path(rut)}/101-1`), 404, 'NOT_FOUND');
    expect((await suite.owner.client.get(path(rut))).data).toEqual({ items: [], total: 0 });
  });

  test('403: an account that is no developer', async () => {
    const plain = await suite.api.aCaller({ isDeveloper: false, environment: 'sandbox' });
    const rut = await aReadyEnterprise(suite.db.orm, plain.accountId);
    expectRefusal(await plain.client.post(path(rut), aCfeBody()), 403, 'FORBIDDEN');
  });
});
