import * as z from 'zod';
import { findCfe } from '../../db/cfes.ts';
import { listMails as find } from '../../db/mails.ts';
import { CfeId } from '../../domain/cfeId.ts';
import { Rut } from '../../domain/rut.ts';
import { environmentToRead } from '../environmentRead.ts';
import { defineRoute } from '../route.ts';
import { MailView, mailView } from '../views/mail.ts';
import { cfeAsked } from './getCfe.ts';

/** So many at most; each day adds ten by hand at the most. */
const MOST = 1_000;

/** GET …/cfes/{cfe_id}/emails: the e-mails that bring a receipt to its receivers, newest first. */
export const listMails = defineRoute({
  name: 'listMails',
  method: 'GET',
  path: '/enterprises/{rut}/cfes/{cfe_id}/emails',
  summary: 'List e-mails of a receipt',
  about: 'The e-mails that bring a receipt to its receivers, newest first; at most 1,000.',
  auth: 'token',
  sandbox: false,
  role: 'VIEWER',
  params: { rut: Rut, cfe_id: CfeId },
  query: z.strictObject(environmentToRead),
  body: null,
  success: {
    status: 200,
    description: 'The e-mails, newest first',
    schema: z.array(MailView).meta({ description: 'The e-mails.' }),
  },
  errors: ['NOT_FOUND'],
  async handle(request, { orm }) {
    const { id: cfeId } = await cfeAsked(orm, findCfe, request);
    return (await find(orm.em.fork(), { cfeId }, MOST)).map(mailView);
  },
});
