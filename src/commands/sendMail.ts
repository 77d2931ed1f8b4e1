import { lockCfeById } from '../db/cfes.ts';
import type { Mail } from '../db/entities/Mail.ts';
import { countMailsByHand, insertMail } from '../db/mails.ts';
import { MAILS_BY_HAND_A_DAY } from '../domain/mail.ts';
import { addDays, montevideoDate, startOfDay } from '../domain/montevideo.ts';
import type { RequestRule } from '../domain/requestRules.ts';
import { invalidInput, Refusal } from '../errors.ts';
import { audited } from './steps/audited.ts';
import type { CommandDeps } from './steps/deps.ts';

/** How soon a CFE that has not gone to the authority may be asked about again. */
const RETRY_AFTER_SECONDS = 5;

/**
 * Sends a receipt to an address by e-mail, at once. Refuses a CFE that has not gone to the authority (NOT_SENT_YET), one
 * that was rejected (INVALID_INPUT), and more e-mails of one CFE than a day allows (RATE_LIMITED): whoever has a key
 * could flood strangers from our address.
 */
export async function sendMail(
  deps: CommandDeps,
  { accountId, cfeUuid, destination }: { accountId: string; cfeUuid: string; destination: string },
): Promise<Mail> {
  const sent = await deps.orm.em.fork().transactional(async (em) => {
    // Locked, so that its status stays and those who ask at once are counted one after the other.
    const cfe = await lockCfeById(em, cfeUuid);
    if (cfe.status === 'PENDING') {
      const message =
        'The CFE has not gone to the tax authority yet; its receipt may not be handed over before.';
      throw new Refusal('NOT_SENT_YET', message, { retryAfterSeconds: RETRY_AFTER_SECONDS });
    }
    if (cfe.status === 'REJECTED') {
      const message = 'The CFE was rejected: its receipt is worth nothing and is not sent.';
      const code: RequestRule = 'mail.cfe_rejected';
      throw invalidInput([{ path: '', code, message }]);
    }
    const now = deps.clock();
    const today = montevideoDate(now);
    if ((await countMailsByHand(em, cfe.id, startOfDay(today))) >= MAILS_BY_HAND_A_DAY) {
      const message = `The CFE was sent by e-mail ${MAILS_BY_HAND_A_DAY} times today on request, the maximum.`;
      const retryAfterSeconds = (startOfDay(addDays(today, 1)).getTime() - now.getTime()) / 1_000;
      throw new Refusal('RATE_LIMITED', message, { retryAfterSeconds });
    }
    const mail = insertMail(em, cfe, { kind: 'RECEIPT', destination, byHand: true }, now);
    audited(deps, em, { action: 'mail.send', subject: mail.id, accountId, rut: cfe.rut }, now);
    return mail;
  });
  deps.outbox.dispatchSoon();
  return sent;
}
