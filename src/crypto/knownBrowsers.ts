/** What tells that somebody signed in from a browser before: `<id>.<proof>…`, one proof for each of the people who did. */
import { createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';

const ID_BYTES = 12;
/** People who share a browser; of more the first are forgotten. */
const MOST_PEOPLE = 5;

export interface KnownBrowsers {
  /** The id of the browser that holds `held`, if it is one from which `email` signed in before; null where not. */
  idFor(email: string, held: string | undefined): string | null;
  /** What the browser holds from now on, `email` having signed in. */
  remember(email: string, held: string | undefined): string;
}

/** `pepper`: the key by which nobody else can make such a proof. */
export function createKnownBrowsers(pepper: Uint8Array): KnownBrowsers {
  const key = Buffer.from(hkdfSync('sha256', pepper, '', 'cfe console browsers', 32));
  const proofOf = (id: string, email: string): string =>
    createHmac('sha256', key).update(`${id}\0${email.toLowerCase()}`).digest('base64url');
  const partsOf = (held: string | undefined): [id: string, ...proofs: string[]] => {
    const [id = '', ...proofs] = (held ?? '').split('.');
    return /^[\w-]{16}$/.test(id)
      ? [id, ...proofs.slice(0, MOST_PEOPLE)]
      : [randomBytes(ID_BYTES).toString('base64url')];
  };
  return {
    idFor(email, held) {
      const [id, ...proofs] = partsOf(held);
      const expected = Buffer.from(proofOf(id, email));
      const isKnown = proofs.some((proof) => {
        const given = Buffer.from(proof);
        return given.length === expected.length && timingSafeEqual(given, expected);
      });
      return isKnown ? id : null;
    },
    remember(email, held) {
      const [id, ...proofs] = partsOf(held);
      const proof = proofOf(id, email);
      return [id, ...proofs.filter((one) => one !== proof).slice(-(MOST_PEOPLE - 1)), proof].join('.');
    },
  };
}
