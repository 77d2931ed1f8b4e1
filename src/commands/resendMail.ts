import { cfeById } from '../db/cfes.ts';
import type { Mail } from '../db/entities/Mail.ts';
import { lockMail, restartMail } from '../db/mails.ts';
import { Refusal } from '../errors.ts';
import { audited } from './steps/audited.ts';
import type { CommandDeps } from './steps/deps.ts';

/**
 * Sends an e-mail once more: same Message-ID, a new schedule, at once; also one that waits for its retry. Refuses an
 * unknown e-mail (NOT_FOUND) and one whose CFE was rejected (INVALID_INPUT).
 */
export async function resendMail(deps: CommandDeps, { mailId }: { mailId: string }): Promise<Mail> {
  const restarted = await deps.orm.em.fork().transactional(async (em) => {
    const mail = await lockMail(em, mailId);
    if (!mail) throw new Refusal('NOT_FOUND', `There is no e-mail ${mailId}.`);
    const cfe = await cfeById(em, mail.cfeId);
    if (cfe.status === 'REJECTED') {
      throw new Refusal('INVALID_INPUT', `The CFE of the e-mail ${mailId} was rejected; it is not sent.`);
    }
    const now = deps.clock();
    restartMail(em, mail, cfe, now);
    audited(
      deps,
      em,
      { action: 'mail.resend', subject: mailId, accountId: cfe.accountId, rut: mail.rut },
      now,
    );
    return mail;
  });
  deps.outbox.dispatchSoon();
  return restarted;
}
