import { createPrivateKey } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { Registry } from 'prom-client';
import { isHeldBack, NoAnswer } from '../../../src/dgi/answers.ts';
import { type AuthorityCall, createDgiClient } from '../../../src/dgi/client.ts';
import { measureAuthority, measureCalls, measureWebhooks } from '../../../src/metrics/work.ts';
import { sendSobre } from '../../support/dgi/sendSobre.ts';
import { samplesOf, valueOf } from '../../support/processes/scrape.ts';
import { aCertificate, aRut } from '../../support/receipts/papers.ts';

const SEND = { environment: 'production', service: 'reception', operation: 'sendSobre' } as const;

test('the client tells of every call what came of it, and how long it took', async () => {
  const calls: AuthorityCall[] = [];
  const nowhere = 'http://127.0.0.1:1/';
  const endpoints = { receptionUrl: nowhere, consultationUrl: nowhere };
  const client = createDgiClient({
    endpoints: { production: endpoints, sandbox: endpoints },
    timeouts: { connectSeconds: 5, answerSeconds: 5 },
    soapHash: 'sha256',
    trustedSigners: () => Promise.resolve(new Set()),
    onCall: (call) => void calls.push(call),
  });
  const { privateKeyPem, certificatePem } = aCertificate({ rut: aRut() });
  const credentials = {
    privateKey: createPrivateKey(privateKeyPem),
    certificateDer: Buffer.from(certificatePem.replace(/-----[^-]*-----|\s/g, ''), 'base64'),
  };

  await sendSobre(client, credentials, 'production', { idemisor: 1n, xml: '<x/>' });

  expect(calls).toEqual([{ ...SEND, seconds: expect.any(Number), answer: 'unreached', result: 'repeat' }]);
});

test('calls are counted by what came of them; those that were held back took no time', async () => {
  const registry = new Registry();
  const tell = measureAuthority(registry);
  tell({ ...SEND, seconds: 0.2, answer: 'document', result: 'received' });
  tell({ ...SEND, seconds: 0.3, answer: 'document', result: 'received' });
  tell({ ...SEND, seconds: 0, answer: 'held back', result: 'repeat' });

  const samples = samplesOf(await registry.metrics());

  expect(valueOf(samples, 'cfe_authority_request_duration_seconds_count', SEND)).toBe(2);
  expect(valueOf(samples, 'cfe_authority_request_duration_seconds_sum', SEND)).toBe(0.5);
  expect(valueOf(samples, 'cfe_authority_answers_total', { ...SEND, result: 'received' })).toBe(2);
  expect(valueOf(samples, 'cfe_authority_answers_total', { ...SEND, answer: 'held back' })).toBe(1);
});

test('the check of logins is measured as a call, whether it answers or not', async () => {
  const calls: { answer: string; result: string }[] = [];
  const check = measureCalls(
    ({ answer, result }) => void calls.push({ answer, result }),
    { environment: 'production', service: 'credentials', operation: 'checkLogin' },
    async (failure: Error | null) => {
      if (failure) throw failure;
      return 'success';
    },
    { isHeldBack },
  );

  expect(await check(null)).toBe('success');
  await expect(check(new Error('HTTP 500'))).rejects.toThrow('HTTP 500');
  await expect(check(new NoAnswer('held back'))).rejects.toThrow('held back');

  expect(calls).toEqual([
    { answer: 'document', result: 'answered' },
    { answer: 'unavailable', result: 'repeat' },
    { answer: 'held back', result: 'repeat' },
  ]);
});

test('attempts are counted by what came of them, deliveries once they end', async () => {
  const registry = new Registry();
  const tell = measureWebhooks(registry);
  const before = samplesOf(await registry.metrics());
  expect(valueOf(before, 'cfe_webhook_deliveries_total', { status: 'FAILED' })).toBe(0);

  tell({ httpStatus: 204, error: null, status: 'DELIVERED' });
  tell({ httpStatus: 503, error: null, status: 'PENDING' });
  tell({ httpStatus: null, error: 'timeout', status: 'FAILED' });

  const samples = samplesOf(await registry.metrics());
  const attempts = samples.filter(({ name }) => name === 'cfe_webhook_attempts_total');
  expect(attempts.map(({ labels, value }) => [labels['outcome'], value])).toEqual([
    ['2xx', 1],
    ['5xx', 1],
    ['timeout', 1],
  ]);
  expect(valueOf(samples, 'cfe_webhook_deliveries_total', { status: 'DELIVERED' })).toBe(1);
  expect(valueOf(samples, 'cfe_webhook_deliveries_total', { status: 'FAILED' })).toBe(1);
});
