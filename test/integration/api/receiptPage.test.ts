import { beforeAll, describe, expect, test } from '@jest/globals';
import { Cfe } from '../../../src/db/entities/Cfe.ts';
import { Enterprise } from '../../../src/db/entities/Enterprise.ts';
import { keepLogo } from '../../../src/db/logos.ts';
import { useApi } from '../../support/apiSuite.ts';
import { aCfeBody, type CfeWishes } from '../../support/cfeBodies.ts';
import { aReadyEnterprise, giveCae, giveCertificate } from '../../support/enterprises.ts';
import { aPng } from '../../support/pictures.ts';
import { bringTo, SIGNED_XML } from '../../support/signedCfes.ts';

let now = new Date();
const suite = useApi({
  clock: () => now,
  trustedProxies: 1,
  draw: async (_, paper) => Buffer.from(`%PDF-1.7 ${paper}`),
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
    const logoSha256 = await keepLogo(em, { bytes, mediaType: 'image/png' }, new Date());
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
  test('are 128 random bits: none twice, every bit used', async () => {
    const em = suite.db.orm.em.fork();
    const rows = await em.execute<{ token: string }[]>(
      'select new_receipt_token() as token from generate_series(1, 2000)',
    );
    const bytes = rows.map(({ token }) => Buffer.from(token, 'base64url'));
    expect(new Set(rows.map(({ token }) => token)).size).toBe(2000);
    expect(bytes.every(({ length }) => length === 16)).toBe(true);
    for (let bit = 0; bit < 128; bit += 1) {
      const ones = bytes.filter((one) => ((one[bit >> 3] ?? 0) >> (bit & 7)) & 1).length;
      // Six standard deviations around the half.
      expect(Math.abs(ones - 1000)).toBeLessThan(135);
    }
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
