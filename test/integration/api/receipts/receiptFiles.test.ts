import { createHash } from 'node:crypto';
import { beforeAll, describe, expect, test } from '@jest/globals';
import type { PaperSize } from '../../../../src/domain/receipts/qr.ts';
import { Refusal } from '../../../../src/errors.ts';
import type { PrintedReceipt } from '../../../../src/print/receipt.ts';
import { useApi } from '../../../support/api/apiSuite.ts';
import { testsOfEveryEnterpriseRoute } from '../../../support/api/everyRoute.ts';
import { expectRefusal } from '../../../support/api/expectRefusal.ts';
import { aReadyEnterprise } from '../../../support/enterprises/enterprises.ts';
import { aCfeBody } from '../../../support/receipts/cfeBodies.ts';
import { bringTo, SIGNED_XML } from '../../../support/receipts/signedCfes.ts';

/** What was drawn; the stand-in for drawing tells the paper. */
const drawn: [PrintedReceipt, PaperSize][] = [];
let full = false;

const suite = useApi({
  draw: async (_, paper, read) => {
    if (full)
      throw new Refusal('UNAVAILABLE', 'Too many receipts are being shown; try again in a few seconds.', {
        retryAfterSeconds: 3,
      });
    drawn.push([await read(), paper]);
    return Buffer.from(`%PDF-1.7 ${paper}`);
  },
});
let rut: string;
beforeAll(async () => {
  rut = await aReadyEnterprise(suite.db.orm, suite.owner.accountId);
});

const type = 'ETICKET' as const;
const bring = (sequence: number, to: Parameters<typeof bringTo>[2]) =>
  bringTo(suite.db.orm, { rut, type, sequence }, to);

/** A CFE of the type, brought to a status; answers the path of its file. */
async function aCfe(to: Parameters<typeof bringTo>[2], file: 'pdf' | 'xml' = 'xml'): Promise<string> {
  const { data } = await suite.owner.client.post<{ cfe_id: string }>(
    `/enterprises/${rut}/cfes`,
    aCfeBody({ extra: { adenda: `Gracias ${Math.random()}` } }),
  );
  await bring(Number(data.cfe_id.split('-')[1]), to);
  return `/enterprises/${rut}/cfes/${data.cfe_id}/${file}`;
}
const get = (path: string, headers: Record<string, string> = {}) => suite.owner.client.get(path, headers);

describe.each(['xml', 'pdf'] as const)('GET …/cfes/{cfe_id}/%s', (file) => {
  testsOfEveryEnterpriseRoute(suite, {
    method: 'GET',
    path: (of) => `/enterprises/${of}/cfes/101-1/${file}`,
    rut: () => aReadyEnterprise(suite.db.orm, suite.owner.accountId),
  });

  test('404: a CFE that is not there', async () => {
    expectRefusal(await get(`/enterprises/${rut}/cfes/113-77/${file}`), 404, 'NOT_FOUND');
  });

  test('409 with Retry-After until the sobre went out', async () => {
    const answer = await get(await aCfe({ status: 'PENDING' }, file));
    expectRefusal(answer, 409, 'NOT_SENT_YET');
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
  });

  test.each(['abandoned', 'reference.rejected'])(
    '409 without Retry-After where it never will: REJECTED with %s',
    async (code) => {
      const rejection = [{ code, message: 'never sent', detail: null }];
      const answer = await get(await aCfe({ status: 'REJECTED', rejection }, file));
      expectRefusal(answer, 409, 'NOT_SENT_YET');
      expect(answer.headers.get('retry-after')).toBeNull();
    },
  );

  test.each(['RECEIVED', 'ACCEPTED', 'OBSERVED', 'REJECTED'] as const)('200: %s', async (status) => {
    const rejection = status === 'REJECTED' ? [{ code: 'E05', message: 'no', detail: null }] : null;
    const answer = await get(await aCfe({ status, rejection }, file));
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe(`application/${file}`);
    expect(answer.headers.get('content-disposition')).toMatch(
      new RegExp(`^attachment; filename="${rut}-101-A-\\d+\\.${file}"$`),
    );
    if (file === 'pdf') expect(drawn.at(-1)?.[0].rejected).toBe(status === 'REJECTED');
  });

  test('304 for who has it; HEAD as GET', async () => {
    const path = await aCfe({ status: 'ACCEPTED' }, file);
    const etag = (await get(path)).headers.get('etag') ?? '';
    expect(etag).toMatch(/^"[0-9a-f]{64}"$/);
    const again = await get(path, { 'if-none-match': etag });
    expect([again.status, again.text, again.headers.get('etag')]).toEqual([304, '', etag]);
    expect((await get(path, { 'if-none-match': '"other"' })).status).toBe(200);
    const head = await suite.owner.client.send('HEAD', path);
    expect([head.status, head.text, head.headers.get('etag')]).toEqual([200, '', etag]);
  });
});

describe('the signed XML', () => {
  test('is answered byte for byte', async () => {
    const path = await aCfe({ status: 'ACCEPTED' });
    const headers = { 'x-api-key': suite.owner.apiKey, authorization: `Bearer ${suite.owner.token}` };
    const response = await fetch(suite.api.baseUrl + path, { headers });
    const bytes = Buffer.from(await response.arrayBuffer());
    expect(bytes.equals(Buffer.from(SIGNED_XML, 'utf8'))).toBe(true);
    expect(response.headers.get('etag')).toBe(`"${createHash('sha256').update(bytes).digest('hex')}"`);
    expect(response.headers.get('cache-control')).toBe('private, no-cache');
  });
});

describe('the printed form', () => {
  test.each([
    ['', 'A4'],
    ['?paper=A4', 'A4'],
    ['?paper=80mm', '80mm'],
    ['?paper=58mm', '58mm'],
  ])('%j is drawn on %s', async (query, paper) => {
    const answer = await get((await aCfe({ status: 'ACCEPTED' }, 'pdf')) + query);
    expect(answer.text).toBe(`%PDF-1.7 ${paper}`);
  });

  test('400: another paper', async () => {
    const answer = await get(`${await aCfe({ status: 'ACCEPTED' }, 'pdf')}?paper=A3`);
    const error = expectRefusal(answer, 400, 'INVALID_INPUT');
    expect(error.details?.fields).toEqual([expect.objectContaining({ path: '/query/paper' })]);
  });

  test('is drawn once, of what the CFE was numbered with', async () => {
    const path = await aCfe({ status: 'ACCEPTED' }, 'pdf');
    const before = drawn.length;
    const answers = await Promise.all([get(path), get(path), get(path)]);
    await get(path);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(drawn.length).toBe(before + 1);
    expect(drawn.at(-1)?.[0]).toMatchObject({
      xml: SIGNED_XML,
      environment: 'production',
      rejected: false,
      adenda: expect.stringMatching(/^Gracias /),
      // The enterprise names no web address of its own.
      website: 'cfe.example/verificar',
    });
  });

  test('503 with Retry-After while too much is drawn', async () => {
    const path = await aCfe({ status: 'ACCEPTED' }, 'pdf');
    full = true;
    try {
      const answer = await get(path);
      expectRefusal(answer, 503, 'UNAVAILABLE');
      expect(answer.headers.get('retry-after')).toBe('3');
    } finally {
      full = false;
    }
    // What failed is not kept.
    expect((await get(path)).status).toBe(200);
  });
});
