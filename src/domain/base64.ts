import * as z from 'zod';
import { addIssue } from './issue.ts';

/** Whole groups of four, the last one padded. */
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** A schema for a file given in base64 (RFC 4648 §4): whole groups of four, padded, without line breaks. The value stays a string. */
export function base64File() {
  return z
    .string()
    .superRefine((value, ctx) => {
      if (value === '') addIssue(ctx, 'text.empty', 'must be a file in base64, found an empty string.');
      else if (!BASE64.test(value)) {
        addIssue(
          ctx,
          'base64.malformed',
          'must be a file in base64, padded and without line breaks or spaces.',
        );
      }
    })
    .meta({ contentEncoding: 'base64', minLength: 4, pattern: BASE64.source });
}
