import { describe, expect, test } from '@jest/globals';
import { createPasswords } from '../../../src/crypto/passwords.ts';

describe('checks of passwords', () => {
  test('strangers from many networks fill their queue, and who is known has a place all the same', async () => {
    const passwords = createPasswords({ log2N: 12, r: 8, p: 1 });
    const hash = await passwords.hash('cuatro palabras bien largas');
    const guess = (network: number) =>
      passwords.matches('a guess', null, { owner: `198.51.100.${network}`, known: false });

    const guesses = Array.from({ length: 60 }, (_, network) => guess(network));
    const settled = Promise.allSettled(guesses);
    const known = passwords.matches('cuatro palabras bien largas', hash, { owner: 'ana', known: true });

    expect(await known).toBe(true);
    const outcomes = (await settled).map((one) =>
      one.status === 'fulfilled' ? one.value : (one.reason as { code: string }).code,
    );
    expect(new Set(outcomes)).toEqual(new Set([false, 'UNAVAILABLE']));
  });

  test('a password is its own whatever the form of Unicode, and no other is', async () => {
    const passwords = createPasswords({ log2N: 8, r: 8, p: 1 });
    const hash = await passwords.hash('una contrase\u00f1a larga');
    const from = { owner: 'ana', known: true };

    expect(await passwords.matches('una contrasen\u0303a larga', hash, from)).toBe(true);
    expect(await passwords.matches('una contrasena larga', hash, from)).toBe(false);
    expect(await passwords.matches('una contrase\u00f1a larga', null, from)).toBe(false);
  });
});
