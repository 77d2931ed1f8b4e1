import * as z from 'zod';
import { resendMail } from '../../commands/mail/mails.ts';
import { findMail, listMailAttempts } from '../../db/mail/mails.ts';
import { findCfesById } from '../../db/receipts/cfes.ts';
import { formatCfeId } from '../../domain/receipts/cfeId.ts';
import { Refusal } from '../../errors.ts';
import { MAILS } from '../../lists/mails.ts';
import { EnvironmentInput, optionalInput, requireCfeOfRut } from '../inputs.ts';
import { listedRow, listVerb } from '../listVerb.ts';
import { actingVerb, type CliDeps, type OutputRow, readVerb, verbGroup } from '../verb.ts';

const EXAMPLES = ['0c0e1ab1-0000-4000-8000-000000000004'];
const MailId = z.string().describe('mail_id of the e-mail');

async function showMail(deps: CliDeps, mailId: string): Promise<OutputRow> {
  const em = deps.orm.em.fork();
  const mail = await findMail(em, mailId);
  if (!mail) throw new Refusal('NOT_FOUND', `There is no e-mail ${mailId}.`);
  const [cfe] = (await findCfesById(em, [mail.cfeUuid])).values();
  return {
    ...listedRow(MAILS, { mail, cfeId: cfe ? formatCfeId(cfe) : '' }),
    by_hand: mail.byHand,
    message_id: mail.messageId ?? null,
    workflow_id: mail.workflowId,
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
  list: listVerb(MAILS, {
    summary: 'List e-mails, newest first',
    limit: [1_000, 50],
    takes: {
      cfe: optionalInput(z.string(), 'only e-mails of this CFE, such as 101-1; needs --rut', 'cfe_id'),
      environment: EnvironmentInput.describe('of that CFE; default: production'),
    },
    examples: ['--status FAILED', '--rut 219999830019 --cfe 101-1 --json'],
    usageFault: ({ rut, cfe }) =>
      cfe !== undefined && rut === undefined
        ? '--cfe needs --rut: every enterprise counts its own CFEs.'
        : undefined,
    async search({ orm }, { cfe: cfe_id, environment, rut, status }) {
      if (cfe_id === undefined) return { rut, status };
      const { id } = await requireCfeOfRut(orm.em.fork(), { rut, cfe_id, environment });
      return { cfeUuid: id, status };
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
