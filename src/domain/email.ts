import { addIssue } from './issue.ts';
import { text } from './text.ts';

/** RFC 5321 §4.5.3.1.3. */
const EMAIL_LENGTH = 254;

/** The schema of an e-mail address. */
export const Email = text(EMAIL_LENGTH).superRefine((value, ctx) => {
  if (!/^[^\s@]+@[^\s@.]+(\.[^\s@.]+)+$/.test(value)) {
    addIssue(ctx, 'email.malformed', 'must be an e-mail address.');
  }
});
