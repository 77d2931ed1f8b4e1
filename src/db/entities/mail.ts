import { defineEntity, p } from '@mikro-orm/core';
import type { Environment } from '../../domain/cfeTypes.ts';
import type { MailError, MailKind, MailStatus } from '../../domain/mail.ts';

const MailSchema = defineEntity({
  name: 'Mail',
  properties: {
    id: p.uuid().primary(),
    /** Under which its workflow runs. */
    workflowId: p.text(),
    cfeUuid: p.uuid(),
    /** Those of the CFE, for lists. */
    rut: p.text(),
    environment: p.text().$type<Environment>(),
    kind: p.text().$type<MailKind>(),
    destination: p.text(),
    status: p.text().$type<MailStatus>(),
    /** How often it was tried so far. */
    attempts: p.integer(),
    /** Asked for by a person or a program; false: it followed from the verdict. */
    byHand: p.boolean(),
    /** Asked for again while it waited: an attempt that fails now is not its last, for a new schedule is to come. */
    askedAgain: p.boolean(),
    /** It stands in the counts of a day: what a person asked for from the start, all else from its first attempt. */
    counted: p.boolean(),
    /** Why its last attempt did not succeed; null where it did, and before the first. */
    error: p.text().$type<MailError>().strictNullable(),
    /** The Message-ID, fixed before the first attempt and the same at every other; null until then. */
    messageId: p.text().strictNullable(),
    createdAt: p.datetime(),
    /** When it was taken or given up. */
    settledAt: p.datetime().strictNullable(),
  },
});

/** One e-mail that brings one CFE to one address. */
export class Mail extends MailSchema.class {}
MailSchema.setClass(Mail);

const MailAttemptSchema = defineEntity({
  name: 'MailAttempt',
  properties: {
    mailId: p.uuid().primary(),
    number: p.integer().primary(),
    /** The execution of the activity that made it: a repeat of that execution finds what it did. */
    execution: p.text(),
    at: p.datetime(),
    /** What the mail server answered; null without an answer. */
    smtpCode: p.integer().strictNullable(),
    /** Why it was not taken, in stable words. */
    error: p.text().strictNullable(),
    /** The start of the server's answer in its own words. */
    answer: p.text().strictNullable(),
    milliseconds: p.integer(),
  },
});

/** One attempt to send an e-mail, and what came of it. */
export class MailAttempt extends MailAttemptSchema.class {}
MailAttemptSchema.setClass(MailAttempt);
