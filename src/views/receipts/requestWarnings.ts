import * as z from 'zod';

/** Probable mistakes in a valid request. */
export const WarningsView = z
  .array(
    z
      .object({
        code: z.string().meta({
          description:
            'Kind of warning: `extra.unknown_key`, a key of `extra` that the service does not use; `export.defaults`, an export without sale condition, mode and transport; `totals.exchange_rate_unusual`, an exchange rate more than 10 % away from the last known one; `receiver.nife_is_ci`, a NIFE whose number is a valid cédula. Codes may be added.',
          examples: ['extra.unknown_key'],
        }),
        path: z.string().meta({ description: 'JSON Pointer of the field.', examples: ['/extra/colour'] }),
        message: z.string().meta({
          description: 'What is probably wrong; in Spanish by `Accept-Language`.',
          examples: ['extra.colour: is not a key of the service; it is stored and has no effect.'],
        }),
      })
      .meta({
        id: 'CfeWarning',
        description: 'One warning; it does not keep the receipt from being issued.',
      }),
  )
  .readonly()
  .meta({ description: 'What is probably a mistake; empty without.' });
