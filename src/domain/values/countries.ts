import * as z from 'zod';
import { addIssue, quoted } from './issue.ts';

/** The code of a country that is not in the authority's list. */
const NO_COUNTRY_CODE = '99';

/**
 * The authority's list of countries (XSD 1.44, CodPaisType): ISO 3166-1 alpha-2, withdrawn codes (AN, BU, CS, SU, TP, YD,
 * YU, ZR), its own codes (EA, KA, UE), and 99.
 */
const CODES = new Set(
  (
    'AD AE AF AG AI AL AM AN AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BU BV ' +
    'BW BY BZ CA CC CD CF CG CH CI CK CL CM CN CO CR CS CU CV CW CX CY CZ DE DJ DK DM DO DZ EA EC EE EG EH ER ES ' +
    'ET FI FJ FK FM FO FR GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM ' +
    'IN IO IQ IR IS IT JE JM JO JP KA KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ' +
    'ME MF MG MH MK ML MM MN MO MP MQ MR MS MT MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF ' +
    'PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS RU RW SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SU SV ' +
    'SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TP TR TT TV TW TZ UA UE UG UM US UY UZ VA VC VE VG VI VN VU WF WS ' +
    `YD YE YT YU ZA ZM ZR ZW ${NO_COUNTRY_CODE}`
  ).split(' '),
);

export const CountryCode = z
  .string()
  .superRefine((value, ctx) => {
    if (CODES.has(value)) return;
    addIssue(
      ctx,
      'country.unknown',
      `must be a country code of the CFE format (ISO 3166 alpha-2 in capitals, or 99), found ${quoted(value)}.`,
    );
  })
  .meta({
    id: 'CountryCode',
    description:
      'Country code of the CFE format: ISO 3166-1 alpha-2, including some withdrawn codes, the format’s own codes EA, KA and UE, and 99 for a country without a code. Source: DGITypes.xsd 1.44 (CodPaisType).',
    enum: [...CODES],
    'x-enum-of': 'ISO 3166-1 alpha-2',
    examples: ['UY', 'BR'],
  });
