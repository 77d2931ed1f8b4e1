import { defineEntity, p } from '@mikro-orm/core';
import type { MailError, MailKind, MailStatus } from '../../domain/mail/mail.ts';
import type { Environment } from '../../domain/receipts/cfeTypes.ts';

const MailSchema = defineEntity({
  name: 'Mail',
  properties: {
    id: p.uuid().primary(),
    /** Id of its workflow. */
    workflowId: p.text(),
    cfeUuid: p.uuid(),
    /** Copied from the CFE, for lists. */
    rut: p.text(),
    environment: p.text().$type<Environment>(),
    kind: p.text().$type<MailKind>(),
    destination: p.text(),
    status: p.text().$type<MailStatus>(),
    /** Attempts so far. */
    attempts: p.integer(),
    /** Requested by a person or a program; false: it followed from the verdict. */
    byHand: p.boolean(),
    /** Requested again while it waited: a failing attempt is not the last, as a new retry schedule follows. */
    askedAgain: p.boolean(),
    /** Counts towards the daily limits: from the start if a person requested it, otherwise from its first attempt. */
    counted: p.boolean(),
    /** Why its last attempt failed; null if it succeeded, and before the first. */
    error: p.text().$type<MailError>().strictNullable(),
    /** The Message-ID, fixed before the first attempt and identical at every other; null until then. */
    messageId: p.text().strictNullable(),
    createdAt: p.datetime(),
    /** When it was accepted or given up. */
    settledAt: p.datetime().strictNullable(),
  },
});

/** One e-mail with one CFE to one address. */
export class Mail extends MailSchema.class {}
MailSchema.setClass(Mail);

const MailAttemptSchema = defineEntity({
  name: 'MailAttempt',
  properties: {
    mailId: p.uuid().primary(),
    number: p.integer().primary(),
    /** The activity execution that made it: a repeated execution finds its own row. */
    execution: p.text(),
    at: p.datetime(),
    /** The mail server's response; null without one. */
    smtpCode: p.integer().strictNullable(),
    /** Why it was not accepted, as a stable code. */
    error: p.text().strictNullable(),
    /** The start of the server's response text. */
    answer: p.text().strictNullable(),
    milliseconds: p.integer(),
  },
});

/** One attempt to send an e-mail, and its result. */
export class MailAttempt extends MailAttemptSchema.class {}
MailAttemptSchema.setClass(MailAttempt);
