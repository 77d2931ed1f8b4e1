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
  /** Hashes a new password with a new salt. */
  hash(password: string): Promise<string>;
  /** True when `password` matches `hash`. Takes equally long without a hash (null). Throws UNAVAILABLE when too many wait. */
  matches(password: string, hash: string | null, from: CheckedFrom): Promise<boolean>;
  /** True for one of the most common passwords. `text`: folded (domain/people/passwords.ts). */
  isCommon(text: string): boolean;
}

/** The origin of a check. */
export interface CheckedFrom {
  /** The network or person that the check is queued for. */
  readonly owner: string;
  /** Whether the owner is a person who is signed in or uses a known browser: such people have a separate queue. */
  readonly known: boolean;
}

/**
 * Creates the password checks. Two queues, for known people and for others, run one check each, so that a flood of checks
 * leaves threads to the rest of the process. `cost`: the cost of new hashes.
 */
export function createPasswords(cost: Cost = COST): Passwords {
  const limits = {
    atOnce: 1,
    waitingPerOwner: 5,
    retryAfterSeconds: 2,
    full: 'Too many people are signing in at the moment; try again in a few seconds.',
  };
  const strangers = createFairQueue({ ...limits, waiting: 20 });
  const known = createFairQueue({ ...limits, waiting: 40 });
  const common = readCommonPasswords();
  const dummyHash = format(cost, randomBytes(SALT_BYTES), randomBytes(HASH_BYTES));
  return {
    async hash(password) {
      const salt = randomBytes(SALT_BYTES);
      return format(cost, salt, await derive(password, salt, cost));
    },
    async matches(password, hash, from) {
      const [, log2N, r, p, salt = '', stored = ''] = (hash ?? dummyHash).split('.');
      const storedCost = { log2N: Number(log2N), r: Number(r), p: Number(p) };
      const queue = from.known ? known : strangers;
      const derived = await queue.run(from.owner, () =>
        derive(password, Buffer.from(salt, 'base64url'), storedCost),
      );
      return timingSafeEqual(derived, Buffer.from(stored, 'base64url')) && hash !== null;
    },
    isCommon: (text) => common.has(text),
  };
}

/** Reads common-passwords.txt, whose header names the source. */
function readCommonPasswords(): ReadonlySet<string> {
  const lines = readFileSync(new URL('common-passwords.txt', import.meta.url), 'utf8').split('\n');
  return new Set(lines.filter((line) => !line.startsWith('#')).flatMap((line) => line.split(' ')));
}

const format = ({ log2N, r, p }: Cost, salt: Buffer, hash: Buffer): string =>
  ['scrypt', log2N, r, p, salt.toString('base64url'), hash.toString('base64url')].join('.');

/** Normalises the password (NFKC), so that different encodings of the same characters match. */
function derive(password: string, salt: Buffer, cost: Cost): Promise<Buffer> {
  const N = 2 ** cost.log2N;
  const options: ScryptOptions = { N, r: cost.r, p: cost.p, maxmem: 256 * N * cost.r };
  return new Promise((resolve, reject) => {
    scrypt(password.normalize('NFKC'), salt, HASH_BYTES, options, (error, key) =>
      error ? reject(error) : resolve(key),
    );
  });
}
