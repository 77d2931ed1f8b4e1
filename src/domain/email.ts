import { addIssue } from './issue.ts';
import { textSchema } from './text.ts';

/** RFC 5321 §4.5.3.1.3. */
const EMAIL_LENGTH = 254;

/**
 * What a mail server can be told without quoting (RFC 5321 §4.1.2), letters of any language allowed: nothing in it ends
 * the address, begins another, or is read as a name, a comment or a list.
 */
const ADDRESS =
  /^[^\s@<>()[\]\\,;:"]{1,64}@[\p{L}\p{N}]([\p{L}\p{N}-]*[\p{L}\p{N}])?(\.[\p{L}\p{N}]([\p{L}\p{N}-]*[\p{L}\p{N}])?)+$/u;

/** The schema of an e-mail address. */
export const Email = textSchema(EMAIL_LENGTH)
  .superRefine((value, ctx) => {
    if (!ADDRESS.test(value)) {
      addIssue(ctx, 'email.malformed', 'must be an e-mail address.');
    }
  })
  // Letters of any language are allowed, as RFC 6531 has them.
  .meta({ format: 'idn-email' });
