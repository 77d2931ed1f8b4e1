import { Enterprise } from '../../db/entities/enterprises.ts';
import { CFE_TYPES } from '../../domain/receipts/cfeTypes.ts';
import { receiptUrl } from '../../domain/receipts/qr.ts';
import { receiptMail } from '../../mail/receiptMail.ts';
import type { ComposeMail } from './attemptMail.ts';
import { type PrintDeps, printSignedCfe } from './printSignedCfe.ts';

/**
 * Writes the e-mail with a receipt: the printed form, the signed XML and the link to its page. Throws as
 * printing does.
 */
export function composeReceipt({ draw, publicUrl }: PrintDeps): ComposeMail {
  const print = printSignedCfe({ draw, publicUrl });
  return async (em, _mail, cfe) => {
    const { rut, type, serie, numero, document, environment, signedXml } = cfe;
    if (signedXml === null) throw new Error(`CFE ${cfe.id} is not signed`);
    // Name and address of today: a reply must reach the enterprise.
    const { legalName, email } = await em.findOneOrFail(Enterprise, { rut });
    const url = receiptUrl(publicUrl, cfe.receiptToken);
    const name = `${rut}-${CFE_TYPES[type].code}-${serie}-${numero}`;
    return {
      fromName: legalName,
      replyTo: email,
      ...receiptMail({ document, environment, url, replyTo: email }),
      attachments: [
        {
          name: `${name}.pdf`,
          type: 'application/pdf',
          content: await print(em, Object.assign(cfe, { signedXml })),
        },
        { name: `${name}.xml`, type: 'application/xml', content: Buffer.from(signedXml, 'utf8') },
      ],
    };
  };
}
