import type { EntityManager } from '@mikro-orm/postgresql';
import { Logo } from '../../db/entities/enterprises.ts';
import type { Cfe } from '../../db/entities/receipts.ts';
import { UnprintableReceipt } from '../../domain/mail/mail.ts';
import { Refusal } from '../../errors.ts';
import { printedReceipt } from '../../print/printedReceipt.ts';
import type { Draw } from '../../print/receiptPdfs.ts';

export interface PrintDeps {
  /** Draws the printed form or returns a cached one; throws UNAVAILABLE under overload. */
  readonly draw: Draw;
  /** The base address of receipt pages, without a trailing slash. */
  readonly publicUrl: string;
}

/**
 * Draws the printed form of a signed CFE on A4, with the logo of its numbering. Throws UnprintableReceipt, or
 * the refusal of `draw`.
 */
export type PrintSignedCfe = (em: EntityManager, cfe: Cfe & { signedXml: string }) => Promise<Uint8Array>;

export const printSignedCfe =
  ({ draw, publicUrl }: PrintDeps): PrintSignedCfe =>
  async (em, cfe) => {
    const { id, accountId, status, digest, signedXml, document } = cfe;
    const { logoSha256 } = document.issuer;
    const logo =
      logoSha256 === undefined ? null : ((await em.findOne(Logo, { sha256: logoSha256 }))?.bytes ?? null);
    try {
      const printable = { id, accountId, status, digest, xmlBytes: Buffer.byteLength(signedXml) };
      return await draw(printable, 'A4', async () => printedReceipt(cfe, { logo, publicUrl }));
    } catch (cause) {
      // A refusal under overload is no fault of the receipt.
      if (cause instanceof Refusal) throw cause;
      throw new UnprintableReceipt('a receipt could not be printed', { cause });
    }
  };
