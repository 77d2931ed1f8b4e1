import * as z from 'zod';
import { addIssue } from './issue.ts';

/** A schema for a file given in base64 (RFC 4648 §4): whole groups of four, padded, without line ends. It stays text. */
export function base64File() {
  return z
    .string()
    .superRefine((value, ctx) => {
      if (value === '') addIssue(ctx, 'text.empty', 'a file in base64 is expected, found an empty text.');
      else if (value.length % 4 !== 0 || !/^[A-Za-z0-9+/]+={0,2}$/.test(value)) {
        addIssue(
          ctx,
          'base64.malformed',
          'a file in base64 is expected (with its padding, without line ends or blanks).',
        );
      }
    })
    .meta({ contentEncoding: 'base64', minLength: 4 });
}
