import * as z from 'zod';
import { DateText } from './formats.ts';

/** The certificate object of interface.md 2.2. */
export const CertificateView = z
  .object({
    status: z.enum(['NONE', 'VALID', 'EXPIRED']),
    subject: z.string().nullable().meta({ description: 'Holder name of the certificate' }),
    emission_date: DateText.nullable(),
    expiration_date: DateText.nullable(),
  })
  .meta({ id: 'Certificate' });
