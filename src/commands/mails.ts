import type { EntityManager } from '@mikro-orm/postgresql';
import { lockCfeById, requireCfe } from '../db/cfes.ts';
import { countToday, findHourlyLimit } from '../db/counts.ts';
import type { Mail } from '../db/entities/mail.ts';
import type { Cfe } from '../db/entities/receipts.ts';
import {
  countMail,
  hasBounced,
  insertMail,
  liftBounce,
  lockMail,
  MailLimitExceeded,
  restartMail,
} from '../db/mails.ts';
import {
  isSandboxAddressAllowed,
  MAILS_BY_HAND_A_DAY,
  type MailKind,
  type MailLimit,
  mailLimitsOfAccount,
} from '../domain/mail.ts';
import { secondsToMidnight } from '../domain/montevideo.ts';
import type { RequestRule } from '../domain/requestRules.ts';
import { invalidInput, Refusal } from '../errors.ts';
import { audited } from './steps/audited.ts';
import type { CommandDeps } from './steps/deps.ts';

/** An e-mail that a person asks for. */
interface Asked {
  readonly kind: MailKind;
  readonly destination: string;
}

/**
 * Refuses an e-mail that cannot arrive (INVALID_INPUT): of the sandbox to an address that the operator has not named, and
 * a receipt to one that has refused an e-mail of the account for good.
 */
async function requireReachable(
  { sandboxMails = [] }: Pick<CommandDeps, 'sandboxMails'>,
  em: EntityManager,
  { accountId, environment }: Pick<Cfe, 'accountId' | 'environment'>,
  { kind, destination }: Asked,
): Promise<void> {
  if (environment === 'sandbox' && !isSandboxAddressAllowed(destination, sandboxMails))
    throw unreachable(
      'mail.sandbox',
      'receipts of the sandbox go only to addresses that the operator has allowed.',
    );
  if (kind === 'RECEIPT' && (await hasBounced(em, { accountId, destination })))
    throw unreachable(
      'mail.bounced',
      'this address permanently refused an e-mail of the account; correct it, or ask the operator to try it again.',
    );
}

const unreachable = (code: RequestRule, message: string): Refusal =>
  invalidInput([{ path: '/destination', code, message: `destination: ${message}` }]);

const WORDS: Readonly<Record<MailLimit, (most: number) => string>> = {
  account_limit: (most) => `The account has sent ${most} e-mails today, the maximum`,
  mailbox_limit: () => 'This mailbox has received the maximum number of e-mails for today',
};

/**
 * Counts an e-mail of a CFE that a person asks for, for the account `accountId` that asks, whosever CFE it is; refuses one
 * that is beyond a limit of the day (RATE_LIMITED).
 */
async function countAskedFor(
  em: EntityManager,
  { id, accountId }: { id: Cfe['id']; accountId: string },
  { kind, destination }: Asked,
  now: Date,
): Promise<void> {
  const { byHand } = mailLimitsOfAccount(await findHourlyLimit(em, accountId));
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
  if (exceeded) throw limited(exceeded.why, now);
  try {
    await countMail(em, { accountId, kind, destination, isAskedFor: true }, now);
  } catch (error) {
    if (error instanceof MailLimitExceeded) throw limited(WORDS[error.limit](error.most), now);
    throw error;
  }
}

const limited = (why: string, now: Date): Refusal =>
  new Refusal('RATE_LIMITED', `${why}; the next one tomorrow.`, {
    retryAfterSeconds: secondsToMidnight(now),
  });

/** How soon a CFE that has not gone to the authority may be asked about again. */
const RETRY_AFTER_SECONDS = 5;

/**
 * Sends a receipt to an address by e-mail, at once; it counts for the account `accountId`, which asks. Refuses a CFE that has not gone to the authority (NOT_SENT_YET), one
 * that was rejected and an address that it cannot reach (INVALID_INPUT), and more e-mails of the CFE, of its account or to
 * the mailbox than a day allows (RATE_LIMITED): whoever has a key could flood strangers from our address.
 */
export async function sendMail(
  deps: CommandDeps,
  { accountId, cfeUuid, destination }: { accountId: string; cfeUuid: string; destination: string },
): Promise<Mail> {
  const sent = await deps.orm.em.fork().transactional(async (em) => {
    // Locked, so that its status stays.
    const cfe = await lockCfeById(em, cfeUuid);
    if (cfe.status === 'PENDING') {
      const message =
        'The CFE has not gone to the tax authority yet; its receipt may not be handed over before.';
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
    await countAskedFor(em, { id: cfe.id, accountId }, mail, now);
    audited(deps, em, { action: 'mail.send', subject: mail.id, accountId, rut: cfe.rut }, now);
    return mail;
  });
  deps.outbox.scheduleDispatch();
  return sent;
}

/** Who asks for an e-mail again: a customer or an operator in the console, or an operator at the command line. */
export type ResentBy = 'member' | 'operator' | 'command line';

/**
 * Sends an e-mail once more: same Message-ID, a new schedule, at once; also one that waits for its retry. In the console it
 * counts like one that is sent by hand, whatever it brings and whether it has arrived, for the account `accountId`, or
 * without one for that of the CFE. That an operator asks lifts what
 * keeps receipts from an address that refused one for good. Refuses an unknown e-mail (NOT_FOUND), one whose CFE was
 * rejected or whose address it cannot reach (INVALID_INPUT), and more than a day allows (RATE_LIMITED).
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
      await countAskedFor(em, { id: cfe.id, accountId: asking ?? accountId }, mail, now);
    audited(deps, em, { action: 'mail.resend', subject: mailId, accountId, rut: mail.rut }, now);
    return mail;
  });
  deps.outbox.scheduleDispatch();
  return restarted;
}
