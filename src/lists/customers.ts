/** The list of an enterprise's customers. */
import { CountryCode } from '../domain/values/countries.ts';
import { LENGTHS } from '../domain/values/lengths.ts';
import { textSchema } from '../domain/values/text.ts';
import type { ListFilters } from './list.ts';

export const CUSTOMER_FILTERS = {
  legalName: {
    schema: textSchema(LENGTHS.legalName).meta({ examples: ['almacen'] }),
    only: 'customers with this part in their legal name; accents and case are ignored',
    placeholder: 'part',
  },
  docNumber: {
    schema: textSchema(LENGTHS.foreignDocument).meta({ examples: ['219999830019'] }),
    only: 'the customer with this document; the complete number',
  },
  countryCode: { schema: CountryCode, only: 'customers of this country' },
} as const satisfies ListFilters;
