import { beforeAll, describe, expect, test } from '@jest/globals';
import { OutboxMessage } from '../../../../src/db/entities/operations.ts';
import { Cfe } from '../../../../src/db/entities/receipts.ts';
import type { CfeStatus } from '../../../../src/domain/receipts/cfeStatus.ts';
import { useApi } from '../../../support/api/apiSuite.ts';
import { aReadyEnterprise } from '../../../support/enterprises/enterprises.ts';
import { giveCfes } from '../../../support/mail/receipts.ts';

const suite = useApi();
let issuer: { accountId: string; rut: string };
beforeAll(async () => {
  const { accountId } = suite.owner;
  issuer = { accountId, rut: await aReadyEnterprise(suite.db.orm, accountId) };
});

const aCfe = async (status: CfeStatus): Promise<{ cfe: Cfe; path: string }> => {
  const [cfe] = (await giveCfes(suite.db.orm, issuer, { status })) as [Cfe];
  return { cfe, path: `/enterprises/${issuer.rut}/cfes/101-${cfe.sequence}/emails` };
};
const TO = { destination: 'compras@cliente.example' };
interface Email {
  mail_id: string;
}

describe('POST …/cfes/{cfe_id}/emails', () => {
  test.each(['RECEIVED', 'ACCEPTED', 'OBSERVED'] as const)(
    '%s: it is on its way, and in the list',
    async (status) => {
      const { client } = suite.owner;
      const { path } = await aCfe(status);

      const answer = await client.post<Email>(path, TO);

      expect(answer.status).toBe(202);
      expect(answer.data).toEqual({
        mail_id: expect.stringMatching(/^[\da-f-]{36}$/),
        kind: 'RECEIPT',
        destination: 'compras@cliente.example',
        status: 'PENDING',
        error: null,
        attempts: 0,
        created_at: expect.stringMatching(/Z$/),
      });
      expect((await client.get(path)).data).toEqual([answer.data]);
      const message = await suite.db.orm.em
        .fork()
        .findOneOrFail(OutboxMessage, { workflowId: `mail:${answer.data.mail_id}` });
      expect(JSON.stringify(message)).not.toContain('cliente.example');
    },
  );

  test('a CFE that has not gone to the authority: 409, with when to ask again', async () => {
    const { path } = await aCfe('PENDING');

    const answer = await suite.owner.client.post(path, TO);

    expect([answer.status, answer.error.code]).toEqual([409, 'NOT_SENT_YET']);
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
  });

  test('a REJECTED CFE: 400', async () => {
    const { path } = await aCfe('REJECTED');

    const answer = await suite.owner.client.post(path, TO);

    expect([answer.status, answer.error.code]).toEqual([400, 'INVALID_INPUT']);
    expect(answer.error.details?.fields).toMatchObject([{ path: '', code: 'mail.cfe_rejected' }]);
  });

  test('the eleventh of a day: 429, with when the next may be asked for; another CFE is another count', async () => {
    const { client } = suite.owner;
    const { path } = await aCfe('ACCEPTED');
    for (let n = 0; n < 10; n += 1) expect((await client.post(path, TO)).status).toBe(202);

    const answer = await client.post(path, TO);

    expect([answer.status, answer.error.code]).toEqual([429, 'RATE_LIMITED']);
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(Number(answer.headers.get('retry-after'))).toBeLessThanOrEqual(86_400);
    expect((await client.get<Email[]>(path)).data).toHaveLength(10);
    expect((await client.post((await aCfe('ACCEPTED')).path, TO)).status).toBe(202);
  });

  test('the same Idempotency-Key is one e-mail', async () => {
    const { client } = suite.owner;
    const { path } = await aCfe('ACCEPTED');
    const headers = { 'idempotency-key': 'mail-once' };

    const first = await client.post<Email>(path, TO, headers);
    const second = await client.post<Email>(path, TO, headers);

    expect(second.data).toEqual(first.data);
    expect(second.headers.get('idempotent-replayed')).toBe('true');
    expect((await client.get<Email[]>(path)).data).toHaveLength(1);
  });

  test('an unknown CFE is 404 before the body is judged; so is one of the sandbox', async () => {
    const { client } = suite.owner;
    const [trial] = (await giveCfes(suite.db.orm, issuer, {
      status: 'ACCEPTED',
      environment: 'sandbox',
    })) as [Cfe];
    const base = `/enterprises/${issuer.rut}/cfes`;

    for (const path of [`${base}/101-999999/emails`, `${base}/101-${trial.sequence}/emails`]) {
      expect((await client.post(path, { nothing: true })).status).toBe(404);
      expect((await client.get(path)).status).toBe(404);
    }
  });

  test.each([
    'nobody',
    'a@b',
    'a b@example.com',
    'a@example.com,b@example.com',
    'a@example.com;b@example.com',
    'a@example.com>',
    '<a@example.com>',
    '"a"@example.com',
    'a@exam ple.com',
    'a@example.com\r\nBcc: c@example.com',
    'a@example.com\nx',
    'a@-example.com',
    'a@example..com',
    'a(b)@example.com',
    `${'a'.repeat(65)}@example.com`,
  ])('%j is no address', async (destination) => {
    const { path } = await aCfe('ACCEPTED');

    const answer = await suite.owner.client.post(path, { destination });

    expect(answer.status).toBe(400);
    expect(answer.error.details?.fields[0]?.path).toBe('/destination');
  });

  test.each(['ñandu+cfe.2026@correo.com.uy', "o'brien@exa-mple.com", 'a@ñandú.com.uy'])(
    '%j is one',
    async (destination) => {
      const { path } = await aCfe('ACCEPTED');

      expect((await suite.owner.client.post(path, { destination })).status).toBe(202);
    },
  );
});
