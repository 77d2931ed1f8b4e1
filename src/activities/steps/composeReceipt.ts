import type { EntityManager } from '@mikro-orm/postgresql';
import type { Cfe } from '../../db/entities/Cfe.ts';
import { Enterprise } from '../../db/entities/Enterprise.ts';
import { findLogo } from '../../db/logos.ts';
import { CFE_TYPES } from '../../domain/cfeTypes.ts';
import { UnprintableReceipt } from '../../domain/mail.ts';
import type { Paper } from '../../domain/paper.ts';
import { receiptUrl } from '../../domain/receiptUrl.ts';
import { Refusal } from '../../errors.ts';
import { receiptMail } from '../../mail/receiptMail.ts';
import { printedReceipt } from '../../print/printedReceipt.ts';
import type { PrintedReceipt } from '../../print/receipt.ts';
import type { ComposeMail } from '../attemptMail.ts';

/** What the e-mail with a receipt is made with. */
export interface ReceiptMailDeps {
  /** Draws the printed form; refuses while too much is to be drawn (UNAVAILABLE). */
  readonly draw: (receipt: PrintedReceipt, paper: Paper) => Promise<Uint8Array>;
  /** Where the pages of receipts are, without a slash at its end. */
  readonly publicUrl: string;
}

/** Writes the e-mail that brings a receipt: the printed form, the signed XML, and where it can be seen. */
export function composeReceipt({ draw, publicUrl }: ReceiptMailDeps): ComposeMail {
  return async (em, _mail, cfe) => {
    const { rut, type, serie, numero, document, environment, status, signedXml } = cfe;
    if (signedXml === null) throw new Error(`CFE ${cfe.id} is not signed`);
    // As the enterprise is called and reached now: whoever answers has today's address.
    const { legalName, email } = await em.findOneOrFail(Enterprise, { rut });
    const logo = await logoOf(em, cfe);
    const printed = printedReceipt({ signedXml, environment, status, document }, { logo, publicUrl });
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
          content: await draw(printed, 'A4').catch(unprintable),
        },
        { name: `${name}.xml`, type: 'application/xml', content: Buffer.from(signedXml, 'utf8') },
      ],
    };
  };
}

/** Whoever gets no turn is refused and comes again; all else is the receipt's, or the drawing's, own fault. */
function unprintable(cause: unknown): never {
  throw cause instanceof Refusal
    ? cause
    : new UnprintableReceipt('a receipt could not be printed', { cause });
}

async function logoOf(em: EntityManager, { document }: Cfe): Promise<Uint8Array | null> {
  const { logoSha256 } = document.issuer;
  return logoSha256 === undefined ? null : ((await findLogo(em, logoSha256))?.bytes ?? null);
}
