import { describe, expect, test } from '@jest/globals';
import { Enterprise } from '../../../../src/db/entities/enterprises.ts';
import { findCfe } from '../../../../src/db/receipts/cfes.ts';
import { writeCfe } from '../../../../src/dgi/xml/cfe.ts';
import { useApi } from '../../../support/api/apiSuite.ts';
import { expectFaults, expectRefusal } from '../../../support/api/expectRefusal.ts';
import { aReadyEnterprise, giveCae, giveCertificate } from '../../../support/enterprises/enterprises.ts';
import { aCfeBody, type Body } from '../../../support/receipts/cfeBodies.ts';
import { day } from '../../../support/receipts/papers.ts';

const suite = useApi();
const ready = () => aReadyEnterprise(suite.db.orm, suite.owner.accountId);
const path = (rut: string) => `/enterprises/${rut}/cfes`;

interface Read {
  cfe_id: string;
  external_id: string | null;
  environment: string;
  enterprise_rut: string;
  document: { header: Body; details: Body[]; references: Body[]; extra: string };
  needs_support: boolean;
  notes: { cfe_id: string; cfe_status: string }[];
}

const post = (rut: string, body: Body) => suite.owner.client.post<Read>(path(rut), body);
async function read(rut: string, cfeId: string): Promise<Read> {
  const { data } = await suite.owner.client.get<{ items: [Read] }>(`${path(rut)}/${cfeId}`);
  return data.items[0];
}
const rowOf = async (rut: string, type: 'ETICKET' | 'EFACTURA' = 'ETICKET') => {
  const key = { rut, environment: 'production', type, sequence: 1 } as const;
  const cfe = await findCfe(suite.db.orm.em.fork(), key);
  if (!cfe) throw new Error('not issued');
  return cfe;
};

describe('external_id', () => {
  test('is kept, read, sent as NroInterno, and found by', async () => {
    const rut = await ready();
    const issued = await post(rut, { ...aCfeBody(), external_id: 'venta 4711' });
    await post(rut, aCfeBody());
    expect(issued.data).toMatchObject({
      external_id: 'venta 4711',
      environment: 'production',
      enterprise_rut: rut,
    });
    expect((await read(rut, '101-2')).external_id).toBeNull();

    const found = await suite.owner.client.get(`${path(rut)}?external_id=venta%204711`);
    const { warnings: _, ...cfe } = issued.data as unknown as { warnings: unknown };
    expect(found.data).toEqual({ items: [cfe], total: 1 });
    const none = await suite.owner.client.get(`${path(rut)}?external_id=venta`);
    expect(none.data).toEqual({ items: [], total: 0 });

    const xml = writeCfe((await rowOf(rut)).document);
    expect(xml).toContain('<Nro>1</Nro><NroInterno>venta 4711</NroInterno><FchEmis>');
  });

  test.each<[string, unknown, string, RegExp]>([
    ['of 51 characters', 'x'.repeat(51), 'text.too_long', /at most 50 characters, found 51/],
    ['blank', ' ', 'text.empty', /must not be empty or blank/],
    ['with a line end', 'a\nb', 'text.control_character', /control characters/],
    ['null', null, 'body.null', /must not be null/],
    ['that is a number', 7, 'body.wrong_type', /must be a string, found a number/],
  ])('400: one %s', async (_, external_id, code, message) => {
    const rut = await ready();
    const answer = await post(rut, { ...aCfeBody(), external_id });
    expectFaults(answer, [['/external_id', code, message]]);
  });

  test('is part of a preview’s request', async () => {
    const rut = await ready();
    const answer = await suite.owner.client.post<{ request: Body }>(`${path(rut)}/preview?prices=net`, {
      ...aCfeBody(),
      external_id: 'venta 4711',
    });
    expect(answer.data.request['external_id']).toBe('venta 4711');
  });
});

