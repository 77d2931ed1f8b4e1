import * as z from 'zod';
import { findReceipt } from '../../../db/receipts/cfes.ts';
import { CfeId } from '../../../domain/receipts/cfeId.ts';
import { PAPER_SIZES, type PaperSize } from '../../../domain/receipts/qr.ts';
import { namedEnum } from '../../../domain/requests/enums.ts';
import { Rut } from '../../../domain/values/rut.ts';
import { invalidInput } from '../../../errors.ts';
import { environmentQuery } from '../../environmentRead.ts';
import {
  loadPdfFile,
  loadXmlFile,
  requireSentReceipt,
  type SentReceipt,
} from '../../receipts/receiptFiles.ts';
import { defineRoute, type FileAnswer } from '../../route.ts';
import { requireRequestedCfe } from './getCfe.ts';

const USUAL_PAPER: PaperSize = 'A4';
const PaperName = namedEnum('Paper', `Paper of the print. Default: ${USUAL_PAPER}.`, PAPER_SIZES, {
  A4: 'Sheets of 210 × 297 mm.',
  '80mm': 'A roll 80 mm wide.',
  '58mm': 'A roll 58 mm wide.',
});
const PaperQuery = PaperName.optional().meta({
  description: `Paper of the print. Default: ${USUAL_PAPER}.`,
});

/** GET …/cfes/{cfe_id}/pdf: the printed form (docs/contract.md#printed-form). */
export const getCfePdfRoute = defineRoute({
  name: 'getCfePdf',
  method: 'GET',
  path: '/enterprises/{rut}/cfes/{cfe_id}/pdf',
  summary: 'Read the printed form of a CFE',
  about:
    'The printed form required by law: a PDF/A-3 in Spanish with the signed CFE inside. 409 until the CFE has been sent to the authority.',
  auth: 'token',
  role: 'VIEWER',
  params: { rut: Rut, cfe_id: CfeId },
  query: z.strictObject({ paper: PaperQuery, ...environmentQuery }),
  success: {
    status: 200,
    description: 'A PDF/A-3 with the signed CFE inside',
    schema: z.custom<SentReceipt>(),
  },
  errors: ['NOT_FOUND', 'NOT_SENT_YET'],
  handle: async (request, { orm }) =>
    requireSentReceipt(await requireRequestedCfe(orm, findReceipt, request)),
  file: {
    mediaType: 'application/pdf',
    make: ({ query }, receipt, deps) => loadPdfFile(deps, receipt, query.paper ?? USUAL_PAPER),
  },
});

/** Parses `paper`. Throws INVALID_INPUT for an unknown value. */
export function parsePaper(value: unknown): PaperSize {
  const paper = PaperQuery.safeParse(value);
  if (paper.success) return paper.data ?? USUAL_PAPER;
  const message = `must be one of ${PAPER_SIZES.join(', ')}.`;
  throw invalidInput([{ path: '/query/paper', code: 'body.not_one_of', message }]);
}

/** GET …/cfes/{cfe_id}/xml: the signed CFE, byte for byte. */
export const getCfeXmlRoute = defineRoute({
  name: 'getCfeXml',
  method: 'GET',
  path: '/enterprises/{rut}/cfes/{cfe_id}/xml',
  summary: 'Read the signed XML of a CFE',
  about: 'The signed CFE, byte for byte. 409 until it has been sent to the authority.',
  auth: 'token',
  role: 'VIEWER',
  params: { rut: Rut, cfe_id: CfeId },
  query: z.strictObject(environmentQuery),
  success: { status: 200, description: 'The signed CFE, byte for byte', schema: z.custom<FileAnswer>() },
  errors: ['NOT_FOUND', 'NOT_SENT_YET'],
  handle: async (request, deps) =>
    loadXmlFile(deps, requireSentReceipt(await requireRequestedCfe(deps.orm, findReceipt, request))),
  file: { mediaType: 'application/xml', make: async (_, file) => file },
});
