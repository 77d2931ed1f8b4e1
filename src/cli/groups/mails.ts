import * as z from 'zod';
import { resendMail } from '../../commands/mail/mails.ts';
import type { Mail } from '../../db/entities/mail.ts';
import { findMail, findMails, listMailAttempts } from '../../db/mail/mails.ts';
import { findCfesById } from '../../db/receipts/cfes.ts';
import { MAIL_STATUSES } from '../../domain/mail/mail.ts';
import { formatCfeId } from '../../domain/receipts/cfeId.ts';
import { Refusal } from '../../errors.ts';
import { EnvironmentInput, limitOption, optionalInput, requireCfeOfRut, rutFilter } from '../inputs.ts';
import { actingVerb, type CliDeps, type OutputRow, readVerb, verbGroup } from '../verb.ts';

const EXAMPLES = ['0c0e1ab1-0000-4000-8000-000000000004'];
const MailId = z.string().describe('mail_id of the e-mail');

/** Returns the rows of e-mails, in the given order. */
async function mailRows({ orm }: CliDeps, mails: readonly Mail[]): Promise<OutputRow[]> {
  const ids = mails.map(({ cfeUuid }) => cfeUuid);
  const cfes = await findCfesById(orm.em.fork(), ids);
  return mails.map((one) => {
    const cfe = cfes.get(one.cfeUuid);
    return {
      mail_id: one.id,
      rut: one.rut,
      environment: one.environment,
      cfe_id: cfe ? formatCfeId(cfe) : null,
      kind: one.kind,
      destination: one.destination,
      status: one.status,
      error: one.error,
      attempts: one.attempts,
      created_at: one.createdAt.toISOString(),
    };
  });
}

async function showMail(deps: CliDeps, mailId: string): Promise<OutputRow> {
  const em = deps.orm.em.fork();
  const found = await findMail(em, mailId);
  if (!found) throw new Refusal('NOT_FOUND', `There is no e-mail ${mailId}.`);
  const [shown] = await mailRows(deps, [found]);
  return {
    ...shown,
    by_hand: found.byHand,
    message_id: found.messageId ?? null,
    workflow_id: found.workflowId,
    history: (await listMailAttempts(em, mailId)).map((attempt) => ({
      at: attempt.at.toISOString(),
      smtp_code: attempt.smtpCode ?? null,
      error: attempt.error ?? null,
      answer: attempt.answer ?? null,
      milliseconds: attempt.milliseconds,
    })),
  };
}

export const mailGroup = verbGroup('mail', 'E-mails with receipts to their receivers, and their attempts', {
  list: readVerb({
    summary: 'List e-mails, newest first',
    takes: {
      rut: rutFilter('only e-mails of this enterprise'),
      cfe: optionalInput(z.string(), 'only e-mails of this CFE, such as 101-1; needs --rut', 'cfe_id'),
      environment: EnvironmentInput.describe('of that CFE; default: production'),
      status: optionalInput(z.enum(MAIL_STATUSES), 'only e-mails with this status'),
      limit: limitOption(1_000, 50),
    },
    examples: ['--status FAILED', '--rut 219999830019 --cfe 101-1 --json'],
    usageFault: ({ rut, cfe }) =>
      cfe !== undefined && rut === undefined
        ? '--cfe needs --rut: every enterprise counts its own CFEs.'
        : undefined,
    async run(deps, { rut, cfe: cfe_id, environment, status, limit: most }) {
      const em = deps.orm.em.fork();
      const of =
        cfe_id === undefined
          ? { rut }
          : { cfeUuid: (await requireCfeOfRut(em, { rut, cfe_id, environment })).id };
      return mailRows(deps, await findMails(em, { ...of, status }, most));
    },
  }),
  'show MAIL': readVerb({
    summary: 'Show one e-mail, with every attempt and the mail server’s answer',
    takes: { mail: MailId },
    examples: EXAMPLES,
    run: (deps, { mail: id }) => showMail(deps, id),
  }),
  'resend MAIL': actingVerb({
    summary: 'Send an e-mail again at once, with the same Message-ID and a new retry schedule',
    takes: { mail: MailId },
    examples: EXAMPLES,
    async run(deps, { mail: mailId }) {
      await resendMail(deps, { mailId, by: 'command line' });
      return showMail(deps, mailId);
    },
  }),
});
