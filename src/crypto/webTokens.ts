/** Tokens of console sessions and invitations. A token grants access; the database stores only its hash. */
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

const TOKEN_BYTES = 32;
const FORM = /^[A-Za-z0-9_-]{43}$/;

/** Creates a token with 256 random bits. */
export const createWebToken = (): string => randomBytes(TOKEN_BYTES).toString('base64url');

/** True if `text` has the form of a token. */
export const isWebToken = (text: string): boolean => FORM.test(text);

/** Returns the stored hash of a token. */
export const hashWebToken = (token: string): Buffer => createHash('sha256').update(token).digest();

/** Derives the CSRF token of forms from the token in the browser's cookie. */
export const deriveFormToken = (webToken: string): string =>
  createHmac('sha256', webToken).update('cfe console form').digest('base64url');

/** True when a form was created for the browser that submits the form. */
export function isFormToken(text: string, webToken: string): boolean {
  const [given, expected] = [Buffer.from(text), Buffer.from(deriveFormToken(webToken))];
  return given.length === expected.length && timingSafeEqual(given, expected);
}
