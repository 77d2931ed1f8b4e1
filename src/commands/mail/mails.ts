import type { EntityManager } from '@mikro-orm/postgresql';
import type { Mail } from '../../db/entities/mail.ts';
import type { Cfe } from '../../db/entities/receipts.ts';
import {
  countMail,
  hasBounced,
  insertMail,
  liftBounce,
  lockMail,
  MailLimitExceeded,
  restartMail,
} from '../../db/mail/mails.ts';
import { countToday, findRateLimit } from '../../db/people/counts.ts';
import { lockCfeById, requireCfe } from '../../db/receipts/cfes.ts';
import {
  isSandboxAddressAllowed,
  MAILS_BY_HAND_A_DAY,
  type MailKind,
  type MailLimit,
  mailLimitsOfAccount,
} from '../../domain/mail/mail.ts';
import type { RequestRule } from '../../domain/requests/requestRules.ts';
import { secondsToMidnight } from '../../domain/values/montevideo.ts';
import { invalidInput, Refusal } from '../../errors.ts';
import { auditAct } from '../steps/auditAct.ts';
import type { CommandDeps } from '../steps/deps.ts';

interface RequestedMail {
  readonly kind: MailKind;
  readonly destination: string;
}

/**
 * Throws INVALID_INPUT for an e-mail that cannot arrive: from the sandbox to an address that the operator has not listed, or
 * to an address that permanently refused an e-mail of the account.
 */
async function requireReachable(
  { sandboxMails = [] }: Pick<CommandDeps, 'sandboxMails'>,
  em: EntityManager,
  { accountId, environment }: Pick<Cfe, 'accountId' | 'environment'>,
  { kind, destination }: RequestedMail,
): Promise<void> {
  if (environment === 'sandbox' && !isSandboxAddressAllowed(destination, sandboxMails))
    throw unreachable(
      'mail.sandbox',
      'sandbox receipts are sent only to addresses that the operator has allowed.',
    );
  if (kind === 'RECEIPT' && (await hasBounced(em, { accountId, destination })))
    throw unreachable(
      'mail.bounced',
      'this address permanently refused an e-mail of the account; correct it, or ask the operator to try it again.',
    );
}

const unreachable = (code: RequestRule, message: string): Refusal =>
  invalidInput([{ path: '/destination', code, message: `destination: ${message}` }]);

const LIMIT_MESSAGES: Readonly<Record<MailLimit, (most: number) => string>> = {
  account_limit: (most) => `The account has sent ${most} e-mails today, the maximum`,
  mailbox_limit: () => 'This mailbox has received the maximum number of e-mails for today',
};

/**
 * Counts an e-mail requested by the account `accountId`, even for another account's CFE. Throws RATE_LIMITED
 * beyond a daily limit.
 */
async function countRequestedMail(
  em: EntityManager,
  { id, accountId }: { id: Cfe['id']; accountId: string },
  { kind, destination }: RequestedMail,
  now: Date,
): Promise<void> {
  const { byHand } = mailLimitsOfAccount(await findRateLimit(em, accountId));
  const limits = [
    {
      counter: `e-mails of CFE ${id}`,
      most: MAILS_BY_HAND_A_DAY,
      why: `The CFE was sent by e-mail ${MAILS_BY_HAND_A_DAY} times today on request, the maximum`,
    },
    {
      counter: `e-mails by hand of ${accountId}`,
      most: byHand,
      why: `The account has sent ${byHand} e-mails on request today, the maximum`,
    },
  ];
  const exceeded = await countToday(em, limits, now);
  if (exceeded) throw limitExceeded(exceeded.why, now);
  try {
    await countMail(em, { accountId, kind, destination, isAskedFor: true }, now);
  } catch (error) {
    if (error instanceof MailLimitExceeded) throw limitExceeded(LIMIT_MESSAGES[error.limit](error.most), now);
    throw error;
  }
}

const limitExceeded = (why: string, now: Date): Refusal =>
  new Refusal('RATE_LIMITED', `${why}; try again tomorrow.`, {
    retryAfterSeconds: secondsToMidnight(now),
  });

/** Retry-After for a CFE that has not been sent to the authority. */
const RETRY_AFTER_SECONDS = 5;

/**
 * E-mails a receipt at once, counted for the requesting account. Throws NOT_SENT_YET before the CFE was sent
 * to the authority, INVALID_INPUT for a rejected CFE or an unreachable address, and RATE_LIMITED beyond the
 * daily limits per CFE, account and mailbox, which keep a key holder from flooding strangers.
 */
export async function sendMail(
  deps: CommandDeps,
  { accountId, cfeUuid, destination }: { accountId: string; cfeUuid: string; destination: string },
): Promise<Mail> {
  const sent = await deps.orm.em.fork().transactional(async (em) => {
    // Locked, so that the status stays.
    const cfe = await lockCfeById(em, cfeUuid);
    if (cfe.status === 'PENDING') {
      const message =
        'The CFE has not been sent to the tax authority yet; its receipt may not be handed over before that.';
      throw new Refusal('NOT_SENT_YET', message, { retryAfterSeconds: RETRY_AFTER_SECONDS });
    }
    if (cfe.status === 'REJECTED') {
      const message = 'The CFE was rejected: its receipt has no value and is not sent.';
      const code: RequestRule = 'mail.cfe_rejected';
      throw invalidInput([{ path: '', code, message }]);
    }
    const now = deps.clock();
    await requireReachable(deps, em, cfe, { kind: 'RECEIPT', destination });
    const mail = insertMail(em, cfe, { kind: 'RECEIPT', destination, byHand: true }, now);
    await countRequestedMail(em, { id: cfe.id, accountId }, mail, now);
    auditAct(deps, em, { action: 'mail.send', subject: mail.id, accountId, rut: cfe.rut }, now);
    return mail;
  });
  deps.outbox.scheduleDispatch();
  return sent;
}

/** Who requests a resend: a customer or an operator in the console, or an operator at the command line. */
export type ResentBy = 'member' | 'operator' | 'command line';

/**
 * Sends an e-mail again at once, with the same Message-ID and a new retry schedule. In the console it counts
 * as requested by `accountId`, or by the CFE's account without one. An operator's request lifts the block of
 * a bounced address. Throws NOT_FOUND for an unknown e-mail, INVALID_INPUT for a rejected CFE or an
 * unreachable address, RATE_LIMITED beyond the daily limits.
 */
export async function resendMail(
  deps: CommandDeps,
  { mailId, by, accountId: asking }: { mailId: string; by: ResentBy; accountId?: string },
): Promise<Mail> {
  const restarted = await deps.orm.em.fork().transactional(async (em) => {
    const mail = await lockMail(em, mailId);
    if (!mail) throw new Refusal('NOT_FOUND', `There is no e-mail ${mailId}.`);
    const cfe = await requireCfe(em, mail.cfeUuid);
    const { accountId, status } = cfe;
    if (status === 'REJECTED') {
      throw new Refusal('INVALID_INPUT', `The CFE of the e-mail ${mailId} was rejected; it is not sent.`);
    }
    const now = deps.clock();
    if (by !== 'member') await liftBounce(em, { accountId, destination: mail.destination });
    await requireReachable(deps, em, cfe, mail);
    restartMail(em, mail, cfe, now);
    if (by !== 'command line')
      await countRequestedMail(em, { id: cfe.id, accountId: asking ?? accountId }, mail, now);
    auditAct(deps, em, { action: 'mail.resend', subject: mailId, accountId, rut: mail.rut }, now);
    return mail;
  });
  deps.outbox.scheduleDispatch();
  return restarted;
}
