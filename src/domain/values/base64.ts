import * as z from 'zod';
import { addIssue } from './issue.ts';

/** Groups of four characters, the last padded or not; a line may end after any group, as in MIME and PEM. */
const BASE64 = /^(?:[A-Za-z0-9+/]{4}(?:\r?\n)?)*(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?(?:\r?\n)?$/;

/** Returns a schema for a file in base64 (RFC 4648 §4), padded or not, in one or more lines. The value stays a string. */
export function base64File() {
  return z
    .string()
    .superRefine((value, ctx) => {
      if (value === '') addIssue(ctx, 'text.empty', 'must be a file in base64, found an empty string.');
      else if (!BASE64.test(value)) {
        addIssue(
          ctx,
          'base64.malformed',
          'must be a file in base64 (RFC 4648, with + and /), without spaces.',
        );
      }
    })
    .meta({ contentEncoding: 'base64', minLength: 2, pattern: BASE64.source });
}
