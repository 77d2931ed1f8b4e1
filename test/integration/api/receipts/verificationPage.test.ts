import { beforeAll, describe, expect, test } from '@jest/globals';
import { useApi } from '../../../support/api/apiSuite.ts';
import { aReadyEnterprise, giveCae, giveCertificate } from '../../../support/enterprises/enterprises.ts';
import { aCfeBody, type CfeWishes } from '../../../support/receipts/cfeBodies.ts';
import { bringTo } from '../../../support/receipts/signedCfes.ts';

let now = new Date();
const suite = useApi({ clock: () => now, trustedProxies: 1 });
let rut: string;
beforeAll(async () => {
  rut = await aReadyEnterprise(suite.db.orm, suite.owner.accountId);
});

type Data = Record<'ruc' | 'tipo' | 'serie' | 'numero' | 'codigo', string>;
const CODE = 'aB+/9z';

/** A production CFE in a status, and what its paper has. */
async function aPaper(to: Parameters<typeof bringTo>[2], wishes: CfeWishes = {}) {
  const { type = 'ETICKET' } = wishes;
  const { data } = await suite.owner.client.post<{ cfe_id: string; receipt_url: string }>(
    `/enterprises/${rut}/cfes`,
    aCfeBody(wishes),
  );
  const [code = '', sequence = ''] = data.cfe_id.split('-');
  await bringTo(suite.db.orm, { rut, type, sequence: Number(sequence) }, to);
  const [{ serie, numero } = { serie: '', numero: 0 }] = await suite.db.orm.em
    .fork()
    .execute<{ serie: string; numero: number }[]>(
      'select serie, numero from cfe where rut = ? and environment = ? and type = ? and sequence = ?',
      [rut, 'production', type, Number(sequence)],
    );
  const paper: Data = { ruc: rut, tipo: code, serie, numero: String(numero), codigo: CODE };
  return { paper, receiptPath: new URL(data.receipt_url).pathname };
}

let caller = 0;
/** Opens the page as a browser would, from an address of its own unless told. */
async function open(data: Partial<Data>, from = `10.7.0.${(caller += 1)}`) {
  const address = new URL(`/verificar?${new URLSearchParams(data).toString()}`, suite.api.baseUrl);
  const answer = await fetch(address, { headers: { 'x-forwarded-for': from } });
  return { status: answer.status, headers: answer.headers, page: await answer.text() };
}

const ACCEPTED = { status: 'ACCEPTED' } as const;

