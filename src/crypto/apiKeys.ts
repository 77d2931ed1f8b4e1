/**
 * API keys: `cfe_live_…` and `cfe_test_…`, shown once, known afterwards by a keyed hash
 * (docs/contract.md#keys-and-tokens).
 */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { Environment } from '../domain/cfeTypes.ts';
import { createPepperedHash, type Peppers } from './peppers.ts';

const WORDS = { production: 'live', sandbox: 'test' } as const satisfies Record<Environment, string>;
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const PUBLIC_LENGTH = 12;
/** 43 of 62 characters hold 256 bits. */
const SECRET_LENGTH = 43;
/** 6 of 62 characters hold the 32 bits of the checksum, which tells a mistyped key from an unknown one offline. */
const CHECKSUM_LENGTH = 6;
const FORM = new RegExp(
  `^cfe_(live|test)_([0-9A-Za-z]{${PUBLIC_LENGTH}})_[0-9A-Za-z]{${SECRET_LENGTH}}([0-9A-Za-z]{${CHECKSUM_LENGTH}})$`,
);
/** Keeps hashes of keys apart from whatever else the pepper may hash. */
const LABEL = 'cfe api key\0';

/** What a key says of itself to everyone. */
export interface ApiKeyParts {
  /** Finds the row; not secret. */
  readonly publicId: string;
  readonly environment: Environment;
}

/** A fresh key: `text` is shown once, the rest is stored. */
interface FreshApiKey extends ApiKeyParts {
  readonly text: string;
  readonly hash: Buffer;
}

export interface ApiKeys {
  /** A new key with 256 secret bits. */
  create(environment: Environment): FreshApiKey;
  /** The hash under the first pepper by which a key is stored. */
  hashOf(text: string): Buffer;
  /** Whether `text` is the key stored as `hash`, under any pepper; takes as long for an unknown key (null) as for a wrong one. */
  matches(text: string, hash: Uint8Array | null): boolean;
}

/** API keys hashed under a pepper, which is not in the database: a stolen table opens nothing. */
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

/** What a key says of itself, or null when `text` is not a key at all (form or checksum). */
export function parseApiKey(text: string): ApiKeyParts | null {
  const [, word, publicId, checksum] = FORM.exec(text) ?? [];
  if (publicId === undefined || checksumOf(text.slice(0, -CHECKSUM_LENGTH)) !== checksum) return null;
  return { publicId, environment: word === WORDS.production ? 'production' : 'sandbox' };
}

/** The part of a key that may be shown to tell keys apart: `cfe_live_` and its public id. */
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

/** Bytes from 248 on are passed over, so that every character is as likely as any other. */
function randomText(length: number): string {
  let text = '';
  while (text.length < length) {
    for (const byte of randomBytes(length)) {
      if (byte < 248 && text.length < length) text += ALPHABET.charAt(byte % 62);
    }
  }
  return text;
}
