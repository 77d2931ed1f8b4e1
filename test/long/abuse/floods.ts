import type { Attack, Ground } from '../../support/api/abuse.ts';
import { createHttpClient } from '../../support/api/http.ts';

/** What the API process must be started with: the one proxy that it trusts is the sender of these attacks. */
export const FLOOD_SETTINGS = { CFE_TRUSTED_PROXIES: '1' } as const;

const MANY = { times: 600, atOnce: 10 } as const;

/** A call without a key, whose X-Forwarded-For ends with what a proxy added. */
const fail = async ({ api, attacker }: Ground, forwarded: string): Promise<number> =>
  (await createHttpClient(api.baseUrl, { 'x-forwarded-for': forwarded }).get(`/enterprises/${attacker.rut}`))
    .status;

/** What costs little, sent often. */
export const FLOODS: readonly Attack[] = [
  {
    name: '600 failed authentications from one address',
    ...MANY,
    send: (ground) => fail(ground, '192.0.2.1'),
    answers: [401, 429],
  },
  {
    name: '600 failed authentications that each claim another address',
    ...MANY,
    send: (ground, place) => fail(ground, `198.51.100.${place % 250}, 192.0.2.2`),
    answers: [401, 429],
  },
  {
    name: '600 failed authentications from as many addresses',
    ...MANY,
    send: (ground, place) => fail(ground, `10.1.${place >> 8}.${place & 255}`),
    answers: [401],
  },
  {
    name: '200 requests of one account at once',
    times: 200,
    atOnce: 200,
    send: async ({ attacker: { client, rut } }) => (await client.get(`/enterprises/${rut}/cfes`)).status,
    answers: [200],
  },
  {
    name: '600 questions whether it is ready',
    ...MANY,
    send: async ({ api }) => (await fetch(new URL('/readyz', api.baseUrl))).status,
    answers: [200],
  },
];
