import { createPrivateKey, generateKeyPairSync } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import type { LookUpAnswer } from '../../../src/dgi/client.ts';
import { createRutLookUp } from '../../../src/dgi/rutLookUp.ts';
import { recordOfStatus } from '../../../src/dgi/xml/registry.ts';

const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const credentials = {
  privateKey: createPrivateKey(privateKey.export({ type: 'pkcs8', format: 'pem' })),
  certificateDer: new Uint8Array(),
};

/** A registry that answers when it is told to, and notes what it was asked. */
function aRegistry() {
  const asked: { rut: string; environment: string; answer: (answer: LookUpAnswer) => void }[] = [];
  const lookUpRut = (_: unknown, environment: string, rut: string) => {
    const { promise, resolve } = Promise.withResolvers<LookUpAnswer>();
    asked.push({ rut, environment, answer: resolve });
    return promise;
  };
  return { asked, lookUp: createRutLookUp({ client: { lookUpRut }, credentials }) };
}

describe('createRutLookUp', () => {
  test('questions for one RUT at the same time share a call, those for another do not', async () => {
    const { asked, lookUp } = aRegistry();

    const answers = [lookUp('219999830019'), lookUp('219999830019'), lookUp('214844360018')];
    asked[0]?.answer({ kind: 'found', record: recordOfStatus('219999830019', 'AA') });
    asked[1]?.answer({ kind: 'unregistered' });

    expect(await Promise.all(answers)).toEqual([
      recordOfStatus('219999830019', 'AA'),
      recordOfStatus('219999830019', 'AA'),
      null,
    ]);
    expect(asked.map(({ rut, environment }) => [rut, environment])).toEqual([
      ['219999830019', 'production'],
      ['214844360018', 'production'],
    ]);
  });

  test('nothing is kept: the next question is asked anew, after a failure too', async () => {
    const { asked, lookUp } = aRegistry();

    const first = lookUp('219999830019');
    asked[0]?.answer({ kind: 'repeat', description: 'ECONNREFUSED', reached: false });
    await expect(first).rejects.toMatchObject({ code: 'UNAVAILABLE', retryAfterSeconds: 30 });
    const second = lookUp('219999830019');
    asked[1]?.answer({ kind: 'unregistered' });

    expect(await second).toBeNull();
    expect(asked).toHaveLength(2);
  });
});
