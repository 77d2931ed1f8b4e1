/** The thread in which receipts are drawn, one after the other; its fonts are parsed once. */
import { parentPort } from 'node:worker_threads';
import type { Paper } from '../domain/paper.ts';
import { formOf, titleOf } from './blocks.ts';
import { drawPdf } from './pen.ts';
import { readCfe } from './readCfe.ts';
import type { PrintedReceipt } from './receipt.ts';
import { drawSheets } from './sheets.ts';

/** The PDF of a receipt; without its logo where only the drawing finds that it is none. */
async function print(receipt: PrintedReceipt, paper: Paper): Promise<Uint8Array> {
  try {
    return await draw(receipt, paper);
  } catch (error) {
    if (!receipt.logo) throw error;
    return draw({ ...receipt, logo: undefined }, paper);
  }
}

async function draw(receipt: PrintedReceipt, paper: Paper): Promise<Uint8Array> {
  const form = formOf(receipt, readCfe(receipt.xml));
  const { identification, issuer, typeCode, signedAt } = form.cfe;
  const paperwork = {
    title: titleOf(form),
    createdAt: new Date(signedAt),
    attachment: {
      name: `${issuer['RUCEmisor']}-${typeCode}-${identification['Serie']}-${Number(identification['Nro'])}.xml`,
      description: 'CFE firmado',
      bytes: Buffer.from(receipt.xml),
    },
  };
  return drawPdf(paperwork, (pen) => drawSheets(pen, form, paper));
}

parentPort?.on('message', (task: { receipt: PrintedReceipt; paper: Paper }) => {
  void print(task.receipt, task.paper).then((pdf) =>
    parentPort?.postMessage(pdf, [pdf.buffer as ArrayBuffer]),
  );
});
