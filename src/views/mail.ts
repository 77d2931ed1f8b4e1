import * as z from 'zod';
import type { Mail } from '../db/entities/mail.ts';
import { MailErrorName, MailKindName, MailStatusName } from '../domain/enums.ts';
import { CUSTOMER_WORDS, words } from '../domain/fieldWords.ts';
import { countOf, MomentText } from './formats.ts';

/** The e-mail object of the API (docs/contract.md#e-mail). */
export const MailView = z
  .object({
    mail_id: z
      .uuid()
      .meta({ description: 'Id of the e-mail.', examples: ['0c0e1ab1-0000-4000-8000-000000000004'] }),
    kind: MailKindName,
    destination: z.string().meta(words(CUSTOMER_WORDS.destination)),
    status: MailStatusName,
    error: MailErrorName.nullable().meta({
      description: 'Why its last attempt did not succeed; null where it did, and before the first.',
    }),
    attempts: countOf('How often it was tried so far.', 1),
    created_at: MomentText.meta({ description: 'When it was asked for, UTC.' }),
  })
  .meta({ id: 'Email', description: 'An e-mail that brings a receipt.' });

/** The e-mail object. */
export function mailView(mail: Mail): z.input<typeof MailView> {
  return {
    mail_id: mail.id,
    kind: mail.kind,
    destination: mail.destination,
    status: mail.status,
    error: mail.error,
    attempts: mail.attempts,
    created_at: mail.createdAt.toISOString(),
  };
}
