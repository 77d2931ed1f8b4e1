import { Worker } from 'node:worker_threads';
import { beforeAll, describe, expect, jest, test } from '@jest/globals';
import { storeLogo } from '../../../../src/db/enterprises/enterprises.ts';
import { Enterprise } from '../../../../src/db/entities/enterprises.ts';
import { Cfe } from '../../../../src/db/entities/receipts.ts';
import { useApi } from '../../../support/api/apiSuite.ts';
import { aPng } from '../../../support/console/pictures.ts';
import { aReadyEnterprise, giveCae, giveCertificate } from '../../../support/enterprises/enterprises.ts';
import { flatHtml } from '../../../support/flatHtml.ts';
import { aCfeBody, type CfeWishes } from '../../../support/receipts/cfeBodies.ts';
import { bringTo, SIGNED_XML } from '../../../support/receipts/signedCfes.ts';
import { until } from '../../../support/until.ts';

let now = new Date();
/** The prints that were begun; while `held`, none ends. */
const printed: string[] = [];
let held = Promise.resolve();
const suite = useApi({
  clock: () => now,
  trustedProxies: 1,
  draw: async ({ id }, paper) => {
    printed.push(id);
    await held;
    return Buffer.from(`%PDF-1.7 ${paper}`);
  },
});
let rut: string;
beforeAll(async () => {
  rut = await aReadyEnterprise(suite.db.orm, suite.owner.accountId);
});

interface Issued {
  receipt_url: string;
  cfe_id: string;
}

/** A CFE, brought to a status; answers the path of its page. */
async function aReceipt(to: Parameters<typeof bringTo>[2], wishes: CfeWishes = {}): Promise<string> {
  const { data } = await suite.owner.client.post<Issued>(`/enterprises/${rut}/cfes`, aCfeBody(wishes));
  const sequence = Number(data.cfe_id.split('-')[1]);
  await bringTo(suite.db.orm, { rut, type: wishes.type ?? 'ETICKET', sequence }, to);
  expect(data.receipt_url).toMatch(/^https:\/\/cfe\.example\/r\/[A-Za-z0-9_-]{22}$/);
  return new URL(data.receipt_url).pathname;
}

let caller = 0;
/** Opens a page as a browser would, from an address of its own unless told. */
const open = (path: string, from = `10.1.0.${(caller += 1)}`) =>
  fetch(new URL(path, suite.api.baseUrl), { headers: { 'x-forwarded-for': from } });

const unknown = () => `/r/${Buffer.from(crypto.getRandomValues(new Uint8Array(16))).toString('base64url')}`;

