import type { EntityManager } from '@mikro-orm/postgresql';
import { ApplicationFailure, log } from '@temporalio/activity';
import type { Mail } from '../../db/entities/mail.ts';
import { Cfe } from '../../db/entities/receipts.ts';
import { findMail, fixMessageId, hasMailAttempt } from '../../db/mail/mails.ts';
import type { MailResult } from '../../domain/authority/activityResults.ts';
import {
  isSandboxAddressAllowed,
  type MailError,
  type MailKind,
  type MailOutcome,
  type MailStatus,
  UnprintableReceipt,
} from '../../domain/mail/mail.ts';
import { Refusal } from '../../errors.ts';
import { failpoint } from '../../failpoints.ts';
import type { Mailer, MailMessage } from '../../mail/smtp.ts';
import type { DeliverySlots } from '../../webhooks/slots.ts';
import type { Activity, MailAttemptInput } from '../activities.ts';
import { executionId, retryLater, withHeartbeat } from '../authority/attempt.ts';
import { admitMail } from './admitMail.ts';
import { disableMail, type StoreMailAttemptDeps, storeMailAttempt } from './storeMailAttempt.ts';

/** The part of an e-mail that differs by its kind. */
export type MailContent = Omit<MailMessage, 'messageId' | 'date' | 'to'>;

/** Writes the e-mail about a CFE, which is read with its XML. The result is the same at each attempt. */
export type ComposeMail = (em: EntityManager, mail: Mail, cfe: Cfe) => Promise<MailContent>;

export interface AttemptMailDeps extends StoreMailAttemptDeps {
  /** null if no mail server is configured. */
  mailer: Mailer | null;
  slots: DeliverySlots;
  compose: Readonly<Partial<Record<MailKind, ComposeMail>>>;
  /** The only addresses that receive e-mails of the sandbox. */
  sandboxMails: readonly string[];
}

/**
 * Makes one attempt to send an e-mail and stores its result. After a worker crash, a repeat finds the stored
 * result or sends the same e-mail with the same Message-ID again.
 */
export function createAttemptMail(deps: AttemptMailDeps): Activity<'attemptMail'> {
  return (input) => withHeartbeat(() => attemptMail(deps, input));
}

async function attemptMail(deps: AttemptMailDeps, input: MailAttemptInput): Promise<MailResult> {
  const em = deps.orm.em.fork();
  const { mailId } = input;
  const execution = executionId();
  const mail = await findMail(em, mailId);
  if (!mail) throw new Error(`e-mail ${mailId} does not exist`);
  if (mail.status !== 'PENDING' || (await hasMailAttempt(em, mailId, execution))) return RESULTS[mail.status];
  if (!deps.mailer) {
    await disableMail(deps, mail);
    return { kind: 'disabled' };
  }
  const cfe = await em.findOneOrFail(Cfe, { id: mail.cfeUuid }, { populate: ['signedXml'] });
  const obstacle = findObstacle(deps, mail, cfe);
  if (obstacle) return RESULTS[await storeMailAttempt(deps, input, execution, notAttempted(obstacle, true))];
  const denied = await admitMail(deps, mail, cfe);
  if (denied) {
    const outcome = notAttempted(denied, denied === 'bounced');
    return RESULTS[await storeMailAttempt(deps, input, execution, outcome)];
  }
  const slot = deps.slots.take({ receiver: cfe.rut, accountId: cfe.accountId });
  if ('waitMilliseconds' in slot) throw mailBusy(slot.waitMilliseconds);
  try {
    const { destination: to, createdAt: date } = mail;
    const compose = deps.compose[mail.kind];
    if (!compose) throw new Error(`no composer for e-mails of the kind ${mail.kind}`);
    const content = await compose(em, mail, cfe).catch(handlePrintFailure);
    if (!content)
      return RESULTS[await storeMailAttempt(deps, input, execution, notAttempted('print', false))];
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

/** Returns why an e-mail must not be sent, by the present rows instead of those at its request. */
function findObstacle({ sandboxMails }: AttemptMailDeps, mail: Mail, cfe: Cfe): MailError | null {
  if (cfe.status === 'REJECTED') return 'cfe_rejected';
  // After a restore the database may hold the e-mail but not yet the send of its CFE.
  if (cfe.status === 'PENDING') throw new Error(`CFE ${cfe.id} has not gone to the authority`);
  const isBlocked = cfe.environment === 'sandbox' && !isSandboxAddressAllowed(mail.destination, sandboxMails);
  return isBlocked ? 'sandbox' : null;
}

const notAttempted = (error: MailError, isFinal: boolean): MailOutcome => ({
  smtpCode: null,
  error,
  answer: null,
  isFinal,
  isBounce: false,
  milliseconds: 0,
});

/**
 * Returns null for a receipt that cannot be printed: it waits for the next scheduled attempt, as an immediate
 * retry would keep the printing threads busy. Throws, without counting an attempt, while all threads are busy.
 */
function handlePrintFailure(error: unknown): null {
  if (error instanceof UnprintableReceipt) {
    log.error('a receipt could not be printed for its e-mail', { error });
    return null;
  }
  if (!(error instanceof Refusal) || error.code !== 'UNAVAILABLE') throw error;
  throw mailBusy((error.retryAfterSeconds ?? 1) * 1_000);
}

/** The limit is reached: no attempt is counted, and the history does not grow. */
const mailBusy = (waitMilliseconds: number): ApplicationFailure =>
  retryLater(
    'MailBusy',
    'Other e-mails, or prints, are in progress; this one waits for a slot.',
    waitMilliseconds,
  );
