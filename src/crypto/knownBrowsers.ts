/** What tells that somebody signed in from a browser before: `<id>.<proof>…`, one proof for each of the people who did. */
import { createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Peppers } from './peppers.ts';

const ID_BYTES = 12;
/** People who share a browser; of more the first are forgotten. */
const MOST_PEOPLE = 5;

export interface KnownBrowsers {
  /** The id of the browser that holds `held`, if it is one from which `email` signed in before; null where not. */
  idFor(email: string, held: string | undefined): string | null;
  /** What the browser holds from now on, `email` having signed in. */
  remember(email: string, held: string | undefined): string;
}

/** `peppers`: without them nobody can make such a proof. New proofs are made under the first. */
export function createKnownBrowsers(peppers: Peppers): KnownBrowsers {
  const keys = peppers.map(({ key }) => Buffer.from(hkdfSync('sha256', key, '', 'cfe console browsers', 32)));
  const proofsOf = (id: string, email: string): string[] =>
    keys.map((key) => createHmac('sha256', key).update(`${id}\0${email.toLowerCase()}`).digest('base64url'));
  const partsOf = (held: string | undefined): [id: string, ...proofs: string[]] => {
    const [id = '', ...proofs] = (held ?? '').split('.');
    return /^[\w-]{16}$/.test(id)
      ? [id, ...proofs.slice(0, MOST_PEOPLE)]
      : [randomBytes(ID_BYTES).toString('base64url')];
  };
  return {
    idFor(email, held) {
      const [id, ...proofs] = partsOf(held);
      const expected = proofsOf(id, email).map((proof) => Buffer.from(proof));
      const isKnown = proofs.some((proof) => {
        const given = Buffer.from(proof);
        return expected.some((one) => given.length === one.length && timingSafeEqual(given, one));
      });
      return isKnown ? id : null;
    },
    remember(email, held) {
      const [id, ...proofs] = partsOf(held);
      const [proof, ...older] = proofsOf(id, email);
      const others = proofs.filter((one) => one !== proof && !older.includes(one));
      return [id, ...others.slice(-(MOST_PEOPLE - 1)), proof].join('.');
    },
  };
}
