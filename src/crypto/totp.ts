/** Codes of an authenticator app as a second factor (RFC 6238: SHA-1, 6 digits, 30 s), and their secrets at rest. */
import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  hkdfSync,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto';

const STEP_MILLISECONDS = 30_000;
const DIGITS = 6;
/** Clocks of telephones may be so many steps off. */
const DRIFT = 1;
const SECRET_BYTES = 20;
const IV_BYTES = 12;
const TAG_BYTES = 16;
const TIME_BYTES = 8;
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** A secret as people type it into their app (RFC 4648, base 32). */
export function base32(bytes: Uint8Array): string {
  let bits = '';
  for (const byte of bytes) bits += byte.toString(2).padStart(8, '0');
  return (bits.match(/.{1,5}/g) ?? [])
    .map((five) => ALPHABET[Number.parseInt(five.padEnd(5, '0'), 2)])
    .join('');
}

/** The code of a secret at a moment. */
export const totpCode = (secret: Uint8Array, at: Date): string => codeOfStep(secret, stepOf(at));

const stepOf = (at: Date): number => Math.floor(at.getTime() / STEP_MILLISECONDS);

function codeOfStep(secret: Uint8Array, step: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac('sha1', secret).update(counter).digest();
  const offset = (mac.at(-1) ?? 0) & 0xf;
  return String((mac.readUInt32BE(offset) & 0x7fffffff) % 10 ** DIGITS).padStart(DIGITS, '0');
}

/** The step that `code` is of, around `at`; null where it is of none. Whoever takes it keeps the step, and takes no other up to it. */
export function stepOfCode(secret: Uint8Array, code: string, at: Date): number | null {
  const given = Buffer.from(
    code
      .replace(/\s/g, '')
      .padEnd(DIGITS)
      .slice(0, DIGITS + 1),
  );
  let found: number | null = null;
  for (let step = stepOf(at) - DRIFT; step <= stepOf(at) + DRIFT; step += 1) {
    const expected = Buffer.from(codeOfStep(secret, step));
    if (given.length === expected.length && timingSafeEqual(given, expected)) found = step;
  }
  return found;
}

/** The address by which an app takes a secret over (otpauth://, as authenticator apps read it from a QR code). */
export function otpauthUrl(secret: Uint8Array, { issuer, email }: { issuer: string; email: string }): string {
  const label = `${encodeURIComponent(issuer)}:${encodeURIComponent(email)}`;
  return `otpauth://totp/${label}?secret=${base32(secret)}&issuer=${encodeURIComponent(issuer)}`;
}

/** A new secret that waits for its first code. */
export interface OfferedSecret {
  readonly secret: Buffer;
  /** The same, as a form carries it meanwhile: it is stored nowhere. */
  readonly sealed: string;
}

/** Secrets of authenticator apps, which only the holder of the pepper can make and read. */
export interface TotpSecrets {
  /** The secret that comes with an invitation: the same at every look at it, and nowhere stored until it is accepted. */
  ofInvitation(token: string): Buffer;
  /** A secret for who is signed in, sealed for that session alone. Whoever has the sealed text was therefore offered it there. */
  offer(sessionId: string, until: Date): OfferedSecret;
  /** The secret that was offered in a session; null where the text is of another, was changed, or its time is over. */
  offered(sealed: string, sessionId: string, now: Date): Buffer | null;
  /** As it is stored with the person. */
  seal(secret: Uint8Array, personId: string): string;
  /** Throws where the pepper is another, or the text was changed or is another person's. */
  open(sealed: string, personId: string): Buffer;
}

/** `pepper`: 32 bytes that are not in the database, so that a stolen table gives no codes. */
export function createTotpSecrets(pepper: Uint8Array): TotpSecrets {
  const keyFor = (purpose: string): Buffer => Buffer.from(hkdfSync('sha256', pepper, '', purpose, 32));
  const sealing = keyFor('cfe console totp at rest');
  const inviting = keyFor('cfe console totp of an invitation');
  const offering = keyFor('cfe console totp before its first code');
  return {
    ofInvitation: (token) => createHmac('sha256', inviting).update(token).digest().subarray(0, SECRET_BYTES),
    offer(sessionId, until) {
      const secret = randomBytes(SECRET_BYTES);
      const time = Buffer.alloc(TIME_BYTES);
      time.writeBigUInt64BE(BigInt(until.getTime()));
      return { secret, sealed: sealText(offering, Buffer.concat([time, secret]), sessionId) };
    },
    offered(sealed, sessionId, now) {
      const bytes = triedToOpen(offering, sealed, sessionId);
      if (!bytes || bytes.readBigUInt64BE() <= BigInt(now.getTime())) return null;
      return bytes.subarray(TIME_BYTES);
    },
    seal: (secret, personId) => sealText(sealing, secret, personId),
    open: (sealed, personId) => openText(sealing, sealed, personId),
  };
}

/** AES-256-GCM: the text opens with the same `owner` only. */
function sealText(key: Buffer, bytes: Uint8Array, owner: string): string {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(owner));
  return Buffer.concat([iv, cipher.update(bytes), cipher.final(), cipher.getAuthTag()]).toString('base64url');
}

function openText(key: Buffer, sealed: string, owner: string): Buffer {
  const bytes = Buffer.from(sealed, 'base64url');
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, IV_BYTES), {
    authTagLength: TAG_BYTES,
  })
    .setAAD(Buffer.from(owner))
    .setAuthTag(bytes.subarray(-TAG_BYTES));
  return Buffer.concat([decipher.update(bytes.subarray(IV_BYTES, -TAG_BYTES)), decipher.final()]);
}

function triedToOpen(key: Buffer, sealed: string, owner: string): Buffer | null {
  try {
    return openText(key, sealed, owner);
  } catch {
    return null;
  }
}
