/** Codes of an authenticator app as a second factor (RFC 6238: SHA-1, 6 digits, 30 s), and their secrets at rest. */
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { Secret, TOTP } from 'otpauth';
import type { Pepper, Peppers } from './peppers.ts';

const STEP_MILLISECONDS = 30_000;
/** Tolerated clock drift of phones, in steps. */
const DRIFT = 1;
const SECRET_BYTES = 20;
const IV_BYTES = 12;
const TAG_BYTES = 16;
const TIME_BYTES = 8;

/** Copies the bytes, as a Buffer may be part of a larger one. */
const secretOf = (bytes: Uint8Array): Secret => new Secret({ buffer: Uint8Array.from(bytes).buffer });

/** Formats a secret for typing into an app (RFC 4648, base 32). */
export const encodeBase32 = (bytes: Uint8Array): string => secretOf(bytes).base32;

/** Returns the code of a secret at a moment. */
export const totpCode = (secret: Uint8Array, at: Date): string =>
  TOTP.generate({ secret: secretOf(secret), timestamp: at.getTime() });

/** Returns the step of a valid `code` around `at`, or null. The caller stores it and refuses codes up to this step. */
export function matchTotpStep(secret: Uint8Array, code: string, at: Date): number | null {
  const token = code.replace(/\s/g, '');
  // The library compares bytes, and throws where six characters have more than six bytes.
  if (!/^\d{6}$/.test(token)) return null;
  const timestamp = at.getTime();
  const drift = TOTP.validate({ token, secret: secretOf(secret), timestamp, window: DRIFT });
  return drift === null ? null : Math.floor(timestamp / STEP_MILLISECONDS) + drift;
}

/** Returns the otpauth:// address that authenticator apps read from a QR code. */
export const otpauthUrl = (
  secret: Uint8Array,
  { issuer, email }: { issuer: string; email: string },
): string => new TOTP({ issuer, label: email, secret: secretOf(secret) }).toString();

/** A new secret before its first code. */
export interface OfferedSecret {
  readonly secret: Buffer;
  /** The sealed secret, which travels in the form because it is not stored yet. */
  readonly sealed: string;
}

/** Secrets of authenticator apps; creating and reading them requires the peppers. */
export interface TotpSecrets {
  /**
   * Derives the secret of an invitation, which is not stored until acceptance. `proof`: the app's code, to find a secret
   * that was derived from an older pepper.
   */
  ofInvitation(token: string, proof?: { code: string; now: Date }): Buffer;
  /** Creates a secret for a signed-in person, sealed for that session only. */
  offer(sessionId: string, until: Date): OfferedSecret;
  /** Opens the secret that was offered in a session; null if `sealed` is another session's, changed or expired. */
  offered(sealed: string, sessionId: string, now: Date): Buffer | null;
  /** Seals a secret for storing, under the first pepper. */
  seal(secret: Uint8Array, personId: string): string;
  /** True for a secret that was sealed under an older pepper. */
  isOld(sealed: string): boolean;
  /** Opens a stored secret. Throws if its pepper is not configured, or `sealed` was changed or is another person's. */
  open(sealed: string, personId: string): Buffer;
}

/** Purposes of the keys derived from a pepper. */
const AT_REST = 'cfe console totp at rest';
const INVITATION = 'cfe console totp of an invitation';
const OFFER = 'cfe console totp before its first code';

/** Creates the secrets from `peppers`, which are outside the database, so that a stolen table gives no codes. */
export function createTotpSecrets(peppers: Peppers): TotpSecrets {
  const [first] = peppers;
  const deriveInvited = (pepper: Pepper, token: string): Buffer =>
    createHmac('sha256', keyFor(pepper, INVITATION)).update(token).digest().subarray(0, SECRET_BYTES);
  return {
    ofInvitation(token, proof) {
      const secrets = peppers.map((pepper) => deriveInvited(pepper, token));
      const proven = proof && secrets.find((secret) => matchTotpStep(secret, proof.code, proof.now) !== null);
      return proven ?? deriveInvited(first, token);
    },
    offer(sessionId, until) {
      const secret = randomBytes(SECRET_BYTES);
      const time = Buffer.alloc(TIME_BYTES);
      time.writeBigUInt64BE(BigInt(until.getTime()));
      return { secret, sealed: sealText(first, OFFER, Buffer.concat([time, secret]), sessionId) };
    },
    offered(sealed, sessionId, now) {
      const bytes = openTextOrNull(peppers, OFFER, sealed, sessionId);
      if (!bytes || bytes.readBigUInt64BE() <= BigInt(now.getTime())) return null;
      return bytes.subarray(TIME_BYTES);
    },
    seal: (secret, personId) => sealText(first, AT_REST, secret, personId),
    isOld: (sealed) => !sealed.startsWith(`${first.id}.`),
    open: (sealed, personId) => openText(peppers, AT_REST, sealed, personId),
  };
}

const keyFor = ({ key }: Pepper, purpose: string): Buffer =>
  Buffer.from(hkdfSync('sha256', key, '', purpose, 32));

/** Returns `<pepper id>.<AES-256-GCM>`, which opens only with the same `owner`. */
function sealText(pepper: Pepper, purpose: string, bytes: Uint8Array, owner: string): string {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv('aes-256-gcm', keyFor(pepper, purpose), iv).setAAD(Buffer.from(owner));
  const sealed = Buffer.concat([iv, cipher.update(bytes), cipher.final(), cipher.getAuthTag()]);
  return `${pepper.id}.${sealed.toString('base64url')}`;
}

function openText(peppers: Peppers, purpose: string, text: string, owner: string): Buffer {
  const [id, sealed = ''] = text.split('.');
  const pepper = peppers.find((one) => one.id === id);
  if (!pepper) throw new Error('the secret was sealed under a pepper that is not configured');
  const key = keyFor(pepper, purpose);
  const bytes = Buffer.from(sealed, 'base64url');
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, IV_BYTES), {
    authTagLength: TAG_BYTES,
  })
    .setAAD(Buffer.from(owner))
    .setAuthTag(bytes.subarray(-TAG_BYTES));
  return Buffer.concat([decipher.update(bytes.subarray(IV_BYTES, -TAG_BYTES)), decipher.final()]);
}

function openTextOrNull(peppers: Peppers, purpose: string, sealed: string, owner: string): Buffer | null {
  try {
    return openText(peppers, purpose, sealed, owner);
  } catch {
    return null;
  }
}
