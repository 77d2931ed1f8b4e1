/** Passwords of people, as scrypt hashes: `scrypt.<log2 N>.<r>.<p>.<salt>.<hash>`. */
import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto';
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
   * Whether `password` is the one of `hash`; takes as long where there is none (null). `owner`: from where it comes, which has
   * one check at a time. Refuses when too many wait (UNAVAILABLE).
   */
  matches(password: string, hash: string | null, owner: string): Promise<boolean>;
}

/** Passwords are hashed one beside another, so that a flood of them leaves the process its threads. `cost`: that of new hashes. */
export function createPasswords(cost: Cost = COST): Passwords {
  const queue = createFairQueue({
    atOnce: 2,
    waiting: 40,
    waitingOfOne: 5,
    seconds: 2,
    full: 'Too many people are signing in at the moment; try again in some seconds.',
  });
  const nobodys = format(cost, randomBytes(SALT_BYTES), randomBytes(HASH_BYTES));
  return {
    async hash(password) {
      const salt = randomBytes(SALT_BYTES);
      return format(cost, salt, await derive(password, salt, cost));
    },
    async matches(password, hash, owner) {
      const [, log2N, r, p, salt = '', held = ''] = (hash ?? nobodys).split('.');
      const stored = { log2N: Number(log2N), r: Number(r), p: Number(p) };
      const derived = await queue.run(owner, () => derive(password, Buffer.from(salt, 'base64url'), stored));
      return timingSafeEqual(derived, Buffer.from(held, 'base64url')) && hash !== null;
    },
  };
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
