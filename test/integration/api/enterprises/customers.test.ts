import { describe, expect, test } from '@jest/globals';
import { useApi } from '../../../support/api/apiSuite.ts';
import { testsOfEveryEnterpriseRoute } from '../../../support/api/everyRoute.ts';
import { expectFaults, expectRefusal } from '../../../support/api/expectRefusal.ts';
import type { Answer } from '../../../support/api/http.ts';
import { customerBody, giveCustomers } from '../../../support/enterprises/customers.ts';
import { anEnterprise } from '../../../support/enterprises/enterprises.ts';
import { aRut } from '../../../support/receipts/papers.ts';

interface CustomerObject {
  doc_type: string;
  doc_number: string;
  legal_name: string;
}

const suite = useApi();
const enterprise = () => anEnterprise(suite.db.orm, suite.owner.accountId);
const path = (rut: string) => `/enterprises/${rut}/customers`;
const list = async (rut: string, query: Record<string, string> = {}) => {
  const search = new URLSearchParams(query).toString();
  return suite.owner.client.get<CustomerObject[]>(`${path(rut)}${search && `?${search}`}`);
};
const namesOf = async (rut: string, query: Record<string, string> = {}) =>
  (await list(rut, query)).data.map(({ legal_name }) => legal_name);

describe('POST …/customers', () => {
  const create = (rut: string, body: unknown) => suite.owner.client.post(path(rut), body);

  testsOfEveryEnterpriseRoute(suite, { method: 'POST', path, rut: enterprise, body: () => customerBody() });

  test('201: the customer, as it was given', async () => {
    const body = customerBody();

    const answer = await create(await enterprise(), body);

    expect(answer.status).toBe(201);
    expect(answer.data).toEqual(body);
  });

  test('201: what was left out is null, notifications are none', async () => {
    const body = { doc_type: 'NIFE', doc_number: 'BR-12.345/9', legal_name: 'Importadora Ltda.' };

    const answer = await create(await enterprise(), body);

    expect(answer.status).toBe(201);
    expect(answer.data).toEqual({
      ...body,
      fiscal_address: null,
      city: null,
      department: null,
      country: null,
      country_code: null,
      notifications: [],
    });
  });

  test('201: the same document at another enterprise, and the same number of another kind', async () => {
    const [body, one, other] = [customerBody(), await enterprise(), await enterprise()];

    expect((await create(one, body)).status).toBe(201);
    expect((await create(other, body)).status).toBe(201);
    expect((await create(one, { ...body, doc_type: 'NIFE', country_code: 'BR' })).status).toBe(201);
  });

  test('400: a document that a customer has already; of many at once one is kept', async () => {
    const [rut, body] = [await enterprise(), customerBody()];

    const answers = await Promise.all(Array.from({ length: 5 }, () => create(rut, body)));

    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 400, 400, 400, 400]);
    const [refused] = answers.filter(({ status }) => status === 400);
    if (!refused) throw new Error('none was refused');
    expectFaults(refused, [
      [
        '/doc_number',
        'customer.exists',
        `doc_number: the enterprise already has a customer RUC ${body.doc_number}.`,
      ],
    ]);
    expect(await list(rut)).toMatchObject({ data: [body] });
  });

  test('400: a RUC without its check digit; a NIFE may be anything', async () => {
    const rut = await enterprise();
    expectFaults(await create(rut, customerBody({ doc_number: '219999830018' })), [
      ['/doc_number', 'rut.check_digit', /its check digit is 9/],
    ]);
    expect((await create(rut, customerBody({ doc_type: 'NIFE', doc_number: '219999830018' }))).status).toBe(
      201,
    );
  });

  test('a cédula is one document with or without its leading zero, and is returned as given', async () => {
    const rut = await enterprise();
    const person = customerBody({ doc_type: 'CI', doc_number: '7234567', country_code: undefined });
    expect((await create(rut, person)).data).toMatchObject({ doc_number: '7234567' });
    expectFaults(await create(rut, { ...person, doc_number: '07234567' }), [
      ['/doc_number', 'customer.exists', /already has a customer CI 07234567/],
    ]);
    const path = (number: string) => `/enterprises/${rut}/customers/CI/${number}`;
    for (const number of ['7234567', '07234567'])
      expect((await suite.owner.client.get(path(number))).data).toMatchObject({ doc_number: '7234567' });
    for (const number of ['7234567', '07234567'])
      expect(
        (await suite.owner.client.get(`/enterprises/${rut}/customers?doc_number=${number}`)).data,
      ).toHaveLength(1);
    const changed = await suite.owner.client.put(path('07234567'), { ...person, doc_number: '07234567' });
    expect(changed.data).toMatchObject({ doc_number: '07234567' });
    expectFaults(await create(rut, { ...person, doc_number: '7234568' }), [
      ['/doc_number', 'document.ci', /its check digit is 7/],
    ]);
  });

  test('400: all faults at once, each at its field', async () => {
    const body = {
      doc_type: 'CEDULA',
      doc_number: '',
      city: 7,
      country_code: 'XX',
      nickname: 'x',
      notifications: [{ type: 'SMS', destination: 'not an address', enabled: 'yes' }],
    };
    expectFaults(await create(await enterprise(), body), [
      ['/nickname', 'body.unknown_field', /^nickname: unknown field/],
      [
        '/doc_type',
        'body.not_one_of',
        /must be one of "RUC", "CI", "NIE", "PASSPORT", "DNI", "NIFE", "OTHER"/,
      ],
      ['/doc_number', 'text.empty', /must not be empty or blank/],
      ['/legal_name', 'body.missing', /^legal_name: is required/],
      ['/city', 'body.wrong_type', /must be a string/],
      ['/country_code', 'country.unknown', /ISO 3166/],
      ['/notifications/0/type', 'body.not_one_of', /must be "EMAIL"/],
      ['/notifications/0/destination', 'email.malformed', /an e-mail address/],
      ['/notifications/0/enabled', 'body.wrong_type', /must be true or false/],
    ]);
  });

  test('413: more than 16 KiB', async () => {
    const body = customerBody({ legal_name: 'x'.repeat(17_000) });
    expectRefusal(await create(await enterprise(), body), 413, 'PAYLOAD_TOO_LARGE');
  });
});

