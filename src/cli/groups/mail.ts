import * as z from 'zod';
import { resendMail } from '../../commands/resendMail.ts';
import { cfesById, findCfe } from '../../db/cfes.ts';
import type { Mail } from '../../db/entities/Mail.ts';
import { findMail, listMailAttempts, listMails } from '../../db/mails.ts';
import { formatCfeId, parseCfeId } from '../../domain/cfeId.ts';
import { ENVIRONMENTS } from '../../domain/cfeTypes.ts';
import { MAIL_STATUSES } from '../../domain/mail.ts';
import { Rut } from '../../domain/rut.ts';
import { Refusal } from '../../errors.ts';
import { type CliDeps, defineVerb, type Group, type Row } from '../verb.ts';

const ARGS = { MAIL: 'mail_id of the e-mail' };
const EXAMPLES = ['0c0e1ab1-0000-4000-8000-000000000004'];
const MOST = 1_000;
const USUAL = 50;

/** E-mails as they are shown, in the order given. */
async function mailRows({ orm }: CliDeps, mails: readonly Mail[]): Promise<Row[]> {
  const cfes = await cfesById(
    orm.em.fork(),
    mails.map(({ cfeId }) => cfeId),
  );
  return mails.map((mail) => {
    const cfe = cfes.get(mail.cfeId);
    return {
      mail_id: mail.id,
      rut: mail.rut,
      environment: mail.environment,
      cfe_id: cfe ? formatCfeId(cfe) : null,
      kind: mail.kind,
      destination: mail.destination,
      status: mail.status,
      attempts: mail.attempts,
      created_at: mail.createdAt.toISOString(),
    };
  });
}

async function oneOf(deps: CliDeps, mailId: string): Promise<Row> {
  const em = deps.orm.em.fork();
  const mail = await findMail(em, mailId);
  if (!mail) throw new Refusal('NOT_FOUND', `There is no e-mail ${mailId}.`);
  const [shown] = await mailRows(deps, [mail]);
  return {
    ...shown,
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

const list = defineVerb({
  name: 'list',
  summary: 'List e-mails, newest first',
  reads: true,
  options: [
    { flags: '--rut <rut>', about: 'only e-mails of this enterprise' },
    { flags: '--cfe <cfe_id>', about: 'only e-mails of this CFE, such as 101-1; needs --rut' },
    {
      flags: '--environment <environment>',
      about: 'of that CFE; default: production',
      choices: ENVIRONMENTS,
    },
    { flags: '--status <status>', about: 'only e-mails with this status', choices: MAIL_STATUSES },
    { flags: '--limit <n>', about: `at most this many; default: ${USUAL}`, wholeNumber: [1, MOST] },
  ],
  examples: ['--status FAILED', '--rut 219999830019 --cfe 101-1 --json'],
  input: z.strictObject({
    rut: Rut.optional(),
    cfe: z.string().optional(),
    environment: z.enum(ENVIRONMENTS).optional(),
    status: z.enum(MAIL_STATUSES).optional(),
    limit: z.int().optional(),
  }),
  usageFault: ({ rut, cfe }) =>
    cfe !== undefined && rut === undefined
      ? '--cfe needs --rut: every enterprise counts its own CFEs.'
      : undefined,
  async run(deps, { rut, cfe, environment = 'production', status, limit = USUAL }) {
    const em = deps.orm.em.fork();
    if (rut === undefined || cfe === undefined) {
      return mailRows(deps, await listMails(em, { rut, status }, limit));
    }
    const parts = parseCfeId(cfe);
    const found = parts ? await findCfe(em, { rut, environment, ...parts }) : null;
    if (!found) throw new Refusal('NOT_FOUND', `The enterprise ${rut} has no CFE ${cfe} in ${environment}.`);
    return mailRows(deps, await listMails(em, { cfeId: found.id, status }, limit));
  },
});

const show = defineVerb({
  name: 'show',
  summary: 'Show one e-mail, with every attempt and what the mail server answered',
  reads: true,
  args: ARGS,
  examples: EXAMPLES,
  input: z.strictObject({ mail: z.string() }),
  run: (deps, { mail }) => oneOf(deps, mail),
});

const resend = defineVerb({
  name: 'resend',
  summary: 'Send it again at once: same Message-ID, a new schedule of retries',
  args: ARGS,
  examples: EXAMPLES,
  input: z.strictObject({ mail: z.string() }),
  async run(deps, { mail: mailId }) {
    await resendMail(deps, { mailId });
    return oneOf(deps, mailId);
  },
});

/** `cfe mail`: receipts on their way to their receivers. */
export const mail: Group = {
  name: 'mail',
  summary: 'E-mails that bring receipts to their receivers, and their attempts',
  verbs: [list, show, resend],
};
