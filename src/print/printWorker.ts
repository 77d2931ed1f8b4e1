/** The thread that draws receipts, one at a time; its fonts are parsed once. */
import { parentPort } from 'node:worker_threads';
import type { PaperSize } from '../domain/receipts/qr.ts';
import { formOf, titleOf } from './blocks.ts';
import type { PrintResult, PrintTask } from './drawReceipt.ts';
import { drawPdf } from './pen.ts';
import { parseSignedCfe } from './readCfe.ts';
import type { PrintedReceipt } from './receipt.ts';
import { drawSheets } from './sheets.ts';

/** Returns the PDF of a receipt; without its logo if drawing finds the logo invalid. */
async function print(receipt: PrintedReceipt, paper: PaperSize): Promise<Uint8Array> {
  try {
    return await draw(receipt, paper);
  } catch (error) {
    if (!receipt.logo) throw error;
    return draw({ ...receipt, logo: undefined }, paper);
  }
}

async function draw(receipt: PrintedReceipt, paper: PaperSize): Promise<Uint8Array> {
  const form = formOf(receipt, parseSignedCfe(receipt.xml));
  const { identification, issuer, typeCode, signedAt } = form.cfe;
  const metadata = {
    title: titleOf(form),
    createdAt: new Date(signedAt),
    attachment: {
      name: `${issuer['RUCEmisor']}-${typeCode}-${identification['Serie']}-${Number(identification['Nro'])}.xml`,
      description: 'CFE firmado',
      bytes: Buffer.from(receipt.xml),
    },
  };
  return drawPdf(metadata, (pen) => drawSheets(pen, form, paper));
}

async function answer({ receipt, paper }: PrintTask): Promise<void> {
  const before = process.threadCpuUsage();
  const pdf = await print(receipt, paper);
  const { user, system } = process.threadCpuUsage(before);
  const result: PrintResult = { pdf, milliseconds: (user + system) / 1_000 };
  parentPort?.postMessage(result, [pdf.buffer as ArrayBuffer]);
}

parentPort?.on('message', (task: PrintTask) => void answer(task));
