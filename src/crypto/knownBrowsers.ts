/** Cookies of known browsers: `<id>.<proof>…`, one proof for each person who signed in from the browser. */
import { createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Peppers } from './peppers.ts';

const ID_BYTES = 12;
/** People per browser; the oldest are dropped. */
const MOST_PEOPLE = 5;

export interface KnownBrowsers {
  /** Returns the id of the browser with this cookie, if `email` signed in from the browser before; otherwise null. */
  idFor(email: string, cookie: string | undefined): string | null;
  /** Returns the new cookie of the browser after `email` signed in. */
  remember(email: string, cookie: string | undefined): string;
}

/** `peppers`: the keys of the proofs; the first makes new proofs. */
export function createKnownBrowsers(peppers: Peppers): KnownBrowsers {
  const keys = peppers.map(({ key }) => Buffer.from(hkdfSync('sha256', key, '', 'cfe console browsers', 32)));
  const proofsOf = (id: string, email: string): string[] =>
    keys.map((key) => createHmac('sha256', key).update(`${id}\0${email.toLowerCase()}`).digest('base64url'));
  const partsOf = (cookie = ''): [id: string, ...proofs: string[]] => {
    const [id = '', ...proofs] = cookie.split('.');
    return /^[\w-]{16}$/.test(id)
      ? [id, ...proofs.slice(0, MOST_PEOPLE)]
      : [randomBytes(ID_BYTES).toString('base64url')];
  };
  return {
    idFor(email, cookie) {
      const [id, ...proofs] = partsOf(cookie);
      const expected = proofsOf(id, email).map((proof) => Buffer.from(proof));
      const isKnown = proofs
        .map((proof) => Buffer.from(proof))
        .some((proof) => expected.some((one) => proof.length === one.length && timingSafeEqual(proof, one)));
      return isKnown ? id : null;
    },
    remember(email, cookie) {
      const [id, ...proofs] = partsOf(cookie);
      const [proof, ...older] = proofsOf(id, email);
      const others = proofs.filter((one) => one !== proof && !older.includes(one));
      return [id, ...others.slice(-(MOST_PEOPLE - 1)), proof].join('.');
    },
  };
}