describe('GET …/cfes/{cfe_id}', () => {
  test('has the content as it was issued', async () => {
    const rut = await ready();
    const { header, ...rest } = aCfeBody({ type: 'EFACTURA', net: 90 });
    const [line] = rest['details'] as Body[];
    const body = {
      ...rest,
      external_id: 'F-1',
      header: { ...(header as Body), payments: [{ description: 'Efectivo', amount: 109.8, code: '1' }] },
      details: [
        {
          ...line,
          unit_price: 100,
          unit: 'kg',
          item_description: 'Molienda fina',
          codes: [{ type: 'INT1', value: 'Y-1' }],
          discounts: [{ percent: 10 }],
        },
      ],
      extra: JSON.stringify({
        due_date: day(30),
        purchase_order: 'OC-1',
        adenda: 'Gracias',
        mine: { id: 7 },
      }),
    };
    expect((await post(rut, body)).status).toBe(201);

    const { document, needs_support, notes } = await read(rut, '111-1');

    expect(document.header).toMatchObject({
      doc_id: { emission_date: day(0), payment_method: 'CASH', third_party_payment: false },
      receiver: (header as Body)['receiver'],
      totals: {
        ...((header as Body)['totals'] as Body),
        prices_include_vat: false,
        tax_minimum_net_amount: 0,
        export_amount: 0,
        non_billable_amount: 0,
      },
      adjustments: [],
      payments: [{ description: 'Efectivo', amount: 109.8, code: '1' }],
    });
    expect(document.details).toEqual([
      {
        line_number: 1,
        iva_type: 'BASIC_RATE',
        item_name: 'Yerba mate 1 kg',
        item_description: 'Molienda fina',
        count: 1,
        unit: 'kg',
        unit_price: 100,
        item_amount: 90,
        ncm: null,
        codes: [{ type: 'INT1', value: 'Y-1' }],
        discounts: [{ percent: 10, amount: 10 }],
        surcharges: [],
      },
    ]);
    expect(document.references).toEqual([]);
    expect(JSON.parse(document.extra)).toEqual({
      branch: 1,
      due_date: day(30),
      purchase_order: 'OC-1',
      adenda: 'Gracias',
      mine: { id: 7 },
    });
    expect({ needs_support, notes }).toEqual({ needs_support: false, notes: [] });
  });

  test('has the notes that refer to it, and a note what it refers to; and whether it waits for support', async () => {
    const rut = await ready();
    await post(rut, aCfeBody());
    await post(rut, aCfeBody());
    const wishes = { type: 'ETICKET_NC', reference: '101-1', net: 10 } as const;
    await post(rut, aCfeBody({ ...wishes, extra: { reference_reason: 'Devolución' } }));
    await post(rut, aCfeBody({ ...wishes, type: 'ETICKET_ND' }));
    const em = suite.db.orm.em.fork();
    await em.execute('update cfe set stuck_reason = ? where id = ?', ['signing', (await rowOf(rut)).id]);

    expect(await read(rut, '101-1')).toMatchObject({
      needs_support: true,
      notes: [
        { cfe_id: '102-1', cfe_status: 'PENDING' },
        { cfe_id: '103-1', cfe_status: 'PENDING' },
      ],
    });
    expect((await read(rut, '101-2')).notes).toEqual([]);
    expect((await read(rut, '102-1')).document.references).toEqual([
      {
        cfe_id: '101-1',
        cfe_type_code: '101',
        serie: 'A',
        numero: 1,
        emission_date: day(0),
        amount: 12.2,
        currency: 'UYU',
        exchange_rate: 1,
        reason: 'Devolución',
        description: null,
      },
    ]);
  });

  test('404: names the other environment where that has a CFE with this id', async () => {
    const rut = await ready();
    await giveCertificate(suite.db.orm, rut, { environment: 'sandbox' });
    await giveCae(suite.db.orm, rut, { environment: 'sandbox', serie: 'T' });
    await suite.sandbox.client.post(path(rut), aCfeBody());
    await post(rut, aCfeBody({ type: 'EFACTURA' }));
    const messageAt = async (query: string): Promise<string> =>
      expectRefusal(await suite.owner.client.get(path(rut) + query), 404, 'NOT_FOUND').message;

    expect(await messageAt('/101-1')).toBe(
      'The enterprise has no CFE 101-1 in production; the sandbox has one: read it with ?environment=sandbox.',
    );
    expect(await messageAt('/111-1/pdf?environment=sandbox')).toBe(
      'The enterprise has no CFE 111-1 in the sandbox; production has one: read it without ?environment=sandbox.',
    );
    expect(await messageAt('/101-9')).toBe('The enterprise has no CFE 101-9.');
    expect(await messageAt('/101-9?environment=sandbox')).toBe(
      'The enterprise has no CFE 101-9 in the sandbox.',
    );
  });
});

