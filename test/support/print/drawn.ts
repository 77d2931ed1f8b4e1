import { randomUUID } from 'node:crypto';
import type { PaperSize } from '../../../src/domain/receipts/qr.ts';
import { drawReceipt as draw } from '../../../src/print/drawReceipt.ts';
import type { PrintedReceipt } from '../../../src/print/receipt.ts';

/** The print of a receipt, of an account of its own unless told. */
export async function drawReceipt(
  receipt: PrintedReceipt,
  paper: PaperSize,
  accountId: string = randomUUID(),
): Promise<Buffer> {
  const cfe = {
    id: randomUUID(),
    accountId,
    status: 'ACCEPTED',
    digest: null,
    xmlBytes: Buffer.byteLength(receipt.xml),
  } as const;
  return Buffer.from(await draw(cfe, paper, async () => receipt));
}
