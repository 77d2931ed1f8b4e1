import { defineEntity, p } from '@mikro-orm/core';
import type { Environment } from '../../domain/cfeTypes.ts';
import type { MailKind, MailStatus } from '../../domain/mail.ts';

const MailSchema = defineEntity({
  name: 'Mail',
  properties: {
    id: p.uuid().primary(),
    /** Under which its workflow runs. */
    workflowId: p.text(),
    cfeId: p.uuid(),
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
