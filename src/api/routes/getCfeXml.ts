import * as z from 'zod';
import { findCfeWithXml } from '../../db/cfes.ts';
import { CfeId } from '../../domain/cfeId.ts';
import { Rut } from '../../domain/rut.ts';
import { environmentToRead } from '../environmentRead.ts';
import { type SentCfe, sentCfe, xmlFile } from '../receiptFiles.ts';
import { defineRoute } from '../route.ts';
import { cfeAsked } from './getCfe.ts';

/** GET …/cfes/{cfe_id}/xml: the signed CFE, byte for byte. */
export const getCfeXml = defineRoute({
  name: 'getCfeXml',
  method: 'GET',
  path: '/enterprises/{rut}/cfes/{cfe_id}/xml',
  summary: 'Read the signed XML of a CFE',
  about: 'The signed CFE, byte for byte. 409 until it has gone to the authority.',
  auth: 'token',
  sandbox: false,
  role: 'VIEWER',
  params: { rut: Rut, cfe_id: CfeId },
  query: z.strictObject(environmentToRead),
  body: null,
  success: { status: 200, description: 'The signed CFE, byte for byte', schema: z.custom<SentCfe>() },
  errors: ['NOT_FOUND', 'NOT_SENT_YET'],
  handle: async (request, { orm }) => sentCfe(await cfeAsked(orm, findCfeWithXml, request)),
  file: { mediaType: 'application/xml', make: async (_, cfe) => xmlFile(cfe) },
});
