import * as z from 'zod';
import { CFE_TYPE_NAMES } from '../../domain/cfeTypes.ts';
import { DateText } from './formats.ts';

/** The CAE object of the API (docs/contract.md#cae). */
export const CaeView = z
  .object({
    authorization_number: z.string(),
    issuer_ruc: z.string(),
    cfe_type: z.enum(CFE_TYPE_NAMES),
    cfe_type_code: z.string().meta({ description: 'Numeric code of the CFE type' }),
    cfe_type_label: z.string(),
    series: z.string(),
    number_start: z.int(),
    number_end: z.int(),
    last_number: z.int().meta({ description: 'Last number used' }),
    issue_date: DateText,
    expiration_date: DateText,
    status: z.enum(['OK', 'EXPIRED']),
  })
  .meta({ id: 'Cae' });

/** The same in the list of CAEs, with what is left of it. */
export const ListedCaeView = CaeView.extend({
  numbers_left: z.int().min(0).meta({ description: 'Numbers that it has still to give' }),
  days_left: z.int().min(0).nullable().meta({
    description:
      'Days for which these last at the pace of the last 28 days of the type; null when none were used in them',
  }),
}).meta({ id: 'ListedCae' });
