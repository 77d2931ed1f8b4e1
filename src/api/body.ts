/** Reads request bodies: size and type (413, 415), then text and JSON (400). */
import type { IncomingMessage } from 'node:http';
import getRawBody from 'raw-body';
import { type Checked, faultAt } from '../domain/requests/faults.ts';
import { JsonNumber } from '../domain/values/decimal.ts';
import { readJson } from '../domain/values/json.ts';
import { invalidInput, Refusal } from '../errors.ts';
import { LONGEST_FIELD } from './route.ts';

const TOKEN = /^[\w!#$%&'*+.^`|~-]+$/;
const QUOTED = /"[^"\\]*"/g;

/** Whether a Content-Type is `application/json` in UTF-8; other parameters are ignored. */
function isJson(type: string): boolean {
  // A quoted value may contain anything; only the charset matters.
  const plain = type.toLowerCase().replace(QUOTED, (quoted) => (quoted === '"utf-8"' ? 'utf-8' : 'quoted'));
  const [mediaType = '', ...parameters] = plain.split(';').map((part) => part.trim());
  return mediaType === 'application/json' && parameters.every((one) => one === '' || isHarmless(one));
}

function isHarmless(parameter: string): boolean {
  const sign = parameter.indexOf('=');
  const [name, value] = [parameter.slice(0, sign).trimEnd(), parameter.slice(sign + 1).trimStart()];
  return sign > 0 && TOKEN.test(name) && TOKEN.test(value) && (name !== 'charset' || value === 'utf-8');
}

/**
 * Returns the bytes of the body, empty without one. Throws PAYLOAD_TOO_LARGE beyond `limitBytes` (by header
 * or while reading), and UNSUPPORTED_MEDIA_TYPE unless the headers say JSON.
 */
export async function readBody(request: IncomingMessage, limitBytes: number): Promise<Buffer> {
  const { 'content-length': length, 'transfer-encoding': chunked } = request.headers;
  if (chunked === undefined && Number(length ?? 0) === 0) return Buffer.alloc(0);
  if (Number(length ?? 0) > limitBytes) throw tooLarge(limitBytes);
  requireJson(request);
  try {
    return await getRawBody(request, { limit: limitBytes, ...(chunked === undefined ? { length } : {}) });
  } catch (cause) {
    // Reads and discards the rest of the body: a client that is still sending would not receive the answer.
    request.resume();
    if (failureType(cause) === 'entity.too.large') throw tooLarge(limitBytes);
    throw new Refusal('INVALID_INPUT', 'The body is incomplete.', { cause });
  }
}

function requireJson({ headers }: IncomingMessage): void {
  const encoding = headers['content-encoding'];
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    throw new Refusal('UNSUPPORTED_MEDIA_TYPE', 'The body must be sent without Content-Encoding.');
  }
  const type = headers['content-type'] ?? '';
  if (type.length <= LONGEST_FIELD && isJson(type)) return;
  throw new Refusal(
    'UNSUPPORTED_MEDIA_TYPE',
    'The body must be JSON in UTF-8: Content-Type: application/json.',
  );
}

const tooLarge = (limitBytes: number): Refusal =>
  new Refusal('PAYLOAD_TOO_LARGE', `The body must not be larger than ${limitBytes / 1024} KiB.`);

/** Returns the `type` by which raw-body names a failure. */
function failureType(error: unknown): unknown {
  return typeof error === 'object' && error !== null && 'type' in error ? error.type : undefined;
}

/** Parses the bytes of a body as a JSON object; with `optional`, no bytes count as `{}`. */
export function parseBody(
  bytes: Uint8Array,
  { optional }: { optional: boolean },
): Checked<Readonly<Record<string, unknown>>> {
  if (bytes.length === 0)
    return optional
      ? { ok: true, value: {} }
      : fault('body.missing', 'The body must be a JSON object; it is missing.');
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return fault('body.malformed', 'The body must be UTF-8.');
  }
  const json = readJson(text);
  if (!json.ok) {
    return {
      ok: false,
      faults: json.faults.map((one) =>
        one.path === '' ? { ...one, message: `The body ${one.message}` } : one,
      ),
    };
  }
  const { value } = json;
  if (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    !(value instanceof JsonNumber)
  ) {
    return { ok: true, value: value as Record<string, unknown> };
  }
  return { ok: false, faults: [faultAt([], 'body.wrong_type', 'the body must be a JSON object.')] };
}

function fault(code: string, message: string): Checked<never> {
  return { ok: false, faults: [{ path: '', code, message }] };
}

/** Returns the value of `checked`; throws INVALID_INPUT with all its faults. */
export function valueOf<T>(checked: Checked<T>): T {
  if (!checked.ok) throw invalidInput(checked.faults);
  return checked.value;
}
