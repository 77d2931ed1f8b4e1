/** Limits for attempts to prove an identity with a password or a code, at sign-in and later. */
import { createHash } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { CheckedFrom } from '../../crypto/passwords.ts';
import { countSignIn } from '../../db/people/counts.ts';
import { SIGN_IN_LIMITS } from '../../domain/people/people.ts';
import { isExceeded, type RateLimitUsage, secondsUntilReset } from '../../domain/people/rateLimits.ts';
import { Refusal } from '../../errors.ts';
import type { ClientOrigin, SignInDeps } from './people.ts';

export interface SignInOrigin extends ClientOrigin {
  /** The network of the address. */
  readonly network: string;
  /** The site of the network; one person may own all networks of a site. */
  readonly site: string;
  /** The id of the browser, if this e-mail address signed in from it before; otherwise null. */
  readonly knownBrowser: string | null;
}

/**
 * Counts the attempt and returns the counters used. A known browser of this person has only its own counter, so failures
 * elsewhere do not lock the person out. Throws RATE_LIMITED beyond a limit.
 */
export async function countAttempt(
  deps: Pick<SignInDeps, 'orm'>,
  email: string,
  { network, knownBrowser }: SignInOrigin,
  now: Date,
): Promise<string[]> {
  const account = createHash('sha256').update(email.toLowerCase()).digest('base64url');
  const counted: [place: string, most: number][] =
    knownBrowser === null
      ? [
          [`network:${network}`, SIGN_IN_LIMITS.network],
          [`account:${account}`, SIGN_IN_LIMITS.account],
        ]
      : [[`browser:${account}:${knownBrowser}`, SIGN_IN_LIMITS.browser]];
  const em = deps.orm.em.fork();
  for (const [place, most] of counted) {
    const usage = await countSignIn(em, { place, most }, now);
    // The network first: its excess attempts are not counted for the person.
    if (isExceeded(usage)) throw tooManyAttempts(usage, now);
  }
  return counted.map(([place]) => place);
}

/** Returns the queue of the password check: the person's own for a known browser, otherwise the site's. */
export const passwordQueueOf = (email: string, { site, knownBrowser }: SignInOrigin): CheckedFrom =>
  knownBrowser === null ? { owner: site, known: false } : { owner: email.toLowerCase(), known: true };

/**
 * Counts a successful sign-in, in the open transaction, to limit how many sessions a known password starts.
 */
export async function countSuccessfulSignIn(em: EntityManager, personId: string, now: Date): Promise<void> {
  const usage = await countSignIn(em, { place: `done:${personId}`, most: SIGN_IN_LIMITS.done }, now);
  if (isExceeded(usage)) throw tooManyAttempts(usage, now);
}

function tooManyAttempts(usage: RateLimitUsage, now: Date): Refusal {
  const seconds = secondsUntilReset(usage, now);
  return new Refusal('RATE_LIMITED', `Too many attempts; try again in ${Math.ceil(seconds / 60)} minutes.`, {
    retryAfterSeconds: seconds,
  });
}
