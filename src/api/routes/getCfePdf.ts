import * as z from 'zod';
import { findCfeWithXml } from '../../db/cfes.ts';
import { CfeId } from '../../domain/cfeId.ts';
import { namedEnum } from '../../domain/enums.ts';
import { PAPERS, type Paper } from '../../domain/paper.ts';
import { Rut } from '../../domain/rut.ts';
import { invalidInput } from '../../errors.ts';
import { environmentToRead } from '../environmentRead.ts';
import { pdfFile, type SentCfe, sentCfe } from '../receiptFiles.ts';
import { defineRoute } from '../route.ts';
import { cfeAsked } from './getCfe.ts';

const USUAL_PAPER: Paper = 'A4';
const PaperName = namedEnum('Paper', `Paper of the print. Default: ${USUAL_PAPER}.`, PAPERS, {
  A4: 'Sheets of 210 × 297 mm.',
  '80mm': 'A roll 80 mm wide.',
  '58mm': 'A roll 58 mm wide.',
});
const AskedPaper = PaperName.optional().meta({
  description: `Paper of the print. Default: ${USUAL_PAPER}.`,
});

/** GET …/cfes/{cfe_id}/pdf: the printed form (docs/contract.md#printed-form). */
export const getCfePdf = defineRoute({
  name: 'getCfePdf',
  method: 'GET',
  path: '/enterprises/{rut}/cfes/{cfe_id}/pdf',
  summary: 'Read the printed form of a CFE',
  about:
    'The printed form that the law describes: a PDF/A-3 in Spanish with the signed CFE inside. 409 until the CFE has gone to the authority.',
  auth: 'token',
  sandbox: false,
  role: 'VIEWER',
  params: { rut: Rut, cfe_id: CfeId },
  query: z.strictObject({ paper: AskedPaper, ...environmentToRead }),
  body: null,
  success: { status: 200, description: 'A PDF/A-3 with the signed CFE inside', schema: z.custom<SentCfe>() },
  errors: ['NOT_FOUND', 'NOT_SENT_YET'],
  handle: async (request, { orm }) => sentCfe(await cfeAsked(orm, findCfeWithXml, request)),
  file: {
    mediaType: 'application/pdf',
    make: ({ query }, cfe, deps) => pdfFile(deps, cfe, query.paper ?? USUAL_PAPER),
  },
});

/** The paper that a query asks for. Refuses what is none (INVALID_INPUT). */
export function paperAsked(value: unknown): Paper {
  const paper = AskedPaper.safeParse(value);
  if (paper.success) return paper.data ?? USUAL_PAPER;
  const message = `must be one of ${PAPERS.join(', ')}.`;
  throw invalidInput([{ path: '/query/paper', code: 'body.not_one_of', message }]);
}
