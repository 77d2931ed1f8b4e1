/** Codes of an authenticator app as a second factor (RFC 6238: SHA-1, 6 digits, 30 s), and their secrets at rest. */
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { Secret, TOTP } from 'otpauth';
import type { Pepper, Peppers } from './peppers.ts';

const STEP_MILLISECONDS = 30_000;
/** Clocks of telephones may be so many steps off. */
const DRIFT = 1;
const SECRET_BYTES = 20;
const IV_BYTES = 12;
const TAG_BYTES = 16;
const TIME_BYTES = 8;

/** A copy, as a Buffer may be part of a larger one. */
const secretOf = (bytes: Uint8Array): Secret => new Secret({ buffer: Uint8Array.from(bytes).buffer });

/** A secret as people type it into their app (RFC 4648, base 32). */
export const encodeBase32 = (bytes: Uint8Array): string => secretOf(bytes).base32;

/** The code of a secret at a moment. */
export const totpCode = (secret: Uint8Array, at: Date): string =>
  TOTP.generate({ secret: secretOf(secret), timestamp: at.getTime() });

/** The step that `code` is of, around `at`; null where it is of none. Whoever takes it keeps the step, and takes no other up to it. */
export function matchTotpStep(secret: Uint8Array, code: string, at: Date): number | null {
  const token = code.replace(/\s/g, '');
  // The library compares bytes, and throws where six characters have more than six.
  if (!/^\d{6}$/.test(token)) return null;
  const timestamp = at.getTime();
  const drift = TOTP.validate({ token, secret: secretOf(secret), timestamp, window: DRIFT });
  return drift === null ? null : Math.floor(timestamp / STEP_MILLISECONDS) + drift;
}

/** The address by which an app takes a secret over (otpauth://, as authenticator apps read it from a QR code). */
export const otpauthUrl = (
  secret: Uint8Array,
  { issuer, email }: { issuer: string; email: string },
): string => new TOTP({ issuer, label: email, secret: secretOf(secret) }).toString();

/** A new secret that waits for its first code. */
export interface OfferedSecret {
  readonly secret: Buffer;
  /** The same, as a form carries it meanwhile: it is stored nowhere. */
  readonly sealed: string;
}

/** Secrets of authenticator apps, which only the holder of the peppers can make and read. */
export interface TotpSecrets {
  /**
   * The secret that comes with an invitation: the same at every look at it, and nowhere stored until it is accepted.
   * With a `code` that the app shows at `now`, the one whose code it is, if it was made under an older pepper.
   */
  ofInvitation(token: string, shown?: { code: string; now: Date }): Buffer;
  /** A secret for who is signed in, sealed for that session alone. Whoever has the sealed text was therefore offered it there. */
  offer(sessionId: string, until: Date): OfferedSecret;
  /** The secret that was offered in a session; null where the text is of another, was changed, or its time is over. */
  offered(sealed: string, sessionId: string, now: Date): Buffer | null;
  /** As it is stored with the person: under the first pepper. */
  seal(secret: Uint8Array, personId: string): string;
  /** Whether a sealed secret stands under an older pepper. */
  isOld(sealed: string): boolean;
  /** Throws where its pepper is not configured, or the text was changed or is another person's. */
  open(sealed: string, personId: string): Buffer;
}

/** What a pepper's keys are derived for. */
const AT_REST = 'cfe console totp at rest';
const INVITATION = 'cfe console totp of an invitation';
const OFFER = 'cfe console totp before its first code';

/** `peppers` are not in the database, so that a stolen table gives no codes. */
export function createTotpSecrets(peppers: Peppers): TotpSecrets {
  const [first] = peppers;
  const invited = (pepper: Pepper, token: string): Buffer =>
    createHmac('sha256', keyFor(pepper, INVITATION)).update(token).digest().subarray(0, SECRET_BYTES);
  return {
    ofInvitation(token, shown) {
      const secrets = peppers.map((pepper) => invited(pepper, token));
      const its = shown && secrets.find((secret) => matchTotpStep(secret, shown.code, shown.now) !== null);
      return its ?? invited(first, token);
    },
    offer(sessionId, until) {
      const secret = randomBytes(SECRET_BYTES);
      const time = Buffer.alloc(TIME_BYTES);
      time.writeBigUInt64BE(BigInt(until.getTime()));
      return { secret, sealed: sealText(first, OFFER, Buffer.concat([time, secret]), sessionId) };
    },
    offered(sealed, sessionId, now) {
      const bytes = triedToOpen(peppers, OFFER, sealed, sessionId);
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

/** `<id of the pepper>.<AES-256-GCM>`: the text opens with the same `owner` only. */
function sealText(pepper: Pepper, purpose: string, bytes: Uint8Array, owner: string): string {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv('aes-256-gcm', keyFor(pepper, purpose), iv).setAAD(Buffer.from(owner));
  const sealed = Buffer.concat([iv, cipher.update(bytes), cipher.final(), cipher.getAuthTag()]);
  return `${pepper.id}.${sealed.toString('base64url')}`;
}

function openText(peppers: Peppers, purpose: string, text: string, owner: string): Buffer {
  const [id, sealed = ''] = text.split('.');
  const pepper = peppers.find((one) => one.id === id);
  if (!pepper) throw new Error('it was sealed under a pepper that is not configured');
  const key = keyFor(pepper, purpose);
  const bytes = Buffer.from(sealed, 'base64url');
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, IV_BYTES), {
    authTagLength: TAG_BYTES,
  })
    .setAAD(Buffer.from(owner))
    .setAuthTag(bytes.subarray(-TAG_BYTES));
  return Buffer.concat([decipher.update(bytes.subarray(IV_BYTES, -TAG_BYTES)), decipher.final()]);
}

function triedToOpen(peppers: Peppers, purpose: string, sealed: string, owner: string): Buffer | null {
  try {
    return openText(peppers, purpose, sealed, owner);
  } catch {
    return null;
  }
}
