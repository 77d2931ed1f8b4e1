import type { EntityManager } from '@mikro-orm/postgresql';
import type { Cfe } from '../../db/entities/Cfe.ts';
import { findLogo } from '../../db/logos.ts';
import { UnprintableReceipt } from '../../domain/mail.ts';
import type { Paper } from '../../domain/paper.ts';
import { Refusal } from '../../errors.ts';
import { printedReceipt } from '../../print/printedReceipt.ts';
import type { PrintedReceipt } from '../../print/receipt.ts';

export interface PrintDeps {
  /** Draws the printed form; refuses while too much is to be drawn (UNAVAILABLE). */
  readonly draw: (receipt: PrintedReceipt, paper: Paper) => Promise<Uint8Array>;
  /** Where the pages of receipts are, without a slash at its end. */
  readonly publicUrl: string;
}

/** Draws the printed form of a signed CFE, on A4, with the logo that it was numbered with. Throws UnprintableReceipt, or draw's refusal. */
export type PrintSignedCfe = (em: EntityManager, cfe: Cfe & { signedXml: string }) => Promise<Uint8Array>;

export const printSignedCfe =
  ({ draw, publicUrl }: PrintDeps): PrintSignedCfe =>
  async (em, { signedXml, environment, status, document }) => {
    const { logoSha256 } = document.issuer;
    const logo = logoSha256 === undefined ? null : ((await findLogo(em, logoSha256))?.bytes ?? null);
    try {
      const receipt = printedReceipt({ signedXml, environment, status, document }, { logo, publicUrl });
      return await draw(receipt, 'A4');
    } catch (cause) {
      // A refusal for want of room is no fault of the receipt.
      if (cause instanceof Refusal) throw cause;
      throw new UnprintableReceipt('a receipt could not be printed', { cause });
    }
  };
