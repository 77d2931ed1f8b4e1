import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Breakers, PlannedCall } from '../../../src/dgi/calls.ts';
import { createDgiClient } from '../../../src/dgi/client.ts';
import { CredentialsCheckUnavailable, createCredentialsCheck } from '../../../src/dgi/credentials.ts';
import {
  ackSobre,
  authorityKeys,
  credentialsOf,
  exception,
  fault,
  fingerprint,
  soapAnswer,
} from '../../support/dgi/answers.ts';
import { answers, aServer, type Behaviour } from '../../support/dgi/aServer.ts';
import { sendSobre } from '../../support/dgi/sendSobre.ts';
import { freePort } from '../../support/processes/services.ts';

const credentials = credentialsOf();
let server: Awaited<ReturnType<typeof aServer>>;
let told: (PlannedCall | string)[];
let isAway: boolean;
beforeAll(async () => {
  server = await aServer();
});
afterAll(() => server.stop());
beforeEach(() => {
  server.requests.length = 0;
  told = [];
  isAway = false;
});

/** Keeps a diary of the calls and how they ended. */
const breakers: Breakers = {
  async permit(call) {
    told.push(call);
    return isAway ? null : { ended: async (how) => void told.push(how) };
  },
};
function client(url = server.url) {
  const endpoints = {
    receptionUrl: url,
    consultationUrl: url,
    registryUrl: url,
  };
  return createDgiClient({
    endpoints: { production: endpoints, sandbox: endpoints },
    timeouts: { connectSeconds: 2, answerSeconds: 1 },
    soapHash: 'sha1',
    trustedSigners: async () => new Set([fingerprint(authorityKeys())]),
    breakers,
  });
}
const send = (url?: string) =>
  sendSobre(client(url), credentials, 'production', { idemisor: 7n, xml: '<EnvioCFE/>' });
const received = (document: string): Behaviour => answers(soapAnswer('EFACRECEPCIONSOBRE', document));

describe('the permit before every call to the authority', () => {
  test.each<[string, 'answered' | 'failed', Behaviour]>([
    ['a received sobre', 'answered', received(ackSobre())],
    ['a refusal', 'answered', received(ackSobre({ state: 'BS', codes: ['S05'] }))],
    ['an exception of the service', 'answered', received(exception(99))],
    ['an answer to somebody else', 'answered', received(ackSobre({ idemisor: '8' }))],
    [
      'a signature of nobody we know',
      'answered',
      received(ackSobre({ keys: authorityKeys({ name: 'other' }) })),
    ],
    [
      'a signature of ours that is not taken',
      'answered',
      answers(fault('no signature in message'), { status: 500 }),
    ],
    ['a fault inside the service', 'failed', answers(fault('Internal Error'), { status: 500 })],
    ['an error page', 'failed', answers('<html>Service Unavailable</html>', { status: 503 })],
    ['a page in place of the answer', 'failed', answers('<html>maintenance</html>')],
    ['a dropped connection', 'failed', (response) => response.destroy()],
    ['silence', 'failed', () => {}],
  ])('%s: is told that the call was %s', async (_, how, behaviour) => {
    server.behaves(behaviour);
    await send();
    expect(told).toEqual([{ endpoint: 'production/reception', isProbe: false }, how]);
  });

  test('nobody there: is told that the call failed', async () => {
    await send(`http://127.0.0.1:${await freePort()}`);
    expect(told.at(-1)).toBe('failed');
  });

  test('what it does not let through is not sent and comes out as unreached', async () => {
    isAway = true;
    const unreached = { kind: 'repeat', description: 'held back', reached: false };
    const ticket = { idReceptor: '1', token: 'x' };
    expect(await send()).toEqual(unreached);
    expect(await client().askVerdict(credentials, 'sandbox', ticket)).toEqual(unreached);
    expect(await client().lookUpRut(credentials, 'production', '219000090011')).toEqual(unreached);
    expect(server.requests).toEqual([]);
    expect(told).toEqual([
      { endpoint: 'production/reception', isProbe: false },
      { endpoint: 'sandbox/reception', isProbe: false },
      { endpoint: 'production/registry', isProbe: false },
    ]);
  });

  test('the credentials check has an endpoint of its own', async () => {
    const check = createCredentialsCheck({ url: server.url, timeoutSeconds: 1, breakers });
    server.behaves(answers('{"login":"failed"}'));
    await check({ rut: '219999830019' });
    server.behaves(answers('{}', { status: 502 }));
    await expect(check({ rut: '219999830019' })).rejects.toThrow(CredentialsCheckUnavailable);
    isAway = true;
    await expect(check({ rut: '219999830019' })).rejects.toThrow(CredentialsCheckUnavailable);
    const call = { endpoint: 'credentials', isProbe: false };
    expect(told).toEqual([call, 'answered', call, 'failed', call]);
    expect(server.requests).toHaveLength(2);
  });
});
