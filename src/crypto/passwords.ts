/** Passwords of people, as scrypt hashes: `scrypt.<log2 N>.<r>.<p>.<salt>.<hash>`. */
import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createFairQueue } from './fairQueue.ts';

/** OWASP, Password Storage: N=2^15, r=8, p=3; 32 MB and some 0.2 s of a core. */
const COST = { log2N: 15, r: 8, p: 3 } as const;
interface Cost {
  readonly log2N: number;
  readonly r: number;
  readonly p: number;
}
const SALT_BYTES = 16;
const HASH_BYTES = 32;

export interface Passwords {
  /** The hash of a new password, with a salt of its own. */
  hash(password: string): Promise<string>;
  /**
   * Whether `password` is the one of `hash`; takes as long where there is none (null). Refuses when too many wait (UNAVAILABLE).
   */
  matches(password: string, hash: string | null, from: CheckedFrom): Promise<boolean>;
  /** Whether a folded text is one of the most common passwords. */
  isCommon(text: string): boolean;
}

/** Who asks for a check. */
export interface CheckedFrom {
  /** Has one check at a time: a network, or a person. */
  readonly owner: string;
  /** The owner is a person who is signed in, or who signed in from this browser before. They wait in a queue of their own. */
  readonly known: boolean;
}

/**
 * Passwords are checked one after the other, so that a flood of them leaves the process its threads; beside those of strangers, those of
 * who is known. `cost`: that of new hashes.
 */
export function createPasswords(cost: Cost = COST): Passwords {
  const limits = {
    atOnce: 1,
    waitingOfOne: 5,
    seconds: 2,
    full: 'Too many people are signing in at the moment; try again in some seconds.',
  };
  const strangers = createFairQueue({ ...limits, waiting: 20 });
  const known = createFairQueue({ ...limits, waiting: 40 });
  const common = commonPasswords();
  const nobodys = format(cost, randomBytes(SALT_BYTES), randomBytes(HASH_BYTES));
  return {
    async hash(password) {
      const salt = randomBytes(SALT_BYTES);
      return format(cost, salt, await derive(password, salt, cost));
    },
    async matches(password, hash, from) {
      const [, log2N, r, p, salt = '', held = ''] = (hash ?? nobodys).split('.');
      const stored = { log2N: Number(log2N), r: Number(r), p: Number(p) };
      const queue = from.known ? known : strangers;
      const derived = await queue.run(from.owner, () =>
        derive(password, Buffer.from(salt, 'base64url'), stored),
      );
      return timingSafeEqual(derived, Buffer.from(held, 'base64url')) && hash !== null;
    },
    isCommon: (text) => common.has(text),
  };
}

/** The list in common-passwords.txt, which says where it comes from. */
function commonPasswords(): ReadonlySet<string> {
  const lines = readFileSync(new URL('common-passwords.txt', import.meta.url), 'utf8').split('\n');
  return new Set(lines.filter((line) => !line.startsWith('#')).flatMap((line) => line.split(' ')));
}

const format = ({ log2N, r, p }: Cost, salt: Buffer, hash: Buffer): string =>
  ['scrypt', log2N, r, p, salt.toString('base64url'), hash.toString('base64url')].join('.');

/** Passwords that look alike are alike however they were typed: in Unicode's normal form (NFKC). */
function derive(password: string, salt: Buffer, cost: Cost): Promise<Buffer> {
  const N = 2 ** cost.log2N;
  const options: ScryptOptions = { N, r: cost.r, p: cost.p, maxmem: 256 * N * cost.r };
  return new Promise((resolve, reject) => {
    scrypt(password.normalize('NFKC'), salt, HASH_BYTES, options, (error, key) =>
      error ? reject(error) : resolve(key),
    );
  });
}