describe('Accept-Language', () => {
  test.each([
    ['es-UY,es;q=0.9,en;q=0.8', 'es', 'La empresa no tiene ningún CFE 101-1.'],
    ['en', 'en', 'The enterprise has no CFE 101-1.'],
    ['pt-BR', 'en', 'The enterprise has no CFE 101-1.'],
  ])('%s: messages of errors in %s', async (wish, language, message) => {
    const rut = await ready();
    const answer = await suite.owner.client.get(`${path(rut)}/101-1`, { 'accept-language': wish });

    expect(expectRefusal(answer, 404, 'NOT_FOUND').message).toBe(message);
    expect(answer.headers.get('content-language')).toBe(language);
    expect(answer.headers.get('vary')).toBe('Accept-Language');
  });

  test('es: every fault, in the order and with the paths of the English ones', async () => {
    const rut = await ready();
    const body = { ...aCfeBody({ net: 100 }), details: [], nombre: 1 };
    const english = expectRefusal(await post(rut, body), 400, 'INVALID_INPUT');
    const answer = await suite.owner.client.post(path(rut), body, { 'accept-language': 'es' });
    const { message, details } = expectRefusal(answer, 400, 'INVALID_INPUT');

    expect(message).toBe(
      'details: debe tener al menos 1 elemento; no tiene ninguno. (2 errores; vea details.fields.)',
    );
    expect(details?.fields.map((one) => ({ ...one, message: '' }))).toEqual(
      english.details?.fields.map((one) => ({ ...one, message: '' })),
    );
    expect(details?.fields.at(-1)?.message).toBe('nombre: campo desconocido.');
  });

  test('es: warnings of a receipt, of its repeat, and of the enterprise', async () => {
    const rut = await ready();
    const body = aCfeBody({ extra: { colour: 'red' } });
    const headers = { 'accept-language': 'es', 'idempotency-key': 'in Spanish' };
    const message = 'extra.colour: no es una clave del servicio; se guarda y no tiene efecto.';
    const { client } = suite.owner;
    const first = await client.post(path(rut), body, { 'idempotency-key': 'in Spanish' });
    expect(first.data).toMatchObject({ warnings: [{ message: expect.stringMatching(/is not a key/) }] });
    const again = await client.post(path(rut), body, headers);
    expect(again.data).toMatchObject({ warnings: [{ path: '/extra/colour', message }] });
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(again.headers.get('vary')).toBe('Accept-Language');
    const tried = await client.post(`${path(rut)}?validate_only=true`, body, headers);
    expect(tried.data).toMatchObject({ warnings: [{ message }] });

    await suite.db.orm.em.fork().nativeUpdate(Enterprise, { rut }, { issuerSince: null, resolution: null });
    const read = await client.get(`/enterprises/${rut}`, headers);
    expect(read.data).toMatchObject({
      warnings: expect.arrayContaining([
        expect.objectContaining({
          message: expect.stringMatching(/^Los comprobantes deben imprimir el día/),
        }),
      ]),
    });
  });

  test('a path outside /v1 is told where the API begins', async () => {
    const { origin } = new URL(suite.api.baseUrl);
    const answer = await fetch(`${origin}/tokens`, { method: 'POST', headers: { 'accept-language': 'es' } });

    expect(await answer.json()).toEqual({
      error: {
        code: 'NOT_FOUND',
        message: 'Esta ruta no existe; las direcciones de la API empiezan con /v1.',
      },
    });
  });
});
