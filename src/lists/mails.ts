import * as z from 'zod';
import { type ListedMail, listMailPage, MAIL_ORDER, type MailFilter } from '../db/mail/mails.ts';
import { MAIL_STATUSES } from '../domain/mail/mail.ts';
import { listOf, TypedRut } from './list.ts';

/** E-mails with receipts, newest first. */
export const MAILS = listOf<ListedMail, MailFilter>()({
  name: 'mails',
  filters: {
    rut: { schema: TypedRut, only: 'e-mails of this enterprise' },
    status: { schema: z.enum(MAIL_STATUSES), only: 'e-mails with this status' },
  } as const,
  columns: {
    mail_id: ({ mail }) => mail.id,
    rut: ({ mail }) => mail.rut,
    environment: ({ mail }) => mail.environment,
    cfe_id: 'cfeId',
    kind: ({ mail }) => mail.kind,
    destination: ({ mail }) => mail.destination,
    created_at: ({ mail }) => mail.createdAt,
    status: ({ mail }) => mail.status,
    error: ({ mail }) => mail.error,
    attempts: ({ mail }) => mail.attempts,
  },
  key: { ...MAIL_ORDER, of: ({ mail }) => MAIL_ORDER.of(mail) },
  read: (em, filter, page) => listMailPage(em, filter, page),
});
