/** Attempts to prove who one is, by a password or a code, at the sign-in and wherever either is asked for again. */
import { createHash } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { CheckedFrom } from '../../crypto/passwords.ts';
import { countSignIn } from '../../db/counts.ts';
import { SIGN_IN_LIMITS } from '../../domain/people.ts';
import { isExceeded, type Quota, secondsUntilReset } from '../../domain/requestLimits.ts';
import { Refusal } from '../../errors.ts';
import type { Place, SignInDeps } from './people.ts';

/** From where somebody tries. */
export interface SignInPlace extends Place {
  /** The network that the address is in. */
  readonly network: string;
  /** The site that the network is in: somebody may have all the networks of one. */
  readonly site: string;
  /** Whether the one with this address of e-mail signed in from this browser before, and which browser it is; null where not. */
  readonly knownBrowser: string | null;
}

/**
 * Counts the attempt in the places that it comes from; answers them. A browser from which that person signed in before has a count of its
 * own, and no other holds for it: who fails for them elsewhere, or from the same network, does not lock them out.
 */
export async function countAttempt(
  deps: Pick<SignInDeps, 'orm'>,
  email: string,
  { network, knownBrowser }: SignInPlace,
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
    const quota = await countSignIn(em, { place, most }, now);
    // The network first: what it has too many of is not counted for the person.
    if (isExceeded(quota)) throw tooMany(quota, now);
  }
  return counted.map(([place]) => place);
}

/** In whose turn the password is checked: that of the person where they are known, by whatever browser, else of the site. */
export const checkedFrom = (email: string, { site, knownBrowser }: SignInPlace): CheckedFrom =>
  knownBrowser === null ? { owner: site, known: false } : { owner: email.toLowerCase(), known: true };

/** Counts a sign-in that succeeds, with the open transaction: who knows the password begins no sessions without end. */
export async function countSignedIn(em: EntityManager, personId: string, now: Date): Promise<void> {
  const quota = await countSignIn(em, { place: `done:${personId}`, most: SIGN_IN_LIMITS.done }, now);
  if (isExceeded(quota)) throw tooMany(quota, now);
}

function tooMany(quota: Quota, now: Date): Refusal {
  const seconds = secondsUntilReset(quota, now);
  return new Refusal('RATE_LIMITED', `Too many attempts; try again in ${Math.ceil(seconds / 60)} minutes.`, {
    retryAfterSeconds: seconds,
  });
}
