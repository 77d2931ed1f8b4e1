import { defineEntity, p } from '@mikro-orm/core';

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
