import type { Account, Attack, Ground } from '../../support/api/abuse.ts';
import { sendRaw } from '../../support/api/http.ts';
import { dsaP12, roundsP12 } from '../../support/enterprises/hostileP12.ts';
import { aCfeBody } from '../../support/receipts/cfeBodies.ts';
import { aCertificate, anAuthority, aRut, costlyP12 } from '../../support/receipts/papers.ts';

const MEBIBYTE = 1024 * 1024;
const KEY_BYTES = 12;

/** As many `parts` as fit into `bytes`. */
function filled(bytes: number, part: (place: number) => string): string {
  const parts: string[] = [];
  for (let length = 0; length < bytes; length += (parts.at(-1)?.length ?? 0) + 1)
    parts.push(part(parts.length));
  return parts.slice(0, -1).join(',');
}

const nested = (levels: number, inside: string): string =>
  '{"a":'.repeat(levels) + inside + '}'.repeat(levels);
const postCfe = async ({ attacker: { client, rut } }: Ground, body: unknown): Promise<number> =>
  (await client.post(`/enterprises/${rut}/cfes`, body)).status;

const ROOM = MEBIBYTE - 4 * KEY_BYTES;
const BODIES = {
  'a megabyte of unknown fields': `{${filled(ROOM, (i) => `"k${i}":1`)}}`,
  'a megabyte of 18,000 unknown fields': `{${filled(ROOM, (i) => `"${'k'.repeat(48)}${i}":1`)}}`,
  'a megabyte of unknown fields in the lines': `{"details":[${filled(ROOM, (i) => `{${filled(1_100, (k) => `"item_nam${k}${i}":1`)}}`)}]}`,
  'a megabyte of duplicate keys, 30 levels deep': nested(30, `{${filled(ROOM - 200, () => '"a":1')}}`),
  'a megabyte of empty objects': `{"details":[${filled(ROOM, () => '{}')}]}`,
  'a thousand lines with nothing right': `{"details":[${filled(120_000, () => '{"line_number":"x","count":-1,"unit_price":1.1234567,"item_amount":"1"}')}]}`,
  'half a megabyte of keys in extra': JSON.stringify({
    ...aCfeBody(),
    extra: nested(17, `{${filled(MEBIBYTE / 2, (i) => `"k${i}":"\\u0001"`)}}`),
  }),
};

/** Bodies that take a while to make, by what they are. */
const made = new Map<string, unknown>();
const once = <T>(name: string, make: () => T): T => {
  if (!made.has(name)) made.set(name, make());
  return made.get(name) as T;
};

const others: Account[] = [];
/** A .p12 with an oversized DSA key, and one with a round count below zero. */
let hostile: object[] = [];
const p12 = ({ rut }: Account) =>
  once(`p12 ${rut}`, () => {
    const { certB64, password } = aCertificate({ rut });
    return { cert_b64: costlyP12(certB64, 300_000), password };
  });
const upload = async (account: Account, place: number): Promise<number> => {
  const client =
    place % 2 === 0 ? account.client : account.client.with({ 'idempotency-key': `p12-${place}` });
  return (await client.post(`/enterprises/${account.rut}/certificate`, p12(account))).status;
};

const caeOf = ({ rut }: Account, part: string) =>
  once(`cae ${part}`, () => {
    const parts = part.repeat(Math.floor(60_000 / part.length));
    const xml = anAuthority().caeXml({ rut }).replace('</ns0:DA>', `</ns0:DA>${parts}`);
    return { cae_b64: Buffer.from(xml).toString('base64'), cae_start_number: 1 };
  });
const uploadsOfCae = (name: string, part: string): Attack => ({
  name,
  prepare: async ({ attacker }) => void caeOf(attacker, part),
  send: async ({ attacker }) =>
    (await attacker.client.post(`/enterprises/${attacker.rut}/caes`, caeOf(attacker, part))).status,
  answers: [400],
});

const get = async ({ api, attacker }: Ground, headers: Record<string, string>): Promise<number> =>
  (
    await sendRaw(`${api.baseUrl}/enterprises/${attacker.rut}`, {
      method: 'GET',
      headers: { ...attacker.headers, ...headers },
    })
  ).status;

/** What a caller sends that costs more to read than to send. */
export const COST_OF_INPUT: readonly Attack[] = [
  ...Object.entries(BODIES).map(
    ([name, body]): Attack => ({ name, send: (ground) => postCfe(ground, body), answers: [400] }),
  ),
  {
    name: 'a .p12 of 300,000 rounds, again and again',
    times: 8,
    atOnce: 8,
    prepare: async ({ attacker }) => void p12(attacker),
    send: ({ attacker }, place) => upload(attacker, place),
    answers: [400, 503],
  },
  {
    name: 'such files from four accounts at once',
    times: 24,
    atOnce: 24,
    prepare: async ({ anAccount }) => {
      while (others.length < 4) others.push(await anAccount());
      others.forEach(p12);
    },
    send: ({ attacker }, place) => upload(others[place % others.length] ?? attacker, place),
    answers: [400, 503],
  },
  {
    name: 'files with a DSA key of 65,000 bits or rounds below zero, from two accounts at once',
    times: 8,
    atOnce: 8,
    prepare: async ({ anAccount }) => {
      while (others.length < 2) others.push(await anAccount());
      hostile = [
        dsaP12(aCertificate({ rut: aRut() }).certificatePem, 8_192),
        roundsP12(Buffer.of(0x80, 0, 0, 0)),
      ].map((file) => ({ cert_b64: file.toString('base64'), password: 'ñandú' }));
    },
    send: async ({ attacker }, place) => {
      const { client, rut } = others[place % 2] ?? attacker;
      return (await client.post(`/enterprises/${rut}/certificate`, hostile[place >> 2])).status;
    },
    answers: [400],
  },
  uploadsOfCae('a CAE of 15,000 empty elements', '<a/>'),
  uploadsOfCae('a CAE of 8,500 comments', '<!---->'),
  {
    name: '15 KB of Prefer',
    times: 30,
    send: (ground) => get(ground, { prefer: `wait${' '.repeat(7_000)}${'"\\'.repeat(3_500)}` }),
    answers: [200],
  },
  {
    name: '15 KB of Content-Type',
    times: 30,
    async send({ api, attacker }) {
      const headers = { ...attacker.headers, 'content-type': `application/json${' '.repeat(14_500)}x` };
      const url = `${api.baseUrl}/enterprises/${attacker.rut}/cfes`;
      return (await sendRaw(url, { method: 'POST', headers, chunks: ['{}'] })).status;
    },
    answers: [415],
  },
];
