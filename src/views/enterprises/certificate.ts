import * as z from 'zod';
import { CertificateStatusName } from '../../domain/requests/enums.ts';
import { DateText } from '../formats.ts';

/** The certificate object of the API (openapi.json). */
export const CertificateView = z
  .object({
    status: CertificateStatusName,
    subject: z
      .string()
      .nullable()
      .meta({
        description: 'Name of the holder; null before the first upload.',
        examples: ['Almacén Demo SA'],
      }),
    emission_date: DateText.nullable().meta({
      description: 'First day on which it is valid, in Montevideo; null before the first upload.',
    }),
    expiration_date: DateText.nullable().meta({
      description: 'Last day on which it is valid, in Montevideo; null before the first upload.',
    }),
  })
  .meta({ id: 'Certificate', description: 'The certificate that signs the enterprise’s CFEs.' });
