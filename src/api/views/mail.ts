import * as z from 'zod';
import type { Mail } from '../../db/entities/Mail.ts';
import { MAIL_KINDS, MAIL_STATUSES } from '../../domain/mail.ts';
import { MomentText } from './formats.ts';

/** The e-mail object of the API (docs/contract.md#e-mail). */
export const MailView = z
  .object({
    mail_id: z.uuid(),
    kind: z.enum(MAIL_KINDS).meta({
      description:
        'RECEIPT: the receipt, to read; EXCHANGE: the sobre between companies, to a receiver that issues CFEs itself',
    }),
    destination: z.string(),
    status: z.enum(MAIL_STATUSES).meta({
      description: 'SENT: the mail server took it; DISABLED: no mail server is configured',
    }),
    attempts: z.int().meta({ description: 'How often it was tried so far' }),
    created_at: MomentText,
  })
  .meta({ id: 'Email' });

/** The e-mail object. */
export function mailView(mail: Mail): z.input<typeof MailView> {
  return {
    mail_id: mail.id,
    kind: mail.kind,
    destination: mail.destination,
    status: mail.status,
    attempts: mail.attempts,
    created_at: mail.createdAt.toISOString(),
  };
}