describe('GET /verificar', () => {
  test('is a form in Spanish, for anybody, that nothing else may use', async () => {
    const { status, headers, page } = await open({});
    expect([status, headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    for (const name of ['ruc', 'tipo', 'serie', 'numero', 'codigo'])
      expect(page).toMatch(new RegExp(`<(input|select) id="${name}" name="${name}"`));
    expect(page).toContain('<html lang="es-UY">');
    expect(page).not.toContain('role="alert"');
    expect(headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; style-src 'sha256-[\w+/=]+'; img-src data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'$/,
    );
    expect(headers.get('cache-control')).toBe('no-store');
  });

  test('what an e-Ticket has on paper leads to its receipt and files', async () => {
    const { paper, receiptPath } = await aPaper(ACCEPTED, { itemName: 'Yerba 1 kg' });
    const { status, page } = await open(paper);
    expect([status, page.includes('Yerba 1 kg'), page.includes('RECHAZADO')]).toEqual([200, true, false]);
    const pdf = /href="([^"]+\/pdf)"/.exec(page)?.[1] ?? '';
    expect(new URL(pdf, new URL('/verificar', suite.api.baseUrl)).pathname).toBe(`${receiptPath}/pdf`);
    // Blanks around, leading zeros and small letters of the serie are the same paper.
    const typed = { ...paper, serie: ` ${paper.serie.toLowerCase()}`, numero: `0${paper.numero}` };
    expect((await open(typed)).page).toBe(page);
    // The receipt's own page still names its files from where it is.
    const own = await fetch(new URL(receiptPath, suite.api.baseUrl));
    expect(await own.text()).toContain(`href="${receiptPath.slice('/r/'.length)}/pdf"`);
  });

  test('a rejected one says so; one in process or never sent shows nothing of it', async () => {
    const rejection = (code: string) => [{ code, message: 'no', detail: null }];
    const rejected = await aPaper({ status: 'REJECTED', rejection: rejection('E05') });
    expect((await open(rejected.paper)).page).toContain('RECHAZADO – SIN VALIDEZ');
    const never = await aPaper({ status: 'REJECTED', rejection: rejection('abandoned') });
    const { page } = await open(never.paper);
    expect([page.includes('sin validez'), page.includes(rut)]).toEqual([true, false]);
  });

  test('a miss is 404 with the same bytes, whichever of the five is another', async () => {
    const { paper } = await aPaper(ACCEPTED);
    const misses: Data[] = [
      { ...paper, ruc: '219999830019' },
      { ...paper, tipo: '102' },
      { ...paper, serie: 'B' },
      { ...paper, numero: '9999999' },
      { ...paper, codigo: 'ab+/9z' },
      { ...paper, codigo: 'aB+/9' },
      { ...paper, ruc: '<b>' },
      { ...paper, tipo: '999' },
      { ...paper, codigo: '' },
    ];
    const answers = await Promise.all(misses.map((miss) => open(miss)));
    expect(answers.map(({ status }) => status)).toEqual(misses.map(() => 404));
    expect(new Set(answers.map(({ page }) => page)).size).toBe(1);
    const headers = answers.map((answer) =>
      [...answer.headers].filter(([name]) => name !== 'date' && name !== 'x-request-id'),
    );
    expect(new Set(headers.map((all) => JSON.stringify(all))).size).toBe(1);
    expect((await open(paper)).status).toBe(200);
  });

  test('finds no receipt of the sandbox, nor one that is not signed', async () => {
    const { orm } = suite.db;
    await giveCertificate(orm, rut, { environment: 'sandbox' });
    await giveCae(orm, rut, { environment: 'sandbox', serie: 'Z' });
    await suite.sandbox.client.post(`/enterprises/${rut}/cfes`, aCfeBody());
    await bringTo(orm, { rut, environment: 'sandbox', type: 'ETICKET', sequence: 1 }, ACCEPTED);
    const [row] = await orm.em
      .fork()
      .execute<{ serie: string; numero: number }[]>(
        `select serie, numero from cfe where rut = ? and environment = 'sandbox'`,
        [rut],
      );
    const sandbox = { ruc: rut, tipo: '101', serie: row?.serie ?? '', numero: String(row?.numero) };
    expect((await open({ ...sandbox, codigo: CODE })).status).toBe(404);
    const { paper } = await aPaper({ status: 'PENDING' });
    expect((await open(paper)).status).toBe(404);
  });

  test('other types are led to the authority, whether they exist or not', async () => {
    const { paper } = await aPaper(ACCEPTED, { type: 'EFACTURA' });
    const [known, unknown] = await Promise.all([open(paper), open({ ...paper, numero: '77' })]);
    expect([known.status, known.page.includes('href="https://www.dgi.gub.uy"')]).toEqual([200, true]);
    expect(unknown.page).toBe(known.page);
    expect(known.page).not.toContain('Almacén');
  });

  test('60 misses in ten minutes from a network, then 429, for right data too; hits do not count', async () => {
    const { paper } = await aPaper(ACCEPTED);
    const from = '203.0.113.77';
    for (let i = 0; i < 5; i += 1) expect((await open(paper, from)).status).toBe(200);
    const missed = await Promise.all(
      Array.from({ length: 60 }, (_, i) => open({ ...paper, numero: String(9_000_000 + i) }, from)),
    );
    expect(missed.map(({ status }) => status)).toEqual(missed.map(() => 404));

    const refused = await open({ ...paper, codigo: 'AAAAAA' }, from);
    expect([refused.status, refused.page.includes('Demasiados intentos')]).toEqual([429, true]);
    const wait = Number(refused.headers.get('retry-after'));
    expect(wait).toBeGreaterThan(0);
    expect(wait).toBeLessThanOrEqual(600);
    expect((await open(paper, from)).status).toBe(429);
    // The form opens, others are served, and failed authentication is counted apart.
    expect((await open({}, from)).status).toBe(200);
    expect((await open(paper, '203.0.113.78')).status).toBe(200);
    const link = new URL('/r/aaaaaaaaaaaaaaaaaaaaaa', suite.api.baseUrl);
    expect((await fetch(link, { headers: { 'x-forwarded-for': from } })).status).toBe(404);

    now = new Date(now.getTime() + 600_000);
    expect((await open(paper, from)).status).toBe(200);
  });

  test('nothing of the paper is logged', async () => {
    const { paper } = await aPaper(ACCEPTED);
    await open({ ...paper, serie: 'QQ', codigo: 'ZyXw+/' });
    const lines = suite.api.lines.filter(({ route }) => route === '/verificar');
    expect(lines.length).toBeGreaterThan(0);
    expect(JSON.stringify(lines)).not.toMatch(/ZyXw|QQ/);
  });
});
