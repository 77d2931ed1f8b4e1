import type { Mail } from '../../db/entities/mail.ts';
import { Cfe } from '../../db/entities/receipts.ts';
import { hasMailAttempt, insertMailAttempt, lockMail, recordBounce } from '../../db/mail/mails.ts';
import type { Orm } from '../../db/orm.ts';
import { recordEvent } from '../../db/webhooks/events.ts';
import { type MailKind, type MailOutcome, type MailStatus, mailStatusAfter } from '../../domain/mail/mail.ts';
import { receiptDelivered, receiptFailed } from '../../domain/webhooks/webhookEvents.ts';
import type { MailAttemptInput } from '../activities.ts';

/** The result of an attempt to send an e-mail, and the e-mail's status after it. */
export interface StoredMailAttempt {
  readonly kind: MailKind;
  readonly error: MailOutcome['error'];
  readonly status: MailStatus;
}

export interface StoreMailAttemptDeps {
  orm: Orm;
  clock: () => Date;
  /** Called after each attempt is stored; for the metrics. */
  onAttempt?: ((attempt: StoredMailAttempt) => void) | undefined;
}

/**
 * Stores an attempt and its consequences in one transaction: the e-mail's status and, at its end, the event.
 * Two runs of one execution store one attempt; the first stored result counts.
 */
export async function storeMailAttempt(
  { orm, clock, onAttempt }: StoreMailAttemptDeps,
  { mailId, retriesLeft }: MailAttemptInput,
  execution: string,
  outcome: MailOutcome,
): Promise<MailStatus> {
  const stored = await orm.em.fork().transactional(async (em): Promise<StoredMailAttempt | MailStatus> => {
    const mail = await lockMail(em, mailId);
    if (!mail) throw new Error(`e-mail ${mailId} does not exist`);
    if (mail.status !== 'PENDING' || (await hasMailAttempt(em, mailId, execution))) return mail.status;
    const now = clock();
    const { smtpCode, error, answer, milliseconds } = outcome;
    const at = new Date(now.getTime() - milliseconds);
    insertMailAttempt(em, mail, { execution, at, smtpCode, error, answer, milliseconds });
    mail.status = mailStatusAfter(outcome, { retriesLeft, askedAgain: mail.askedAgain });
    mail.askedAgain = false;
    mail.error = error;
    if (mail.status !== 'PENDING') {
      mail.settledAt = now;
      const cfe = await em.findOneOrFail(Cfe, { id: mail.cfeUuid });
      const { accountId } = cfe;
      if (outcome.isBounce && mail.kind === 'RECEIPT')
        await recordBounce(em, { accountId, destination: mail.destination }, now);
      // A blocked e-mail of the sandbox is no failed receipt.
      if (error === 'sandbox') return { kind: mail.kind, error, status: mail.status };
      const toEvent = mail.status === 'SENT' ? receiptDelivered : receiptFailed;
      await recordEvent(em, cfe, toEvent({ cfe, mail }), now);
    }
    return { kind: mail.kind, error, status: mail.status };
  });
  if (typeof stored === 'string') return stored;
  onAttempt?.(stored);
  return stored.status;
}

/** Marks an e-mail as DISABLED without a mail server; a later request has the same result. */
export async function disableMail({ orm, clock }: StoreMailAttemptDeps, { id }: Mail): Promise<void> {
  await orm.em.fork().transactional(async (em) => {
    const mail = await lockMail(em, id);
    if (mail?.status !== 'PENDING') return;
    mail.status = 'DISABLED';
    mail.askedAgain = false;
    mail.settledAt = clock();
  });
}
