import * as z from 'zod';
import { sendMail as send } from '../../../commands/mail/mails.ts';
import type { Mail } from '../../../db/entities/mail.ts';
import { listMailPage } from '../../../db/mail/mails.ts';
import { findCfe } from '../../../db/receipts/cfes.ts';
import { SendMail } from '../../../domain/mail/mail.ts';
import { CfeId } from '../../../domain/receipts/cfeId.ts';
import { MailErrorName, MailKindName, MailStatusName } from '../../../domain/requests/enums.ts';
import { CUSTOMER_WORDS, describeField } from '../../../domain/requests/fieldWords.ts';
import { Rut } from '../../../domain/values/rut.ts';
import { countField, MomentText } from '../../../views/formats.ts';
import { environmentQuery } from '../../environmentRead.ts';
import { BODY_LIMITS, defineRoute } from '../../route.ts';
import { requireCfeOfId, requireRequestedCfe } from '../receipts/getCfe.ts';

/** The e-mail object of the API (docs/contract.md#e-mail). */
const MailView = z
  .object({
    mail_id: z
      .uuid()
      .meta({ description: 'Id of the e-mail.', examples: ['0c0e1ab1-0000-4000-8000-000000000004'] }),
    kind: MailKindName,
    destination: z.string().meta(describeField(CUSTOMER_WORDS.destination)),
    status: MailStatusName,
    error: MailErrorName.nullable().meta({
      description: 'Why its last attempt failed; null after a success and before the first attempt.',
    }),
    attempts: countField('How many attempts were made so far.', 1),
    created_at: MomentText.meta({ description: 'When it was requested, UTC.' }),
  })
  .meta({ id: 'Email', description: 'An e-mail with a receipt.' });

/** Returns the e-mail object. */
function mailView(mail: Mail): z.input<typeof MailView> {
  return {
    mail_id: mail.id,
    kind: mail.kind,
    destination: mail.destination,
    status: mail.status,
    error: mail.error,
    attempts: mail.attempts,
    created_at: mail.createdAt.toISOString(),
  };
}

/** POST …/cfes/{cfe_id}/emails: sends a receipt to an address by e-mail. */
export const sendMailRoute = defineRoute({
  name: 'sendMail',
  method: 'POST',
  path: '/enterprises/{rut}/cfes/{cfe_id}/emails',
  summary: 'Send receipt by e-mail',
  about:
    'Sends a receipt to an address at once, at most 10 times per CFE and day; the daily limits of the account and of a mailbox also answer 429. An address that permanently refused an e-mail of the account is refused (`mail.bounced`). It is a real e-mail with a real receipt: sandbox receipts cannot be sent.',
  auth: 'token',
  role: 'MEMBER',
  params: { rut: Rut, cfe_id: CfeId },
  body: { schema: SendMail, limitBytes: BODY_LIMITS.other },
  success: { status: 202, description: 'The e-mail is on its way', schema: MailView },
  errors: ['NOT_FOUND', 'NOT_SENT_YET', 'RATE_LIMITED'],
  async requireResource({ params }, { orm }) {
    await requireCfeOfId(orm, findCfe, params, params.cfe_id);
  },
  async handle({ params, body, caller, enterprise }, deps) {
    const { accountId } = caller;
    const { id: cfeUuid } = await requireCfeOfId(deps.orm, findCfe, enterprise, params.cfe_id);
    return mailView(await send(deps, { accountId, cfeUuid, destination: body.destination }));
  },
});

/** Most e-mails listed; manual sending adds at most ten a day. */
const MOST = 1_000;

/** GET …/cfes/{cfe_id}/emails: lists the e-mails with a receipt, newest first. */
export const listMailsRoute = defineRoute({
  name: 'listMails',
  method: 'GET',
  path: '/enterprises/{rut}/cfes/{cfe_id}/emails',
  summary: 'List e-mails of a receipt',
  about: 'The e-mails with a receipt to its receivers, newest first; at most 1,000.',
  auth: 'token',
  role: 'VIEWER',
  params: { rut: Rut, cfe_id: CfeId },
  query: z.strictObject(environmentQuery),
  success: {
    status: 200,
    description: 'The e-mails, newest first',
    schema: z.array(MailView).meta({ description: 'The e-mails.' }),
  },
  errors: ['NOT_FOUND'],
  async handle(request, { orm }) {
    const { id: cfeUuid } = await requireRequestedCfe(orm, findCfe, request);
    const mails = await listMailPage(orm.em.fork(), { cfeUuid }, { after: null, limit: MOST });
    return mails.map(({ mail }) => mailView(mail));
  },
});
