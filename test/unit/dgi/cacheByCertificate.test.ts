import { describe, expect, test } from '@jest/globals';
import { cacheByCertificate, type OwnedCertificate } from '../../../src/dgi/cacheByCertificate.ts';

describe('what is kept by certificate', () => {
  const certificate = (id: string, more: Partial<OwnedCertificate> = {}): OwnedCertificate => ({
    id,
    rut: '219000090011',
    environment: 'production',
    replacedAt: null,
    sealedKey: 'sealed',
    ...more,
  });
  function keeping(most?: number) {
    const made: string[] = [];
    const time = { now: 1 };
    const keep = cacheByCertificate(
      ({ id }: OwnedCertificate) => {
        made.push(id);
        return `signer of ${id}`;
      },
      { stopwatch: () => time.now, ...(most === undefined ? {} : { most }) },
    );
    return { keep, made, time };
  }

  test('is made once for a certificate, and for each enterprise and environment its own', () => {
    const { keep, made } = keeping();
    for (let i = 0; i < 3; i += 1) {
      expect(keep(certificate('a'))).toBe('signer of a');
      keep(certificate('b', { environment: 'sandbox' }));
      keep(certificate('c', { rut: '219999830019' }));
    }
    expect(made).toEqual(['a', 'b', 'c']);
  });

  test('is dropped when its certificate is replaced', () => {
    const { keep, made } = keeping();
    keep(certificate('old'));
    keep(certificate('new'));
    keep(certificate('new'));
    const replaced = certificate('old', { replacedAt: new Date() });
    for (let i = 0; i < 2; i += 1) expect(keep(replaced)).toBe('signer of old');
    keep(certificate('new'));
    expect(made).toEqual(['old', 'new', 'old', 'old']);
  });

  test('is dropped when it turns out to be replaced, though no other was used', () => {
    const { keep, made } = keeping();
    keep(certificate('a'));
    keep(certificate('a', { replacedAt: new Date() }));
    keep(certificate('a'));
    expect(made).toEqual(['a', 'a', 'a']);
  });

  test('is dropped when the stored key is another: sealed anew, or damaged', () => {
    const { keep, made } = keeping();
    keep(certificate('a'));
    keep(certificate('a', { sealedKey: 'sealed anew' }));
    keep(certificate('a', { sealedKey: 'sealed anew' }));
    expect(made).toEqual(['a', 'a']);
  });

  test('is dropped after ten minutes', () => {
    const { keep, made, time } = keeping();
    keep(certificate('a'));
    time.now += 600_000;
    keep(certificate('a'));
    time.now += 1;
    keep(certificate('a'));
    expect(made).toEqual(['a', 'a']);
  });

  test('no more are kept than may be: the oldest goes', () => {
    const { keep, made } = keeping(2);
    for (const rut of ['1', '2', '3', '3', '2', '1']) keep(certificate(rut, { rut }));
    expect(made).toEqual(['1', '2', '3', '1']);
  });

  test('what cannot be made is not kept', () => {
    let isThere = false;
    const keep = cacheByCertificate(() => {
      if (!isThere) throw new Error('no key opens it');
      return 'signer';
    });
    expect(() => keep(certificate('a'))).toThrow('no key opens it');
    isThere = true;
    expect(keep(certificate('a'))).toBe('signer');
  });
});
