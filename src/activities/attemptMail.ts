import type { EntityManager } from '@mikro-orm/postgresql';
import { ApplicationFailure, activityInfo, log } from '@temporalio/activity';
import type { Mail } from '../db/entities/mail.ts';
import { Cfe } from '../db/entities/receipts.ts';
import { findMail, fixMessageId, hasTriedMail } from '../db/mails.ts';
import type { MailResult } from '../domain/activityResults.ts';
import {
  type MailError,
  type MailKind,
  type MailOutcome,
  type MailStatus,
  mayReachFromSandbox,
  UnprintableReceipt,
} from '../domain/mail.ts';
import { Refusal } from '../errors.ts';
import { failpoint } from '../failpoints.ts';
import type { Mailer, MailMessage } from '../mail/smtp.ts';
import type { DeliverySlots } from '../webhooks/slots.ts';
import type { Activity, MailAttemptInput } from './activities.ts';
import { admitMail } from './steps/admitMail.ts';
import { withHeartbeat } from './steps/attempt.ts';
import { disableMail, type StoreMailAttemptDeps, storeMailAttempt } from './steps/storeMailAttempt.ts';

/** An e-mail without what is the same for every kind. */
export type MailContent = Omit<MailMessage, 'messageId' | 'date' | 'to'>;

/** Writes the e-mail about a CFE, read with its XML. What it makes for one e-mail is the same each time. */
export type ComposeMail = (em: EntityManager, mail: Mail, cfe: Cfe) => Promise<MailContent>;

export interface AttemptMailDeps extends StoreMailAttemptDeps {
  /** null: no mail server is configured. */
  mailer: Mailer | null;
  slots: DeliverySlots;
  compose: Readonly<Partial<Record<MailKind, ComposeMail>>>;
  /** The only addresses that e-mails of the sandbox go to. */
  sandboxMails: readonly string[];
}

/**
 * Makes one attempt to send an e-mail and stores what came of it. Its repeat after a dead worker finds what was stored,
 * or else sends the same e-mail, with the same Message-ID, once more.
 */
export function createAttemptMail(deps: AttemptMailDeps): Activity<'attemptMail'> {
  return (input) => withHeartbeat(() => attempt(deps, input));
}

async function attempt(deps: AttemptMailDeps, input: MailAttemptInput): Promise<MailResult> {
  const em = deps.orm.em.fork();
  const { mailId } = input;
  const execution = executionId();
  const mail = await findMail(em, mailId);
  if (!mail) throw new Error(`e-mail ${mailId} is not there`);
  if (mail.status !== 'PENDING' || (await hasTriedMail(em, mailId, execution))) return RESULTS[mail.status];
  if (!deps.mailer) {
    await disableMail(deps, mail);
    return { kind: 'disabled' };
  }
  const cfe = await em.findOneOrFail(Cfe, { id: mail.cfeUuid }, { populate: ['signedXml'] });
  const obstacle = obstacleFor(deps, mail, cfe);
  if (obstacle) return RESULTS[await storeMailAttempt(deps, input, execution, notTried(obstacle, true))];
  const held = await admitMail(deps, mail, cfe);
  if (held) {
    const outcome = notTried(held, held === 'bounced');
    return RESULTS[await storeMailAttempt(deps, input, execution, outcome)];
  }
  const slot = deps.slots.take({ receiver: cfe.rut, accountId: cfe.accountId });
  if ('waitMilliseconds' in slot) throw busy(slot.waitMilliseconds);
  try {
    const { destination: to, createdAt: date } = mail;
    const compose = deps.compose[mail.kind];
    if (!compose) throw new Error(`nobody writes e-mails of the kind ${mail.kind}`);
    const content = await compose(em, mail, cfe).catch(unwritten);
    if (!content) return RESULTS[await storeMailAttempt(deps, input, execution, notTried('print', false))];
    const messageId = await fixMessageId(em, mail, `${mail.id}@${deps.mailer.domain}`);
    failpoint('mail.sending');
    const outcome = await deps.mailer.send({ ...content, messageId, date, to });
    failpoint('mail.sent');
    const stored = await storeMailAttempt(deps, input, execution, outcome);
    failpoint('mail.stored');
    return RESULTS[stored];
  } finally {
    slot.free();
  }
}

const RESULTS: Readonly<Record<MailStatus, MailResult>> = {
  SENT: { kind: 'sent' },
  FAILED: { kind: 'failed' },
  DISABLED: { kind: 'disabled' },
  PENDING: { kind: 'pending' },
};

/** The same at every repeat of one activity of one run, and at no other. */
function executionId(): string {
  const { workflowExecution, activityId } = activityInfo();
  return `${workflowExecution?.runId ?? ''}/${activityId}`;
}

/** Why an e-mail must not go, as things stand now: nothing of what was true when it was asked for is believed. */
function obstacleFor({ sandboxMails }: AttemptMailDeps, mail: Mail, cfe: Cfe): MailError | null {
  if (cfe.status === 'REJECTED') return 'cfe_rejected';
  // A database that was restored knows of an e-mail, but not yet that its CFE was sent.
  if (cfe.status === 'PENDING') throw new Error(`CFE ${cfe.id} has not gone to the authority`);
  const isStranger = cfe.environment === 'sandbox' && !mayReachFromSandbox(mail.destination, sandboxMails);
  return isStranger ? 'sandbox' : null;
}

const notTried = (error: MailError, isFinal: boolean): MailOutcome => ({
  smtpCode: null,
  error,
  answer: null,
  isFinal,
  isBounce: false,
  milliseconds: 0,
});

/**
 * Receipts are drawn a few at a time; who gets no turn comes again, and no attempt is counted. One that cannot be drawn
 * (null) is an attempt of the schedule: repeated at once and for ever, it would hold the threads that draw for all.
 */
function unwritten(error: unknown): null {
  if (error instanceof UnprintableReceipt) {
    log.error('a receipt could not be printed for its e-mail', { error });
    return null;
  }
  if (!(error instanceof Refusal) || error.code !== 'UNAVAILABLE') throw error;
  throw busy((error.retryAfterSeconds ?? 1) * 1_000);
}

/** As many are under way as may be: no attempt is counted, and no history grows. */
function busy(waitMilliseconds: number): ApplicationFailure {
  return ApplicationFailure.create({
    type: 'MailBusy',
    category: 'BENIGN',
    message: 'Other e-mails, or prints, are under way; this one waits for a slot.',
    nextRetryDelay: waitMilliseconds,
  });
}