describe('GET …/customers', () => {
  testsOfEveryEnterpriseRoute(suite, { method: 'GET', path, rut: enterprise });

  test('200: all customers of the enterprise in the order of their names, accents and case apart', async () => {
    const [rut, other] = [await enterprise(), await enterprise()];
    await giveCustomers(suite.api.deps, other, [{}]);
    await giveCustomers(suite.api.deps, rut, [
      { legal_name: 'Zeta' },
      { legal_name: 'ábaco' },
      { legal_name: 'Banda' },
    ]);

    expect(await namesOf(rut)).toEqual(['ábaco', 'Banda', 'Zeta']);
    expect((await list(await enterprise())).data).toEqual([]);
  });

  test.each<[string, string[]]>([
    ['nandu', ['Comercial Ñandú S.A.', 'ÑANDUBAY Ltda.']],
    ['ÑANDÚ', ['Comercial Ñandú S.A.', 'ÑANDUBAY Ltda.']],
    ['dubay', ['ÑANDUBAY Ltda.']],
    ['strasse', ['Große Straße GmbH']],
    ['100%', ['100% Natural']],
    ['a_l', ['Una_Línea']],
    ['\\', ['C:\\ Sistemas']],
    ['zzz', []],
  ])('200: %j is looked for in names without regard to accents and case', async (part, found) => {
    const rut = await enterprise();
    await giveCustomers(suite.api.deps, rut, [
      { legal_name: 'Comercial Ñandú S.A.' },
      { legal_name: 'ÑANDUBAY Ltda.' },
      { legal_name: 'Große Straße GmbH' },
      { legal_name: '100% Natural' },
      { legal_name: 'Una_Línea' },
      { legal_name: 'C:\\ Sistemas' },
    ]);

    expect(await namesOf(rut, { legal_name: part })).toEqual(found);
  });

  test('200: by document number and by country, which must both hold', async () => {
    const rut = await enterprise();
    const [local, , brazilian] = await giveCustomers(suite.api.deps, rut, [
      { legal_name: 'Local' },
      { legal_name: 'Otra' },
      { legal_name: 'Brasileira', doc_type: 'NIFE', doc_number: '77', country_code: 'BR' },
    ]);

    expect(await namesOf(rut, { doc_number: local?.doc_number ?? '' })).toEqual(['Local']);
    expect(await namesOf(rut, { doc_number: '7' })).toEqual([]);
    expect((await list(rut, { country_code: 'BR' })).data).toEqual([brazilian]);
    expect(await namesOf(rut, { country_code: 'BR', doc_number: local?.doc_number ?? '' })).toEqual([]);
    expect(await namesOf(rut, { country_code: 'UY', legal_name: 'o' })).toEqual(['Local', 'Otra']);
  });

  test('200: a page at a time', async () => {
    const rut = await enterprise();
    await giveCustomers(
      suite.api.deps,
      rut,
      ['A', 'B', 'C', 'D'].map((legal_name) => ({ legal_name })),
    );

    expect(await namesOf(rut, { limit: '2' })).toEqual(['A', 'B']);
    expect(await namesOf(rut, { limit: '2', skip: '2' })).toEqual(['C', 'D']);
    expect(await namesOf(rut, { skip: '4' })).toEqual([]);
  });

  test('200: a page that is full says where the next one is, filters and all', async () => {
    const rut = await enterprise();
    await giveCustomers(
      suite.api.deps,
      rut,
      ['A 1', 'A 2', 'A 3', 'B'].map((legal_name) => ({ legal_name })),
    );
    const pages: string[][] = [];

    let next: string | undefined = `${path(rut)}?legal_name=a+&limit=2`;
    while (next) {
      const answer: Answer<CustomerObject[]> = await suite.owner.client.get(next);
      pages.push(answer.data.map(({ legal_name }) => legal_name));
      next = /^<\/v1(.+)>; rel="next"$/.exec(answer.headers.get('link') ?? '')?.[1];
    }

    expect(pages).toEqual([['A 1', 'A 2'], ['A 3']]);
  });

  test('400: filters that cannot be', async () => {
    expectFaults(
      await list(await enterprise(), { legal_name: '', country_code: 'uy', limit: '1001', skip: '-1' }),
      [
        ['/query/legal_name', 'text.empty', /must not be empty or blank/],
        ['/query/country_code', 'country.unknown', /found "uy"/],
        ['/query/limit', 'number.out_of_range', /from 1 to 1000/],
        ['/query/skip', 'number.out_of_range', /from 0/],
      ],
    );
  });
});

