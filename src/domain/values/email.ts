import { addIssue } from './issue.ts';
import { textSchema } from './text.ts';

/** RFC 5321 §4.5.3.1.3. */
const EMAIL_LENGTH = 254;

/**
 * An address that needs no quoting (RFC 5321 §4.1.2), with letters of any language. Excludes every character that could
 * end the address or start a name, a comment or a list.
 */
const ADDRESS =
  /^[^\s@<>()[\]\\,;:"]{1,64}@[\p{L}\p{N}]([\p{L}\p{N}-]*[\p{L}\p{N}])?(\.[\p{L}\p{N}]([\p{L}\p{N}-]*[\p{L}\p{N}])?)+$/u;

export const Email = textSchema(EMAIL_LENGTH)
  .superRefine((value, ctx) => {
    if (!ADDRESS.test(value)) {
      addIssue(ctx, 'email.malformed', 'must be an e-mail address.');
    }
  })
  // RFC 6531 allows letters of any language.
  .meta({ format: 'idn-email' });
