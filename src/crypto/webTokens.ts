/** Tokens of the console: of sessions and of invitations. Who holds one is let in; the database knows their hashes alone. */
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

const TOKEN_BYTES = 32;
const FORM = /^[A-Za-z0-9_-]{43}$/;

/** A new token with 256 random bits. */
export const createWebToken = (): string => randomBytes(TOKEN_BYTES).toString('base64url');

/** Whether a text can be a token at all. */
export const isWebToken = (text: string): boolean => FORM.test(text);

/** What of a token is stored. */
export const hashWebToken = (token: string): Buffer => createHash('sha256').update(token).digest();

/** What forms carry, so that no page of another site can send them: it follows from the token of the browser's cookie. */
export const deriveFormToken = (webToken: string): string =>
  createHmac('sha256', webToken).update('cfe console form').digest('base64url');

/** Whether a form was given out to the browser that sends it. */
export function isFormToken(text: string, webToken: string): boolean {
  const [given, expected] = [Buffer.from(text), Buffer.from(deriveFormToken(webToken))];
  return given.length === expected.length && timingSafeEqual(given, expected);
}
