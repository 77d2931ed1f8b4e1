/**
 * What can be wrong with the shape of a body, one row each: the codes that reading it may give, with what they mean.
 * Which fields there are, and of which kind, stands in the schemas; docs/rules.md is made from these rows.
 */

/** A row of the rules page: what is checked, where that is laid down, and how a fault of it reads. */
export interface RuleRow {
  readonly checks: string;
  readonly source: string;
  readonly example: string;
}

export const BODY_RULES = {
  'body.malformed': {
    checks: 'The text is JSON.',
    source: 'decisions.md §1',
    example: 'extra: is not JSON.',
  },
  'body.duplicate_key': {
    checks: 'No object names a field twice.',
    source: 'decisions.md §1',
    example: 'extra.adenda: is given twice.',
  },
  'body.missing': {
    checks: 'Required fields are there.',
    source: 'interface.md part 2',
    example: 'header.totals.pay_amount: is missing; a number is expected.',
  },
  'body.null': {
    checks: 'null is no value: a field without a value is left out.',
    source: 'decisions.md §1',
    example: 'header.receiver.city: null is no value; leave the field out or give a text.',
  },
  'body.wrong_type': {
    checks: 'Every field has the type of the interface.',
    source: 'interface.md part 2',
    example: 'header.totals.pay_amount: a number is expected, found a text.',
  },
  'body.not_one_of': {
    checks: 'A field with a closed set of values holds one of them.',
    source: 'interface.md part 2',
    example: 'header.totals.currency: one of "UYU", "USD", "EUR" is expected, found "BRL".',
  },
  'body.unknown_field': {
    checks: 'No field stands there that the interface does not know.',
    source: 'decisions.md §1',
    example: 'recevier: is not a field here; did you mean "receiver"?',
  },
  'body.more_faults': {
    checks: 'Nothing: it closes a list of faults that is too long to be given whole.',
    source: 'decisions.md §1',
    example: 'There are 1204 faults; the first 1000 are listed.',
  },
  'list.too_short': {
    checks: 'A list that needs entries has them.',
    source: 'Formato CFE v25-1 zone B',
    example: 'details: at least 1 is expected, found none.',
  },
  'list.too_long': {
    checks: 'A list has no more entries than it may.',
    source: 'decisions.md §1',
    example: 'notifications: at most 20 are expected, found 21.',
  },
  'text.empty': {
    checks: 'A text is neither empty nor only blanks.',
    source: 'decisions.md §1; Formato CFE v25-1 (non-empty texts)',
    example: 'details[0].item_name: a text is expected, found an empty one.',
  },
  'text.too_long': {
    checks: 'A text has no more characters (Unicode code points) than the CFE format holds.',
    source: 'decisions.md §1; cfe-format.md §1.3–1.7',
    example: 'details[0].item_name: at most 80 characters are expected, found 81.',
  },
  'text.control_character': {
    checks:
      'A text has no control characters, tabs and line ends included (line ends are allowed in extra.adenda).',
    source: 'decisions.md §1',
    example:
      'details[0].item_name: has the control character U+0009 as its character 5; control characters are not allowed.',
  },
  'text.invalid_character': {
    checks: 'A text has no character that XML cannot hold (U+FFFE, U+FFFF, half of a surrogate pair).',
    source: 'XML 1.0 §2.2',
    example: 'details[0].item_name: has U+FFFF as its character 5, which XML cannot hold.',
  },
  'number.too_many_decimals': {
    checks: 'A number has no more decimals than the CFE format holds; it is never rounded.',
    source: 'decisions.md §1; cfe-format.md §1.6–1.7',
    example: 'header.totals.pay_amount: at most 2 decimals are expected, found 3 in 122.005.',
  },
  'number.too_large': {
    checks: 'A number has no more digits before the point than the CFE format holds.',
    source: 'cfe-format.md §3.3',
    example:
      'header.totals.exchange_rate: at most 4 digits before the decimal point are expected, found 5 in 10000.',
  },
  'number.negative': {
    checks:
      'Prices and amounts are not below zero, in notes and in NON_BILLABLE_NEGATIVE lines too; only pay_amount may be.',
    source: 'decisions.md §7; cfe-format.md §3.5',
    example: 'details[0].unit_price: zero or more is expected, found -1.',
  },
  'number.not_whole': {
    checks: 'A count or a number of something is whole.',
    source: 'interface.md part 2',
    example: 'details[0].line_number: a whole number is expected, found 1.5.',
  },
  'number.out_of_range': {
    checks: 'A whole number lies within its bounds.',
    source: 'interface.md part 2; cfe-format.md §1.4',
    example: 'branch: a whole number from 0 to 9999 is expected, found 10000.',
  },
  'date.malformed': {
    checks: 'A date is a day of the calendar, written YYYY-MM-DD.',
    source: 'interface.md 2.6',
    example: 'header.doc_id.emission_date: a date of the form YYYY-MM-DD is expected, found "2026-02-30".',
  },
  'date.out_of_range': {
    checks: 'A date lies within the years that the CFE format holds.',
    source: 'cfe-format.md §1.3',
    example: 'extra.due_date: a date from 2000-01-01 to 2050-12-31 is expected, found 1999-12-31.',
  },
  'date_time.malformed': {
    checks: 'A moment without zone (Montevideo) is written YYYY-MM-DDTHH:MM:SS.',
    source: 'interface.md 4.6',
    example:
      'scheduled_ready_date: a date and time of the form YYYY-MM-DDTHH:MM:SS, without zone, is expected, found "2026-03-01".',
  },
  'rut.malformed': {
    checks: 'A RUT is 12 digits, without dots or hyphens.',
    source: 'decisions.md §3',
    example: 'rut: 12 digits without dots or hyphens are expected, found "21.234".',
  },
  'rut.check_digit': {
    checks: 'The last digit of a RUT is its check digit.',
    source: 'cfe-format.md §4.3',
    example: 'rut: 219999830018 ends in 8, but its check digit is 9.',
  },
  'country.unknown': {
    checks: 'A country is named by a code of the CFE format: ISO 3166 alpha-2 in capitals, or 99.',
    source: 'cfe-format.md §2.3',
    example:
      'header.receiver.country_code: an ISO 3166 alpha-2 code in capitals, or 99, is expected, found "XK".',
  },
  'cfe_id.malformed': {
    checks: 'A cfe_id is one of the nine type codes, a hyphen and a number without leading zeros.',
    source: 'decisions.md §1, §7',
    example: 'reference.cfe_id: a type code, a hyphen and a number (101-1) are expected, found "101-01".',
  },
  'extra.not_object': {
    checks: 'extra is an object, encoded as JSON text.',
    source: 'decisions.md §7',
    example: 'extra: a JSON object, encoded as text, is expected.',
  },
  'extra.too_deep': {
    checks: 'Keys of extra without meaning for the service are not nested without end.',
    source: 'decisions.md §7',
    example: 'extra.mine: is nested more than 20 levels deep.',
  },
  'base64.malformed': {
    checks: 'A file is given in base64 (RFC 4648 §4, with its padding).',
    source: 'interface.md 4.10, 4.12',
    example: 'cert_b64: a file in base64 is expected (with its padding, without line ends or blanks).',
  },
  'update.empty': {
    checks: 'An update names at least one field.',
    source: 'decisions.md §3',
    example: 'At least one of scheduled_ready_date, plan_id, frequency_id is expected.',
  },
  'credentials.incomplete': {
    checks: 'Username and password of the e-invoicing login come together, or neither does.',
    source: 'decisions.md §3',
    example: 'password: is missing; username and password come together.',
  },
  'email.malformed': {
    checks: 'An e-mail address has a name, an @ and a domain.',
    source: 'decisions.md §6',
    example: 'notifications[0].destination: an e-mail address is expected.',
  },
} as const satisfies Record<string, RuleRow>;

/** Codes of the faults of shape. */
export type BodyRule = keyof typeof BODY_RULES;
