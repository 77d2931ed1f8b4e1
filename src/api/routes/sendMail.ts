import { sendMail as send } from '../../commands/sendMail.ts';
import { findCfe } from '../../db/cfes.ts';
import { CfeId } from '../../domain/cfeId.ts';
import { SendMail } from '../../domain/mail.ts';
import { Rut } from '../../domain/rut.ts';
import { BODY_LIMITS, defineRoute } from '../route.ts';
import { MailView, mailView } from '../views/mail.ts';
import { readCfe } from './getCfe.ts';

/** POST …/cfes/{cfe_id}/emails: sends a receipt to an address by e-mail. */
export const sendMail = defineRoute({
  name: 'sendMail',
  method: 'POST',
  path: '/enterprises/{rut}/cfes/{cfe_id}/emails',
  summary: 'Send receipt by e-mail',
  about:
    'Sends a receipt to an address at once, at most 10 times per CFE and day. It is a real e-mail with a real receipt: what was issued in the sandbox cannot be sent.',
  auth: 'token',
  sandbox: false,
  role: 'MEMBER',
  params: { rut: Rut, cfe_id: CfeId },
  query: null,
  body: { schema: SendMail, limitBytes: BODY_LIMITS.other },
  success: { status: 202, description: 'The e-mail is on its way', schema: MailView },
  errors: ['NOT_FOUND', 'NOT_SENT_YET', 'RATE_LIMITED'],
  async requireResource({ params }, { orm }) {
    await readCfe(orm, findCfe, params, params.cfe_id);
  },
  async handle({ params, body, caller, enterprise }, deps) {
    const { accountId } = caller;
    const { id: cfeUuid } = await readCfe(deps.orm, findCfe, enterprise, params.cfe_id);
    return mailView(await send(deps, { accountId, cfeUuid, destination: body.destination }));
  },
});
