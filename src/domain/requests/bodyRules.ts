/** The rules on the shape of a body, by code. The schemas define the fields; docs/rules.md is generated from these rows. */

/** A row of docs/rules.md: the check, its source and an example message. */
export interface RuleRow {
  readonly checks: string;
  readonly source: string;
  readonly example: string;
}

export const BODY_RULES = {
  'body.malformed': {
    checks: 'Body and `extra` are JSON.',
    source: 'docs/contract.md#bodies',
    example: 'extra: must be JSON (line 1, column 2).',
  },
  'body.too_many_values': {
    checks: 'Body and `extra` have at most 20,000 values.',
    source: 'docs/contract.md#bodies',
    example: 'extra: must not have more than 20000 values.',
  },
  'body.duplicate_key': {
    checks: 'No object has the same field twice.',
    source: 'docs/contract.md#bodies',
    example: 'extra.adenda: must not be given twice.',
  },
  'body.missing': {
    checks: 'Required fields are present.',
    source: 'openapi.json',
    example: 'header.totals.pay_amount: is required and must be a number.',
  },
  'body.null': {
    checks: 'A field is null only where openapi.json says so; else omit it.',
    source: 'docs/contract.md#bodies',
    example: 'header.receiver.city: must not be null; omit the field or give a string.',
  },
  'body.wrong_type': {
    checks: 'Every field has its JSON type.',
    source: 'openapi.json',
    example: 'header.totals.pay_amount: must be a number, found a string.',
  },
  'body.not_one_of': {
    checks: 'A field has one of its closed set of values.',
    source: 'openapi.json',
    example: 'header.totals.currency: must be one of "UYU", "USD", "EUR", found "BRL".',
  },
  'body.one_of': {
    checks:
      'A discount, surcharge or adjustment has percent or amount; a credit note takes lines, percent or amount, of a line count or amount.',
    source: 'docs/contract.md#lines',
    example: 'details[0].discounts[0]: must have either percent or amount, found both.',
  },
  'payment.code': {
    checks: 'The code of a payment has 1 to 3 digits, as text.',
    source: 'Formato CFE v25.2, zone E, field 2',
    example: 'header.payments[0].code: must be 1 to 3 digits as text, found "EFVO".',
  },
  'body.unknown_field': {
    checks: 'There are no unknown fields.',
    source: 'docs/contract.md#bodies',
    example: 'recevier: unknown field; did you mean "receiver"?',
  },
  'body.read_only': {
    checks: 'A read-only field in an update has its current value.',
    source: 'docs/contract.md#writing-back',
    example: 'status: must be "READY", as it was read; it is not changed here.',
  },
  'body.more_faults': {
    checks: 'Nothing: the list is too long to return in full.',
    source: 'docs/contract.md#answers',
    example: 'There are more than 1000 faults; the first 1000 are listed.',
  },
  'list.too_short': {
    checks: 'An array that needs items has them.',
    source: 'docs/authority/receipts.md#structure',
    example: 'details: must have at least 1 item, found none.',
  },
  'list.too_long': {
    checks: 'An array has no more items than allowed.',
    source: 'docs/contract.md#customers; docs/decisions/numbering.md#where-the-format-is-silent',
    example: 'notifications: must have at most 20 items, found 21.',
  },
  'text.empty': {
    checks: 'A string is neither empty nor blank.',
    source: 'docs/contract.md#bodies; docs/authority/receipts.md#values',
    example: 'details[0].item_name: must not be empty or blank.',
  },
  'text.too_long': {
    checks: 'A string has at most the characters (Unicode code points) of the CFE format.',
    source: 'docs/contract.md#bodies; docs/authority/receipts.md',
    example: 'details[0].item_name: must have at most 80 characters, found 81.',
  },
  'text.control_character': {
    checks: 'A string has no control characters, tabs or line breaks (extra.adenda may have line breaks).',
    source: 'docs/contract.md#bodies',
    example: 'details[0].item_name: must not contain control characters, found U+0009 as character 5.',
  },
  'text.invalid_character': {
    checks: 'XML can hold every character (not U+FFFE, U+FFFF, half a surrogate pair).',
    source: 'XML 1.0 §2.2',
    example:
      'details[0].item_name: must not contain characters that XML cannot hold, found U+FFFF as character 5.',
  },
  'number.too_many_decimals': {
    checks: 'A number has at most the decimals of the CFE format; it is never rounded.',
    source: 'docs/contract.md#bodies; docs/authority/receipts.md#values',
    example: 'header.totals.pay_amount: must have at most 2 decimals, found 3 in 122.005.',
  },
  'number.too_large': {
    checks: 'A number has at most the digits before the point of the CFE format.',
    source: 'docs/authority/receipts.md#values',
    example:
      'header.totals.exchange_rate: must have at most 4 digits before the decimal point, found 5 in 10000.',
  },
  'number.negative': {
    checks: 'Only pay_amount may be negative, in notes and NON_BILLABLE_NEGATIVE lines too.',
    source: 'docs/contract.md#amounts; docs/authority/amounts.md#signs',
    example: 'details[0].unit_price: must not be negative, found -1.',
  },
  'number.not_whole': {
    checks: 'A count or an ordinal is an integer.',
    source: 'openapi.json',
    example: 'details[0].line_number: must be an integer, found 1.5.',
  },
  'number.out_of_range': {
    checks: 'An integer is within its bounds.',
    source: 'openapi.json; Formato CFE v25.2, zone A, field 47',
    example: 'branch: must be an integer from 0 to 9999, found 10000.',
  },
  'date.malformed': {
    checks: 'A date is a calendar day, written YYYY-MM-DD.',
    source: 'openapi.json',
    example: 'header.doc_id.emission_date: must be a date of the form YYYY-MM-DD, found "2026-02-30".',
  },
  'date.out_of_range': {
    checks: 'A date is within the years that the CFE format allows.',
    source: 'docs/authority/receipts.md#values; Formato CFE v25.2, zone A, field 12',
    example: 'extra.due_date: must be a date from 2000-01-01 to 2050-12-31, found 1999-12-31.',
  },
  'serie.malformed': {
    checks: 'A serie is one or two capitals, or a digit and a capital.',
    source: 'docs/authority/receipts.md#identification',
    example: 'query.serie: must be one or two capital letters, or a digit and a capital letter, found "a1".',
  },
  'moment.malformed': {
    checks: 'A moment is a day in Montevideo (YYYY-MM-DD), or a date and time with its zone.',
    source: 'docs/contract.md#lists',
    example:
      'query.created_from: must be a date (YYYY-MM-DD) or a date and time with its zone (2026-03-01T09:00:00-03:00), found "yesterday".',
  },
  'cursor.malformed': {
    checks: 'The cursor is from the Link header of a page of this list.',
    source: 'docs/contract.md#lists',
    example: 'query.after: must be taken from the header Link of a page of this list.',
  },
  'date_time.malformed': {
    checks: 'A date and time is YYYY-MM-DDTHH:MM:SS, in Montevideo or with its zone.',
    source: 'docs/contract.md#enterprise',
    example:
      'scheduled_ready_date: must be a date and time of the form YYYY-MM-DDTHH:MM:SS in Montevideo, or with its time zone (2026-03-01T12:00:00Z), found "2026-03-01".',
  },
  'rut.malformed': {
    checks: 'A RUT is 12 digits alone.',
    source: 'docs/contract.md#enterprise',
    example: 'rut: must be 12 digits without dots or hyphens, found "21.234".',
  },
  'rut.check_digit': {
    checks: 'The last digit of a RUT is its check digit.',
    source: 'docs/authority/codes.md#check-digits',
    example: 'rut: 219999830018 ends in 8, but its check digit is 9.',
  },
  'document.ci': {
    checks: 'A CI has 7 or 8 digits alone; the last is its check digit.',
    source: 'docs/authority/codes.md#check-digits',
    example: 'doc_number: 12345673 ends in 3, but its check digit is 2.',
  },
  'document.nie': {
    checks: 'A NIE has at most 12 digits alone.',
    source: 'Formato CFE v25.2, zone A, field 62',
    example: 'doc_number: must be at most 12 digits without dots or hyphens, found "93.402.010-1".',
  },
  'country.unknown': {
    checks: 'A country is ISO 3166 alpha-2 in capitals, or 99.',
    source: 'Formato CFE v25.2, zone A, field 61; docs/authority/codes.md#countries',
    example:
      'header.receiver.country_code: must be a country code of the CFE format (ISO 3166 alpha-2 in capitals, or 99), found "XK".',
  },
  'cfe_id.malformed': {
    checks: 'A cfe_id is a type code, a hyphen and a number without leading zeros.',
    source: 'docs/contract.md#cfe_id',
    example: 'reference.cfe_id: must be a type code, a hyphen and a number, such as 101-1, found "101-01".',
  },
  'references.type_code': {
    checks: 'The type of another system’s CFE is one of the authority’s codes, as text.',
    source: 'Formato CFE v25.2, zone F, field 3',
    example:
      'references[0].cfe_type_code: must be a code of the authority for a type of CFE, such as "111", found "999".',
  },
  'extra.not_object': {
    checks: 'extra is a JSON object encoded as a string.',
    source: 'docs/contract.md#extra',
    example: 'extra: must be a JSON object encoded as a string.',
  },
  'extra.too_deep': {
    checks: 'Unknown keys of extra are not nested too deep.',
    source: 'docs/contract.md#extra',
    example: 'extra.mine: must not be nested more than 20 levels deep.',
  },
  'extra.too_large': {
    checks: 'Unknown keys of extra have at most 16 KiB together.',
    source: 'docs/contract.md#extra',
    example: 'extra: unknown keys must take at most 16384 bytes of JSON together, found 20011.',
  },
  'base64.malformed': {
    checks: 'A file is base64 (RFC 4648 §4), padded or not, in lines of a multiple of four characters.',
    source: 'openapi.json, uploadCertificate and uploadCae',
    example: 'cert_b64: must be a file in base64 (RFC 4648, with + and /), without spaces.',
  },
  'update.empty': {
    checks: 'An update has at least one field.',
    source: 'docs/contract.md#enterprise',
    example: 'At least one field must be given.',
  },
  'credentials.incomplete': {
    checks: 'Username and password are both present, or both absent.',
    source: 'docs/contract.md#credentials',
    example: 'password: is required; username and password must be given together.',
  },
  'website.malformed': {
    checks: 'A website is a host, perhaps with http(s):// and a path.',
    source: 'docs/contract.md#enterprise',
    example: 'website: must be a web address, such as www.example.com.uy.',
  },
  'resolution.malformed': {
    checks: 'A resolution is written as its number and year.',
    source: 'docs/contract.md#enterprise',
    example: 'resolution: must be the number and year of the resolution, such as 798/2012.',
  },
  'logo.unusable': {
    checks: 'A logo is a complete PNG or JPEG of at most 64 KiB and 1,000 pixels a side.',
    source: 'docs/contract.md#enterprise',
    example: 'logo_b64: must be at most 1000 pixels wide and high, found 3000 × 2000.',
  },
  'email.malformed': {
    checks: 'An e-mail address has a name, an @ and a domain.',
    source: 'docs/contract.md#customers',
    example: 'notifications[0].destination: must be an e-mail address.',
  },
} as const satisfies Record<string, RuleRow>;

export type BodyRule = keyof typeof BODY_RULES;
