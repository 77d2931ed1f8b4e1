import type { Mail } from '../../db/entities/mail.ts';
import type { Cfe } from '../../db/entities/receipts.ts';
import { countMail, hasBounced, lockMail, MailLimitExceeded } from '../../db/mail/mails.ts';
import type { MailError } from '../../domain/mail/mail.ts';
import type { StoreMailAttemptDeps } from './storeMailAttempt.ts';

/**
 * Counts an automatic e-mail before its first attempt; returns why it may not be sent now, or null. E-mails
 * that are counted already, or that a person asked for, pass, so that a repeat counts nothing twice.
 */
export async function admitMail(
  { orm, clock }: Pick<StoreMailAttemptDeps, 'orm' | 'clock'>,
  { id }: Mail,
  { accountId }: Cfe,
): Promise<MailError | null> {
  try {
    return await orm.em.fork().transactional(async (em) => {
      const mail = await lockMail(em, id);
      if (!mail || mail.counted) return null;
      const { kind, destination } = mail;
      if (kind === 'RECEIPT' && (await hasBounced(em, { accountId, destination }))) return 'bounced';
      await countMail(em, { accountId, kind, destination, isAskedFor: false }, clock());
      mail.counted = true;
      return null;
    });
  } catch (error) {
    if (error instanceof MailLimitExceeded) return error.limit;
    throw error;
  }
}