const onePath = (rut: string, { doc_type = 'RUC', doc_number = '219999830019' } = {}) =>
  `${path(rut)}/${doc_type}/${encodeURIComponent(doc_number)}`;

describe.each(['GET', 'PUT', 'DELETE'] as const)('%s …/customers/{doc_type}/{doc_number}', (method) => {
  const body = () => customerBody({ doc_number: '219999830019' });
  const call = (at: string) => suite.owner.client.send(method, at, method === 'PUT' ? { body: body() } : {});
  const given = async () => {
    const rut = await enterprise();
    await giveCustomers(suite.api.deps, rut, [body()]);
    return rut;
  };

  testsOfEveryEnterpriseRoute(suite, {
    method,
    path: (rut) => onePath(rut),
    rut: given,
    ...(method === 'PUT' ? { body } : {}),
  });

  test('400: a kind of document that is none, and a RUC without its check digit, before who asks is looked at', async () => {
    const rut = await enterprise();
    expectFaults(await call(onePath(rut, { doc_type: 'CEDULA' })), [
      ['/path/doc_type', 'body.not_one_of', /one of "RUC", "CI", "NIE"/],
    ]);
    const malformed = onePath(rut, { doc_number: '219999830018' });
    for (const { client } of [suite.owner, suite.stranger]) {
      expectFaults(await client.send(method, malformed, method === 'PUT' ? { body: body() } : {}), [
        [
          '/path/doc_number',
          'rut.check_digit',
          'path.doc_number: 219999830018 ends in 8, but its check digit is 9.',
        ],
      ]);
    }
    expectFaults(await call(onePath(rut, { doc_type: 'NIFE', doc_number: 'x'.repeat(21) })), [
      ['/path/doc_number', 'text.too_long', /at most 20/],
    ]);
  });

  test('404: a document that no customer has, though another enterprise knows it', async () => {
    await given();
    const error = expectRefusal(await call(onePath(await enterprise())), 404, 'NOT_FOUND');
    expect(error.message).toBe('The enterprise has no customer with this RUC.');
  });
});

