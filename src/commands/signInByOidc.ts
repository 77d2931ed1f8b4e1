import { randomUUID } from 'node:crypto';
import type { Person } from '../db/entities/Person.ts';
import { ensurePerson, lockPersonOfSubject } from '../db/people.ts';
import type { OperatorRole } from '../domain/people.ts';
import { Refusal } from '../errors.ts';
import { audited } from './steps/audited.ts';
import type { CommandDeps } from './steps/deps.ts';
import { beginSession, type Place } from './steps/people.ts';

/** What the operator's OpenID provider says of who signs in; it was checked that it says so. */
export interface OidcIdentity {
  /** Issuer and subject. */
  readonly subject: string;
  readonly email: string;
  readonly emailVerified: boolean;
  /** The role that a claim gives them; null without one. */
  readonly operatorRole: OperatorRole | null;
}

/**
 * Begins a session of an operator who comes by the OpenID provider. They are what its claim says, each time anew; one who has a
 * user here under that address becomes that user, if the provider vouches for the address, and has no password from then
 * on. Refuses who has no role, and who is disabled here (FORBIDDEN).
 */
export async function signInByOidc(deps: CommandDeps, identity: OidcIdentity, place: Place): Promise<string> {
  const now = deps.clock();
  const token = await deps.orm.em.fork().transactional(async (em) => {
    const person = await personOf(em, identity, now);
    if (person === null) return null;
    person.operatorRole = identity.operatorRole;
    person.oidcSubject = identity.subject;
    person.passwordHash = null;
    person.passwordByAccount = false;
    person.sealedTotp = null;
    person.totpStep = null;
    // What the claim took away is stored, though they are refused.
    if (identity.operatorRole === null || person.disabledAt !== null) return null;
    audited(
      { ...deps, actor: `console:${person.email}` },
      em,
      { action: 'user.sign_in', subject: person.email },
      now,
    );
    return beginSession(em, { personId: person.id, place, method: 'oidc', complete: true }, now);
  });
  if (token === null) throw new Refusal('FORBIDDEN', 'Your account at the OpenID provider has no role here.');
  return token;
}

/** Who it is here, locked; somebody new where they have a role; null for a stranger. */
async function personOf(
  em: Parameters<typeof lockPersonOfSubject>[0],
  { subject, email, emailVerified, operatorRole }: OidcIdentity,
  now: Date,
): Promise<Person | null> {
  const known = await lockPersonOfSubject(em, subject);
  if (known) return known;
  if (operatorRole === null || !emailVerified) return null;
  const person = await ensurePerson(em, { id: randomUUID(), email, createdAt: now });
  return person.oidcSubject === null ? person : null;
}
