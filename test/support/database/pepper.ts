import { randomBytes } from 'node:crypto';
import type { Pepper, Peppers } from '../../../src/crypto/peppers.ts';

/** A pepper under this id, as good as any. */
export const aPepper = (id = 'p1', key: Uint8Array = randomBytes(32)): Pepper => ({ id, key });

/** Peppers as CFE_PEPPER and CFE_CONSOLE_PEPPER hold them. */
export const pepperVariable = (...peppers: Peppers): string =>
  peppers.map(({ id, key }) => `${id}:${Buffer.from(key).toString('base64')}`).join(',');
