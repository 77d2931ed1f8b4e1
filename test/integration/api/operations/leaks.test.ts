/** Marked secrets and personal data through every endpoint; then logs, workflow inputs and error bodies are searched. */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { readExamples } from '../../../../src/api/openapi/examples.ts';
import { setRateLimit } from '../../../../src/commands/people/accounts.ts';
import { OutboxMessage } from '../../../../src/db/entities/operations.ts';
import { useApi } from '../../../support/api/apiSuite.ts';
import type { Answer, HttpClient, Sending } from '../../../support/api/http.ts';
import { anEnterprise, aReadyEnterprise } from '../../../support/enterprises/enterprises.ts';
import { DOCUMENT } from '../../../support/openapi/conformance.ts';
import { aCertificate, aRut, day } from '../../../support/receipts/papers.ts';

/** Nothing else in the service holds these letters. */
const MARK = 'zqsecretqz';
const IN_BASE64 = Buffer.from(MARK.repeat(3)).toString('base64').slice(4, 24);

const suite = useApi();
let ready: string;
let pending: string;
const errorBodies: string[] = [];
const answers: string[] = [];

beforeAll(async () => {
  const { accountId } = suite.owner;
  await setRateLimit(suite.api.deps, { accountId, environment: 'production', perHour: 10_000_000 });
  ready = await aReadyEnterprise(suite.db.orm, suite.owner.accountId);
  pending = await anEnterprise(suite.db.orm, suite.owner.accountId);
});

type Json = Record<string, unknown>;

/** Fields of free text; the value of each becomes a mark. Codes and names of plans may be told back, and keep theirs. */
const FREE =
  /^(legal_name|trade_name|department_name|locality_name|street_name|phone_number|fiscal_address|city|department|country|destination|receiver_document|doc_number|item_name|item_description|username|password)$/;
const FILES = /^(cert_b64|cae_b64)$/;

/** A body whose texts are marks; `spoil` makes of each mark what the test wants of it. */
function marked(value: unknown, spoil: (mark: string) => unknown = (mark) => mark, key = ''): unknown {
  if (Array.isArray(value)) return value.map((one) => marked(one, spoil));
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(
      Object.entries(value).map(([name, inner]) => [name, marked(inner, spoil, name)]),
    );
  }
  if (FILES.test(key)) return spoil(Buffer.from(MARK.repeat(3)).toString('base64'));
  if (key === 'extra') return JSON.stringify({ adenda: MARK, reference_reason: MARK, [MARK]: MARK });
  if (key === 'destination') return spoil(`${MARK}@example.com`);
  if (key === 'receiver_doc_type' || key === 'doc_type') return 'NIFE';
  if (key === 'country_code') return 'BR';
  if (key === 'emission_date') return day(0);
  return FREE.test(key) ? spoil(MARK) : value;
}

/** Each makes the marks wrong in one way, so that every check has to say what is wrong with them. */
const SPOILERS: readonly ((mark: string) => unknown)[] = [
  (mark) => mark,
  (mark) => `${mark}${'x'.repeat(2_000)}`,
  (mark) => `${mark}\u0001`,
  (mark) => `${mark}\ud800`,
  (mark) => [mark],
  (mark) => ({ value: mark }),
  () => null,
];

/** Sends and keeps what came; what a client sees in a success is its own affair, but never a secret of others. */
async function send(
  client: HttpClient,
  method: string,
  path: string,
  sending: Sending = {},
): Promise<Answer> {
  const answer = await client.send(method, path, sending);
  (answer.status >= 400 ? errorBodies : answers).push(answer.text);
  return answer;
}

const operations = Object.entries(DOCUMENT.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => {
    const { operationId } = operation as { operationId: string };
    return [`${method.toUpperCase()} ${path}`, { operationId, method: method.toUpperCase(), path }] as const;
  }),
);

const pathFor = (path: string, rut: string, docNumber: string): string =>
  path
    .replace('{rut}', rut)
    .replace('{doc_type}', 'NIFE')
    .replace('{doc_number}', docNumber)
    .replace('{cfe_id}', '101-1');

describe('marked secrets and personal data', () => {
  test.each(operations)('go through %s', async (_, { operationId, method, path }) => {
    const { client } = suite.owner;
    const bodies = Object.values(readExamples().operations[operationId]?.requests ?? {}).map(
      ({ value }) => value,
    );
    for (const rut of [ready, pending]) {
      const at = pathFor(path, rut, MARK);
      for (const body of bodies) {
        for (const spoil of SPOILERS) {
          const sent = marked(body, spoil) as Json;
          const whole = operationId === 'createEnterprise' ? { ...sent, rut: aRut() } : sent;
          await send(client, method, at, {
            body: whole,
            headers: { 'idempotency-key': `${MARK}-${SPOILERS.indexOf(spoil)}` },
          });
        }
        await send(client, method, at, { body: JSON.stringify(marked(body)).slice(0, -3) });
        await send(client, method, at, {
          body: JSON.stringify(marked(body)),
          headers: { 'content-type': 'text/plain' },
        });
      }
      if (bodies.length === 0) await send(client, method, at);
      await send(client, method, `${at}?legal_name=${MARK}&doc_number=${MARK}&skip=1`);
    }
  });

  test('go through the headers that prove who calls', async () => {
    const { api, owner } = suite;
    const key = `cfe_live_${MARK}`;
    const path = `/enterprises/${ready}`;
    await send(api.client, 'POST', '/tokens', { body: {}, headers: { 'x-api-key': key } });
    await send(api.client, 'GET', path, { headers: { 'x-api-key': key, authorization: `Bearer ${MARK}` } });
    await send(owner.client, 'GET', path, { headers: { authorization: `Bearer ${MARK}` } });
    await send(owner.client, 'GET', path, { headers: { authorization: `Basic ${MARK}` } });
    await send(owner.client, 'GET', path, {
      headers: { cookie: MARK, 'user-agent': MARK, referer: `https://${MARK}.example` },
    });
  });

  test('go through the upload of a certificate that its password opens', async () => {
    const { certB64, password } = aCertificate({ rut: pending, password: MARK });
    const body = { cert_b64: certB64, password };
    expect(
      (await send(suite.owner.client, 'POST', `/enterprises/${pending}/certificate`, { body })).status,
    ).toBe(201);
  });
});

describe('are found nowhere', () => {
  const notHeld = (texts: readonly string[], ...words: string[]): void => {
    for (const word of words) {
      const holder = texts.find((text) => text.toLowerCase().includes(word.toLowerCase()));
      expect(holder).toBeUndefined();
    }
  };

  test('in the log, nor are key and token of the caller', () => {
    const lines = suite.api.lines.map((line) => JSON.stringify(line));
    expect(lines.length).toBeGreaterThan(100);
    notHeld(lines, MARK, IN_BASE64, suite.owner.apiKey, suite.owner.token);
  });

  test('in what workflows are started with', async () => {
    const rows = await suite.db.orm.em.fork().find(OutboxMessage, {});
    expect(rows.length).toBeGreaterThan(1);
    notHeld(
      rows.map((row) => JSON.stringify(row)),
      MARK,
      IN_BASE64,
    );
  });

  test('in error bodies', () => {
    expect(errorBodies.length).toBeGreaterThan(100);
    notHeld(errorBodies, MARK, IN_BASE64, suite.owner.apiKey, suite.owner.token);
  });

  test('in successes, but for what the caller gave to be shown', () => {
    notHeld(answers, IN_BASE64, suite.owner.apiKey);
  });
});
