/** API keys: `cfe_live_…` and `cfe_test_…`, shown once and stored as a keyed hash (docs/contract.md#keys-and-tokens). */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { Environment } from '../domain/receipts/cfeTypes.ts';
import { createPepperedHash, type Peppers } from './peppers.ts';

const WORDS = { production: 'live', sandbox: 'test' } as const satisfies Record<Environment, string>;
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const PUBLIC_LENGTH = 12;
/** 43 of 62 characters hold 256 bits. */
const SECRET_LENGTH = 43;
/** 6 of 62 characters hold the 32-bit checksum, which distinguishes a mistyped key from an unknown one offline. */
const CHECKSUM_LENGTH = 6;
const FORM = new RegExp(
  `^cfe_(live|test)_([0-9A-Za-z]{${PUBLIC_LENGTH}})_[0-9A-Za-z]{${SECRET_LENGTH}}([0-9A-Za-z]{${CHECKSUM_LENGTH}})$`,
);
/** Separates hashes of keys from other uses of the pepper. */
const LABEL = 'cfe api key\0';

/** The public parts of a key. */
export interface ApiKeyParts {
  /** Finds the row; not secret. */
  readonly publicId: string;
  readonly environment: Environment;
}

/** A new key: `text` is shown once, the rest is stored. */
interface FreshApiKey extends ApiKeyParts {
  readonly text: string;
  readonly hash: Buffer;
}

export interface ApiKeys {
  /** Creates a key with 256 secret bits. */
  create(environment: Environment): FreshApiKey;
  /** Returns the stored hash of a key, under the first pepper. */
  hashOf(text: string): Buffer;
  /** True when `text` is the key stored as `hash`, under any pepper. Takes equally long for an unknown key (null). */
  matches(text: string, hash: Uint8Array | null): boolean;
}

/** Hashes API keys under a pepper outside the database, so that a stolen table is useless. */
export function createApiKeys(peppers: Peppers): ApiKeys {
  const peppered = createPepperedHash(peppers, LABEL);
  const hashOf = (text: string): Buffer => peppered([text]);
  return {
    hashOf,
    create(environment) {
      const publicId = randomText(PUBLIC_LENGTH);
      const body = `cfe_${WORDS[environment]}_${publicId}_${randomText(SECRET_LENGTH)}`;
      const text = body + checksumOf(body);
      return { text, publicId, environment, hash: hashOf(text) };
    },
    matches(text, hash) {
      const expected = peppered([text], hash);
      const stored = hash?.length === expected.length ? hash : Buffer.alloc(expected.length);
      return timingSafeEqual(expected, stored) && hash !== null;
    },
  };
}

/** Parses a key; null for a wrong form or checksum. */
export function parseApiKey(text: string): ApiKeyParts | null {
  const [, word, publicId, checksum] = FORM.exec(text) ?? [];
  if (publicId === undefined || checksumOf(text.slice(0, -CHECKSUM_LENGTH)) !== checksum) return null;
  return { publicId, environment: word === WORDS.production ? 'production' : 'sandbox' };
}

/** Returns the part of a key that may be shown to identify it: `cfe_live_` and its public id. */
export function apiKeyPrefix({ publicId, environment }: ApiKeyParts): string {
  return `cfe_${WORDS[environment]}_${publicId}`;
}

function checksumOf(text: string): string {
  let rest = crc32(text);
  let digits = '';
  for (let i = 0; i < CHECKSUM_LENGTH; i += 1) {
    digits = ALPHABET.charAt(rest % 62) + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
}

/** Skips bytes from 248 on, to make all characters equally likely. */
function randomText(length: number): string {
  let text = '';
  while (text.length < length) {
    for (const byte of randomBytes(length)) {
      if (byte < 248 && text.length < length) text += ALPHABET.charAt(byte % 62);
    }
  }
  return text;
}
