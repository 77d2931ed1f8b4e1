import { pbkdf2 } from 'node:crypto';
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { afterEach, describe, expect, test } from '@jest/globals';
import { askNameServers } from '../../../src/webhooks/names.ts';

const [A, AAAA] = [1, 28];
const HEADER_BYTES = 12;
const IPV6 = '2001:db8::7';
const IPV6_BYTES = Buffer.from('20010db8000000000000000000000007', 'hex');

/** The answer to a question: one record of its type, or none. The question ends with its type and class. */
function answerTo(question: Buffer, data: Buffer | null): Buffer {
  const type = question.subarray(-4, -2);
  const header = Buffer.from(question.subarray(0, HEADER_BYTES));
  header.writeUInt16BE(0x8180, 2);
  header.writeUInt16BE(data ? 1 : 0, 6);
  header.writeUInt32BE(0, 8);
  const asked = question.subarray(HEADER_BYTES);
  if (!data) return Buffer.concat([header, asked]);
  const length = Buffer.alloc(2);
  length.writeUInt16BE(data.length);
  const named = Buffer.from([0xc0, HEADER_BYTES]);
  const classAndTtl = Buffer.from([0, 1, 0, 0, 0, 0]);
  return Buffer.concat([header, asked, named, type, classAndTtl, length, data]);
}

describe('names of receivers', () => {
  const sockets: Socket[] = [];
  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.close();
  });

  /** A name server with records by type, null for none of it; it is silent about types that are not named. */
  async function aNameServer(records: Readonly<Record<number, Buffer | null>>): Promise<string> {
    const socket = createSocket('udp4');
    sockets.push(socket);
    socket.on('message', (message, { port, address }) => {
      // EDNS options may follow the question; they are left out of what is echoed.
      const end = message.indexOf(0, HEADER_BYTES) + 5;
      const question = message.subarray(0, end);
      const data = records[question.readUInt16BE(end - 4)];
      if (data !== undefined) socket.send(answerTo(question, data), port, address);
    });
    socket.bind(0, '127.0.0.1');
    await once(socket, 'listening');
    return `127.0.0.1:${socket.address().port}`;
  }
  const ask = async (server: string, milliseconds = 10_000) =>
    askNameServers({ servers: [server], milliseconds })('hooks.example.com');

  test('have their addresses of both families, so that none stays unjudged', async () => {
    const server = await aNameServer({ [A]: Buffer.from([192, 0, 2, 7]), [AAAA]: IPV6_BYTES });

    expect(await ask(server)).toEqual([
      { address: '192.0.2.7', family: 4 },
      { address: IPV6, family: 6 },
    ]);
  });

  test('need not have both', async () => {
    expect(await ask(await aNameServer({ [A]: Buffer.from([192, 0, 2, 7]), [AAAA]: null }))).toEqual([
      { address: '192.0.2.7', family: 4 },
    ]);
    expect(await ask(await aNameServer({ [A]: null, [AAAA]: IPV6_BYTES }))).toEqual([
      { address: IPV6, family: 6 },
    ]);
    expect(await ask(await aNameServer({ [A]: null, [AAAA]: null }))).toEqual([]);
  });

  test('whose server is silent have none, and hold no thread that others need', async () => {
    const server = await aNameServer({});
    let answered = 0;
    const questions = Array.from({ length: 12 }, async () => {
      const addresses = await ask(server, 500);
      answered += 1;
      return addresses;
    });

    const before = await new Promise<number>((resolve, reject) => {
      pbkdf2('work', 'of a thread', 1, 32, 'sha256', (error) => (error ? reject(error) : resolve(answered)));
    });

    expect(before).toBe(0);
    expect(await Promise.all(questions)).toEqual(questions.map(() => []));
  });
});