describe('PUT …/customers/{doc_type}/{doc_number}', () => {
  const update = (rut: string, at: { doc_type?: string; doc_number?: string }, body: unknown) =>
    suite.owner.client.put(onePath(rut, at), body);

  test('200: all is replaced; what is left out is gone', async () => {
    const rut = await enterprise();
    const [before] = await giveCustomers(suite.api.deps, rut, [{ legal_name: 'Antes' }]);
    const { doc_type = 'RUC', doc_number = '' } = before ?? {};

    const answer = await update(rut, { doc_number }, { doc_type, doc_number, legal_name: 'Después' });

    expect(answer.status).toBe(200);
    expect(answer.data).toEqual({
      doc_type,
      doc_number,
      legal_name: 'Después',
      fiscal_address: null,
      city: null,
      department: null,
      country: null,
      country_code: null,
      notifications: [],
    });
    expect(await namesOf(rut, { legal_name: 'despues' })).toEqual(['Después']);
    expect(await namesOf(rut, { legal_name: 'antes' })).toEqual([]);
  });

  test('200: a number with a slash and letters beyond ASCII', async () => {
    const rut = await enterprise();
    const [body] = await giveCustomers(suite.api.deps, rut, [
      { doc_type: 'NIFE', doc_number: 'Ñ/12 %', country_code: 'BR' },
    ]);

    expect((await update(rut, { doc_type: 'NIFE', doc_number: 'Ñ/12 %' }, body)).data).toEqual(body);
  });

  test('404: an unknown customer, whatever the body is', async () => {
    const rut = await enterprise();
    const document = { doc_number: aRut() };
    const large = { ...customerBody(document), legal_name: 'x'.repeat(20_000) };
    for (const body of [{ colour: 'red' }, customerBody(), large, 'no object']) {
      expectRefusal(await update(rut, document, body), 404, 'NOT_FOUND');
    }
  });

  test('400: a body with another document', async () => {
    const rut = await enterprise();
    const [one] = await giveCustomers(suite.api.deps, rut, [{}]);
    const doc_number = one?.doc_number ?? '';

    expectFaults(await update(rut, { doc_number }, { ...one, doc_type: 'NIFE', doc_number: aRut() }), [
      [
        '/doc_type',
        'customer.other_document',
        'doc_type: must be RUC, as in the path; a customer keeps its document.',
      ],
      [
        '/doc_number',
        'customer.other_document',
        `doc_number: must be ${doc_number}, as in the path; a customer keeps its document.`,
      ],
    ]);
    expect((await list(rut)).data).toEqual([one]);
  });
});

describe('DELETE …/customers/{doc_type}/{doc_number}', () => {
  test('200: true, and the customer is gone; once more it is 404', async () => {
    const rut = await enterprise();
    const [one, other] = await giveCustomers(suite.api.deps, rut, [{}, {}]);
    const at = onePath(rut, { doc_number: one?.doc_number ?? '' });

    const answer = await suite.owner.client.send('DELETE', at);

    expect([answer.status, answer.text]).toEqual([200, '{"data":true}']);
    expect((await list(rut)).data).toEqual([other]);
    expectRefusal(await suite.owner.client.send('DELETE', at), 404, 'NOT_FOUND');
  });
});