describe('GET /r/{token}', () => {
  test('shows the receipt in Spanish, without a login', async () => {
    const path = await aReceipt(
      { status: 'ACCEPTED' },
      {
        type: 'EFACTURA',
        net: 12345.5,
        itemName: 'Yerba <b>1 kg</b> & "algo"',
        extra: { adenda: 'Gracias\npor su compra' },
      },
    );
    const answer = await open(path);
    const page = await answer.text();
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(page).toContain('<html lang="es-UY">');
    for (const words of [
      'e-Factura A ',
      'Comercial Ñandú S.A.',
      rut,
      'RUC comprador',
      '219999830019',
      'Almacén del Sur S.R.L.',
      'Contado',
      'Yerba &lt;b&gt;1 kg&lt;/b&gt; &amp; &quot;algo&quot;',
      '12.345,50',
      'IVA tasa básica (22 %)',
      '2.716,01',
      'UYU 15.061,51',
      'Gracias\npor su compra',
      'aB+/9z',
      'https://www.efactura.dgi.gub.uy/consultaQR/cfe?',
      `href="${path.slice(3)}/pdf"`,
      `href="${path.slice(3)}/xml"`,
    ])
      expect(page).toContain(words);
    expect(page).not.toContain('<b>');
    expect(page).not.toContain('RECHAZADO');
    expect(page).not.toContain('DOCUMENTO DE PRUEBA');
  });

  test('is for its receiver alone: no index, no referrer, no script, no other host, nothing kept', async () => {
    const { headers } = await open(await aReceipt({ status: 'ACCEPTED' }));
    const policy = headers.get('content-security-policy') ?? '';
    expect(policy).toMatch(
      /^default-src 'none'; style-src 'sha256-[\w+/=]+'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'$/,
    );
    expect(Object.fromEntries(headers)).toMatchObject({
      'x-robots-tag': 'noindex, nofollow, noarchive',
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    });
    expect(headers.get('set-cookie')).toBeNull();
  });

  test('«en proceso» and nothing else until the sobre went out', async () => {
    const path = await aReceipt({ status: 'PENDING' });
    const page = await open(path);
    const text = await page.text();
    expect([page.status, text.includes('en proceso'), text.includes(rut)]).toEqual([200, true, false]);
    for (const file of ['pdf', 'xml']) {
      const answer = await open(`${path}/${file}`);
      expect([answer.status, answer.headers.get('retry-after')]).toEqual([409, '5']);
      expect(await answer.text()).toContain('en proceso');
    }
  });

  test('REJECTED by the authority: marked; never sent: it says so', async () => {
    const rejected = await aReceipt({
      status: 'REJECTED',
      rejection: [{ code: 'E05', message: 'no', detail: null }],
    });
    expect(await (await open(rejected)).text()).toContain('RECHAZADO – SIN VALIDEZ');
    const never = await aReceipt({
      status: 'REJECTED',
      rejection: [{ code: 'abandoned', message: 'given up', detail: null }],
    });
    const text = await (await open(never)).text();
    expect([text.includes('sin validez'), text.includes(rut)]).toEqual([true, false]);
    const pdf = await open(`${never}/pdf`);
    expect([pdf.status, pdf.headers.get('retry-after')]).toEqual([409, null]);
  });

  test('a sandbox receipt is marked, and verified where the test environment keeps its own', async () => {
    const { orm } = suite.db;
    await giveCertificate(orm, rut, { environment: 'sandbox' });
    await giveCae(orm, rut, { environment: 'sandbox' });
    const { data } = await suite.sandbox.client.post<Issued>(`/enterprises/${rut}/cfes`, aCfeBody());
    await bringTo(orm, { rut, environment: 'sandbox', type: 'ETICKET', sequence: 1 }, { status: 'ACCEPTED' });
    const page = await (await open(new URL(data.receipt_url).pathname)).text();
    expect(page).toContain('DOCUMENTO DE PRUEBA – SIN VALOR FISCAL');
    expect(page).toContain('consultaQRPrueba/cfe?');
  });

  test('the logo stands in the page', async () => {
    const em = suite.db.orm.em.fork();
    const bytes = aPng(20, 10);
    const logoSha256 = await storeLogo(em, { bytes, mediaType: 'image/png' }, new Date());
    await em.nativeUpdate(Enterprise, { rut }, { logoSha256 });
    const page = await (await open(await aReceipt({ status: 'RECEIVED' }))).text();
    expect(page).toContain(`src="data:image/png;base64,${Buffer.from(bytes).toString('base64')}"`);
    await em.nativeUpdate(Enterprise, { rut }, { logoSha256: null });
  });

  test('the files: the signed XML byte for byte, the printed form on the paper asked for', async () => {
    const path = await aReceipt({ status: 'OBSERVED' });
    const xml = await open(`${path}/xml`);
    expect([xml.headers.get('content-type'), await xml.text()]).toEqual(['application/xml', SIGNED_XML]);
    const pdf = await open(`${path}/pdf?paper=58mm`);
    expect([pdf.headers.get('content-type'), await pdf.text()]).toEqual(['application/pdf', '%PDF-1.7 58mm']);
    expect(pdf.headers.get('content-disposition')).toMatch(/^attachment; filename="[\w.-]+\.pdf"$/);
    expect((await open(`${path}/pdf?paper=A3`)).status).toBe(400);
  });

  const tokenOf = (path: string): string => path.split('/')[2] ?? '';

  test('its page is made once, and once more when the authority rejects it', async () => {
    const path = await aReceipt({ status: 'RECEIVED' }, { itemName: 'Yerba 1 kg' });
    const first = await (await open(path)).text();
    const em = suite.db.orm.em.fork();
    await em.execute(
      `update cfe set document = jsonb_set(document, '{lines,0,name}', '"Changed"') where receipt_token = ?`,
      [tokenOf(path)],
    );
    expect(first).toContain('Yerba 1 kg');
    expect(await (await open(path)).text()).toBe(first);
    await em.nativeUpdate(Cfe, { receiptToken: tokenOf(path) }, { status: 'OBSERVED', settledAt: now });
    expect(await (await open(path)).text()).toBe(first);

    await em.nativeUpdate(Cfe, { receiptToken: tokenOf(path) }, { status: 'REJECTED', rejection: [] });
    const marked = await (await open(path)).text();
    expect([marked.includes('RECHAZADO'), marked.includes('Changed')]).toEqual([true, true]);
  });

  test('a long receipt is written in a thread and shown whole, every sign of it as text', async () => {
    const path = await aReceipt({ status: 'ACCEPTED' });
    const em = suite.db.orm.em.fork();
    const cfe = await em.findOneOrFail(Cfe, { receiptToken: tokenOf(path) });
    const [line] = cfe.document.lines;
    const lines = Array.from({ length: 700 }, (_, i) => ({
      ...line,
      name: `${i}${'<'.repeat(40)}`,
      description: undefined,
    }));
    await em.nativeUpdate(Cfe, { id: cfe.id }, { document: { ...cfe.document, lines } });

    const toThreads = jest.spyOn(Worker.prototype, 'postMessage');
    const page = await (await open(path)).text();
    const sent = toThreads.mock.calls;
    toThreads.mockRestore();

    expect(sent).toEqual([[expect.objectContaining({ receiptToken: tokenOf(path) }), []]]);
    expect(flatHtml(page).match(/<th scope="row">\d+(&lt;){40}</g)).toHaveLength(700);
    expect(page).toContain('Ñandú');
  });

  test('one print at a time is made for a network, and for a receipt; what is there needs no turn', async () => {
    const paths = await Promise.all(Array.from({ length: 3 }, () => aReceipt({ status: 'ACCEPTED' })));
    const unseen = await aReceipt({ status: 'ACCEPTED' });
    const [one = '', other = '', third = ''] = paths.map((path) => `${path}/pdf`);
    await open(third);
    const { promise, resolve } = Promise.withResolvers<void>();
    held = promise;
    printed.length = 0;

    const asked = [open(one, '10.2.0.1')];
    await until('a print begins', 10, async () => printed.length > 0);
    // The one waits for its network, the other for its receipt.
    asked.push(open(other, '10.2.0.1'), open(`${one}?paper=58mm`, '10.2.0.2'));
    // Kept from before, so it waits neither for its network nor for a thread.
    const kept = await open(third, '10.2.0.1');
    expect([kept.status, printed.length]).toEqual([200, 1]);
    // Nor do pages and XML wait for the prints of their network.
    for (const path of [unseen, `${unseen}/xml`]) expect((await open(path, '10.2.0.1')).status).toBe(200);
    asked.push(open(other, '10.2.0.3'));
    await until('a print for another network begins', 10, async () => printed.length === 2);

    resolve();
    expect((await Promise.all(asked)).map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    // What two asked for was made once.
    expect(printed).toHaveLength(3);
  });

  test('what mail programs add to the address changes nothing', async () => {
    expect((await open(`${await aReceipt({ status: 'ACCEPTED' })}?utm_source=mail`)).status).toBe(200);
  });

  test('neither token nor address of a receipt is logged', async () => {
    const path = await aReceipt({ status: 'ACCEPTED' });
    await open(path);
    expect(suite.api.lines.some(({ route }) => route === '/r/{token}')).toBe(true);
    expect(JSON.stringify(suite.api.lines)).not.toContain(path.split('/')[2]);
  });
});

describe('tokens', () => {
  test('are 128 bits in base64url', async () => {
    await aReceipt({ status: 'ACCEPTED' });
    const rows = await suite.db.orm.em.fork().find(Cfe, {});
    const tokens = rows.map(({ receiptToken }) => receiptToken);
    expect(tokens.map((token) => Buffer.from(token, 'base64url').length)).toEqual(tokens.map(() => 16));
    expect(tokens.filter((token) => !/^[\w-]{22}$/.test(token))).toEqual([]);
  });

  test('stay with their CFE, in every answer', async () => {
    const path = await aReceipt({ status: 'ACCEPTED' });
    const em = suite.db.orm.em.fork();
    const cfe = await em.findOneOrFail(Cfe, { receiptToken: path.split('/')[2] as string });
    const { data } = await suite.owner.client.get<{ items: Issued[] }>(
      `/enterprises/${rut}/cfes/101-${cfe.sequence}`,
    );
    expect(data.items[0]?.receipt_url).toBe(`https://cfe.example${path}`);
  });

  test.each(['x', 'a'.repeat(23), '%00'.repeat(22), '..%2f..%2fv1%2fdocs%2f%2f%2f'])(
    '%j is none',
    async (token) => {
      const answer = await open(`/r/${token}`);
      expect([answer.status, await answer.text()]).toEqual([404, expect.stringContaining('no encontrado')]);
    },
  );

  test('guessing is limited by network, as failed authentication is; a right link opens all the same', async () => {
    const path = await aReceipt({ status: 'ACCEPTED' });
    const from = '203.0.113.9';
    for (let i = 0; i < 100; i += 1) expect((await open(unknown(), from)).status).toBe(404);
    const refused = await open(unknown(), from);
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await refused.text()).toContain('Demasiados intentos');
    expect((await open(path, from)).status).toBe(200);
    expect((await open(unknown(), '203.0.113.10')).status).toBe(404);

    now = new Date(now.getTime() + 600_000);
    expect((await open(unknown(), from)).status).toBe(404);
  });
});
