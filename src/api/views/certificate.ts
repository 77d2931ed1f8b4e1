import * as z from 'zod';
import { DateText } from './formats.ts';

/** The certificate object of the API (openapi.json). */
export const CertificateView = z
  .object({
    status: z.enum(['NONE', 'VALID', 'EXPIRED']),
    subject: z.string().nullable().meta({ description: 'Name of the certificate holder' }),
    emission_date: DateText.nullable(),
    expiration_date: DateText.nullable(),
  })
  .meta({ id: 'Certificate' });
