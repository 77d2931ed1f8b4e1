import type { Fault } from '../../errors.ts';
import type { RuleRow } from '../requests/bodyRules.ts';

/** The rules on uploading a CAE and on taking a number from it, with the path of the field in the body. */
export const CAE_RULES = {
  'cae.malformed': {
    path: '/cae_b64',
    checks: 'The file is the XML of a CAE, with all its fields.',
    source: 'Formato CAE v05',
    example: 'The file must be the XML of a CAE.',
  },
  'cae.signature': {
    path: '/cae_b64',
    checks: 'The signature of the CAE is valid.',
    source: 'docs/authority/caes.md#trust',
    example: 'The signature of the CAE is invalid: the file was changed.',
  },
  'cae.untrusted_signer': {
    path: '/cae_b64',
    checks: 'The CAE is signed by a configured certificate of the authority, of its environment.',
    source: 'docs/authority/caes.md#trust; docs/contract.md#cae',
    example: 'The CAE must be signed by the tax authority.',
  },
  'cae.signer_not_valid': {
    path: '/cae_b64',
    checks: 'The certificate that signed the CAE was valid then (TmstFrma).',
    source: 'docs/authority/caes.md#trust; docs/contract.md#cae',
    example: 'The certificate of the tax authority was not valid when it signed the CAE.',
  },
  'cae.other_rut': {
    path: '/cae_b64',
    checks: 'The CAE is for the enterprise (RucE).',
    source: 'Formato CAE v05, RucE',
    example: 'The CAE must be for RUT 219999830019, found "219999820013".',
  },
  'cae.type': {
    path: '/cae_b64',
    checks: 'The CAE is for one of the nine types (TCFE).',
    source: 'Formato CAE v05, TCFE; docs/contract.md#cae',
    example: 'The CAE must be for one of the types 101, 102, 103, 111, 112, 113, 121, 122, 123, found 181.',
  },
  'cae.series': {
    path: '/cae_b64',
    checks: 'The serie is one or two capitals, or a digit and a capital.',
    source: 'Formato CAE v05, Serie; Formato CFE v25.2, zone A, field 3',
    example: 'The serie must be one or two capital letters, or a digit and a capital letter, found "A1".',
  },
  'cae.authorization_number': {
    path: '/cae_b64',
    checks: 'The authorization number (NA) has up to 11 digits.',
    source: 'Formato CAE v05, NA',
    example: 'The authorization number must have up to 11 digits, found "9012X".',
  },
  'cae.not_electronic': {
    path: '/cae_b64',
    checks: 'The CAE is for electronic receipts: TA is E or missing.',
    source: 'Formato CAE v05, TA; Formato Mensaje de Respuesta v19, code E13',
    example: 'The CAE must be for electronic receipts (E), found "C".',
  },
  'cae.special': {
    path: '/cae_b64',
    checks: 'A special CAE is of kind 1 to 4.',
    source: 'Formato CAE v05, CAEEspecial; docs/authority/caes.md#special-kinds',
    example: 'The special kind of the CAE must be 1 to 4, found 5.',
  },
  'cae.special_cause': {
    path: '/cae_b64',
    checks: 'A CAE of special kind 1 has its cause (CausalCAEEsp).',
    source: 'Formato CAE v05, CausalCAEEsp',
    example: 'A CAE of special kind 1 must name its cause in up to 3 digits, found none.',
  },
  'cae.dates': {
    path: '/cae_b64',
    checks: 'The issue and expiration dates are dates, in this order.',
    source: 'Formato CAE v05, FA and FVD',
    example: 'The CAE must expire on or after its issue date, found "2026-02-01" to "2026-01-01".',
  },
  'cae.expired': {
    path: '/cae_b64',
    checks: 'The CAE has not expired today in Montevideo.',
    source: 'Formato CAE v05, FVD; docs/contract.md#cae',
    example: 'The CAE expired on 2026-01-31; today is 2026-02-10.',
  },
  'cae.not_yet_valid': {
    path: '/cae_b64',
    checks: 'The CAE was issued today in Montevideo or earlier (else the authority rejects CFEs with E07).',
    source: 'Formato CAE v05, FA; Formato Mensaje de Respuesta v19, code E07',
    example: 'The CAE is valid only from 2026-03-01; today is 2026-02-10.',
  },
  'cae.range': {
    path: '/cae_b64',
    checks: 'The range lies between 1 and 9999999 and is not empty.',
    source: 'Formato CAE v05, DNro and HNro',
    example: 'The range must lie between 1 and 9999999 and must not be empty, found 200 to 100.',
  },
  'cae.start_out_of_range': {
    path: '/cae_start_number',
    checks: 'cae_start_number lies within the range of the CAE.',
    source: 'docs/contract.md#cae',
    example: 'cae_start_number must lie within the range of the CAE, 1 to 100, found 101.',
  },
  'cae.known': {
    path: '/cae_b64',
    checks: 'The enterprise does not have the CAE already.',
    source: 'docs/contract.md#cae',
    example: 'The enterprise already has the CAE "90120000194".',
  },
  'cae.overlap': {
    path: '/cae_b64',
    checks: 'The range overlaps no other CAE of the same type and serie.',
    source: 'docs/contract.md#cae',
    example: 'The range 1 to 100 overlaps CAE 90120000194 (50 to 150) of the same type and serie.',
  },
  'cae.none_left': {
    path: '',
    checks: 'A CAE of the type is valid and has a number left.',
    source: 'docs/contract.md#numbers',
    example: 'No CAE of type ETICKET is valid and has numbers left; upload one.',
  },
  'line.small_taxpayer': {
    path: '/details/0/iva_type',
    checks: 'Under a CAE of special kind 2, 3 or 4 lines are EXEMPT, FREE, EXPORT or not billable.',
    source: 'Formato CFE v25.2, zone A, field 10; docs/authority/caes.md#special-kinds',
    example:
      'details[0].iva_type: must be EXEMPT, FREE, EXPORT or not billable, because the CAE belongs to a small taxpayer, found BASIC_RATE.',
  },
  'line.exempt_taxpayer': {
    path: '/details/0/iva_type',
    checks: 'Under a CAE of special kind 1 no line has VAT.',
    source: 'docs/authority/caes.md#special-kinds',
    example:
      'details[0].iva_type: must not have VAT, because the CAE belongs to an exempt taxpayer, found BASIC_RATE.',
  },
} as const satisfies Record<string, RuleRow & { path: string }>;
export type CaeRule = keyof typeof CAE_RULES;

/** Creates the fault of a rule; its message defaults to the rule's example. */
export function caeFault(code: CaeRule, message: string = CAE_RULES[code].example): Fault {
  return { path: CAE_RULES[code].path, code, message };
}
