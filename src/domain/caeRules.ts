import type { Fault } from '../errors.ts';
import type { RuleRow } from './bodyRules.ts';

/** The rules for an uploaded CAE and for taking a number from one, with their places in the body. */
export const CAE_RULES = {
  'cae.malformed': {
    path: '/cae_b64',
    checks: 'The file is the XML of a CAE with all its fields.',
    source: 'cfe-format.md §5',
    example: 'The file is not the XML of a CAE.',
  },
  'cae.signature': {
    path: '/cae_b64',
    checks: 'The signature of the file verifies.',
    source: 'decisions.md §5',
    example: 'The signature of the CAE does not verify; the file was changed.',
  },
  'cae.untrusted_signer': {
    path: '/cae_b64',
    checks: 'The signer is one of the configured certificates of the authority.',
    source: 'decisions.md §5',
    example: 'The CAE is not signed by the tax authority.',
  },
  'cae.other_rut': {
    path: '/cae_b64',
    checks: 'The CAE is for the enterprise (RucE).',
    source: 'decisions.md §5',
    example: 'The CAE must be for RUT 219999830019, found "214844360018".',
  },
  'cae.type': {
    path: '/cae_b64',
    checks: 'The CAE is for one of the nine types (TCFE).',
    source: 'decisions.md §5; cfe-format.md §2.1',
    example: 'The CAE must be for one of the types 101, 102, 103, 111, 112, 113, 121, 122, 123, found 181.',
  },
  'cae.series': {
    path: '/cae_b64',
    checks: 'The series is one or two capitals, or a digit and a capital.',
    source: 'cfe-format.md §1.3 C3',
    example: 'The series must be one or two capitals, or a digit and a capital, found "A1".',
  },
  'cae.authorization_number': {
    path: '/cae_b64',
    checks: 'The authorization number (NA) has up to 11 digits.',
    source: 'cfe-format.md §5',
    example: 'The authorization number must have up to 11 digits, found "9012X".',
  },
  'cae.not_electronic': {
    path: '/cae_b64',
    checks: 'The CAE is for electronic receipts (TA = E), where it says so.',
    source: 'cfe-format.md §5, §10.1 E13',
    example: 'The CAE must be for electronic receipts (E), found "C".',
  },
  'cae.special': {
    path: '/cae_b64',
    checks:
      'A special CAE is of kind 1 (exempt taxpayer); the lines of the interface cannot serve kinds 2 to 4.',
    source: 'decisions.md §5; cfe-format.md §11 trap 25',
    example: 'CAEs of special kind 2 (IVA mínimo, Monotributo) are not supported; only kind 1 is.',
  },
  'cae.special_cause': {
    path: '/cae_b64',
    checks: 'A CAE of special kind 1 names its cause (CausalCAEEsp).',
    source: 'cfe-format.md §5',
    example: 'A CAE of special kind 1 must name its cause in up to 3 digits, found none.',
  },
  'cae.dates': {
    path: '/cae_b64',
    checks: 'Issue and expiration are dates, in this order.',
    source: 'decisions.md §5',
    example: 'The CAE must expire on or after its issue date, found "2026-02-01" to "2026-01-01".',
  },
  'cae.expired': {
    path: '/cae_b64',
    checks: 'The CAE has not expired today in Montevideo.',
    source: 'decisions.md §5',
    example: 'The CAE expired on 2026-01-31; today is 2026-02-10.',
  },
  'cae.not_yet_valid': {
    path: '/cae_b64',
    checks: 'The CAE was issued today in Montevideo or before (a CFE signed earlier would earn E07).',
    source: 'decisions.md §4, §5; cfe-format.md §6',
    example: 'The CAE is valid only from 2026-03-01; today is 2026-02-10.',
  },
  'cae.range': {
    path: '/cae_b64',
    checks: 'The range is not empty and lies within 1 and 9999999.',
    source: 'decisions.md §5; cfe-format.md §5',
    example: 'The range must lie within 1 and 9999999 and not be empty, found 200 to 100.',
  },
  'cae.start_out_of_range': {
    path: '/cae_start_number',
    checks: 'The start number lies within the range of the CAE.',
    source: 'decisions.md §5',
    example: 'cae_start_number must lie within the range 1 to 100 of the CAE, found 101.',
  },
  'cae.known': {
    path: '/cae_b64',
    checks: 'The authorization number is not held already.',
    source: 'decisions.md §5',
    example: 'The CAE "90120000194" is held already.',
  },
  'cae.overlap': {
    path: '/cae_b64',
    checks: 'The range shares no number with one held for the same type and series.',
    source: 'decisions.md §5',
    example: 'The range 1 to 100 overlaps CAE 90120000194 (50 to 150), held for the same type and series.',
  },
  'cae.none_left': {
    path: '',
    checks: 'A CAE of the type is valid and has a number left.',
    source: 'decisions.md §5',
    example: 'No CAE of type ETICKET is valid and has numbers left; upload one.',
  },
  'cae.exempt_taxpayer': {
    path: '/details/0/iva_type',
    checks: 'Under a CAE of special kind 1 (exempt taxpayer) no line bears VAT.',
    source: 'cfe-format.md §2.2 (cross rules)',
    example:
      'details[0].iva_type: the CAE is that of an exempt taxpayer, whose lines bear no VAT; found BASIC_RATE.',
  },
} as const satisfies Record<string, RuleRow & { path: string }>;
export type CaeRule = keyof typeof CAE_RULES;

/** A fault of one of the rules, at its place in the body, with the words of its example unless others are given. */
export function caeFault(code: CaeRule, message: string = CAE_RULES[code].example): Fault {
  return { path: CAE_RULES[code].path, code, message };
}
