import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createTransport, type Transporter } from 'nodemailer';
import { aSimulator, portal, type TestSimulator } from '../../support/simulator/world.ts';

let simulator: TestSimulator;
let transport: Transporter;
beforeAll(async () => {
  simulator = await aSimulator({ smtpPort: 0 });
  transport = createTransport(simulator.smtpUrl ?? '');
});
afterAll(() => simulator.stop());

const call = (method: string, path: string, body?: unknown) => portal(simulator.url, method, path, body);
const XML = '<?xml version="1.0" encoding="utf-8"?><CFE>ñ</CFE>';

let sent = 0;
const send = (to: string) =>
  transport.sendMail({
    from: { name: 'Ñandú, S.A.', address: 'comprobantes@cfe.example' },
    to,
    subject: 'Recibo ñ',
    text: 'hola',
    messageId: `<mail-${(sent += 1)}@cfe.example>`,
    attachments: [
      { filename: 'A-1.xml', content: XML, contentType: 'application/xml' },
      {
        filename: 'con espacio.pdf',
        content: Buffer.from([37, 80, 68, 70, 0, 255]),
        contentType: 'application/pdf',
      },
    ],
  });
interface Item {
  message_id: string;
  subject: string;
  from: string;
  to: string;
  received_at: string;
  attachments: { name: string; type: string; sha256: string }[];
}
const arrived = async (query: string): Promise<Item[]> =>
  ((await call('GET', `/portal/mails${query}`)).json as { items: Item[] }).items;
const sha256 = (bytes: string | Uint8Array) => createHash('sha256').update(bytes).digest('hex');

describe('the mail server', () => {
  let since: string;
  beforeAll(async () => {
    since = new Date().toISOString();
    await send('uno@example.com');
  });

  test('keeps every e-mail for everybody, with what is in it', async () => {
    const [item, ...more] = await arrived('?to=UNO@example.com');

    expect(more).toEqual([]);
    expect(item).toMatchObject({
      message_id: 'mail-1@cfe.example',
      from: 'comprobantes@cfe.example',
      to: 'uno@example.com',
      subject: 'Recibo ñ',
    });
    expect(item?.received_at).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
    expect(item?.attachments).toEqual([
      { name: 'A-1.xml', type: 'application/xml', sha256: sha256(XML) },
      {
        name: 'con espacio.pdf',
        type: 'application/pdf',
        sha256: sha256(Buffer.from([37, 80, 68, 70, 0, 255])),
      },
    ]);
  });

  test('gives a file byte for byte, whether its Message-ID comes with angle brackets or not', async () => {
    for (const id of ['mail-1@cfe.example', encodeURIComponent('<mail-1@cfe.example>')]) {
      const answer = await fetch(`${simulator.url}/portal/mails/${id}/con%20espacio.pdf`);
      expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/pdf']);
      expect([...new Uint8Array(await answer.arrayBuffer())]).toEqual([37, 80, 68, 70, 0, 255]);
    }
    expect((await call('GET', '/portal/mails/mail-1@cfe.example/other.pdf')).status).toBe(404);
    expect((await call('GET', '/portal/mails/none@cfe.example/A-1.xml')).status).toBe(404);
    expect((await call('GET', '/portal/mails/%E0%A4%A/A-1.xml')).status).toBe(400);
  });

  test('lists from a moment on', async () => {
    expect(await arrived(`?since=${since}`)).toHaveLength(1);
    expect(await arrived('?since=2099-01-01')).toEqual([]);
    expect((await call('GET', '/portal/mails?since=tomorrow')).status).toBe(400);
  });

  test.each([
    [450, 450],
    [550, 550],
  ] as const)(
    'a mailbox told to answer %i does so as often as told, and keeps nothing meanwhile',
    async (answer, code) => {
      const address = `caja${answer}@example.com`;
      expect(await call('PUT', `/portal/mailboxes/${address}`, { answer, times: 2 })).toMatchObject({
        status: 200,
        json: { address, answer, times: 2 },
      });

      for (let n = 0; n < 2; n += 1)
        await expect(send(address)).rejects.toMatchObject({ responseCode: code });
      expect(await arrived(`?to=${address}`)).toEqual([]);
      await send(address);
      expect(await arrived(`?to=${address}`)).toHaveLength(1);
    },
  );

  test('0: it has the e-mail and drops the connection without a word', async () => {
    await call('PUT', '/portal/mailboxes/corte@example.com', { answer: 0 });

    await expect(send('corte@example.com')).rejects.toThrow(/closed|reset/i);

    expect(await arrived('?to=corte@example.com')).toHaveLength(1);
    await call('PUT', '/portal/mailboxes/corte@example.com', { answer: 250 });
    await send('corte@example.com');
    expect(await arrived('?to=corte@example.com')).toHaveLength(2);
  });

  test.each([
    ['/portal/mailboxes/nobody', { answer: 250 }],
    ['/portal/mailboxes/a@example.com', { answer: 251 }],
    ['/portal/mailboxes/a@example.com', { answer: 250, times: 0 }],
    ['/portal/mailboxes/a@example.com', {}],
  ])('PUT %s %j is refused', async (path, body) => {
    expect((await call('PUT', path, body)).status).toBe(400);
  });
});
