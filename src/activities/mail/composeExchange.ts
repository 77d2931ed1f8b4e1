import { Enterprise } from '../../db/entities/enterprises.ts';
import { requireExchange } from '../../db/mail/exchange.ts';
import { exchangeFileName } from '../../domain/mail/directory.ts';
import { montevideoDate } from '../../domain/values/montevideo.ts';
import type { ComposeMail } from './attemptMail.ts';

/**
 * Writes the e-mail that brings a sobre to another company: its programs recognise it by the file name
 * (docs/authority/sobres.md#the-e-mail-with-a-sobre).
 */
export const composeExchange: ComposeMail = async (em, _mail, { id, rut }) => {
  const { idemisor, xml, settledAt } = await requireExchange(em, id);
  if (idemisor === null || xml === null || settledAt === null)
    throw new Error(`CFE ${id} has no sobre for its receiver`);
  const { legalName, email } = await em.findOneOrFail(Enterprise, { rut });
  const name = exchangeFileName({ rut, idemisor, createdOn: montevideoDate(settledAt) });
  return {
    fromName: legalName,
    replyTo: email,
    subject: name,
    text: `Sobre de intercambio de CFE de ${legalName}, RUC ${rut}.\n`,
    attachments: [{ name, type: 'application/xml', content: Buffer.from(xml, 'utf8') }],
  };
};
