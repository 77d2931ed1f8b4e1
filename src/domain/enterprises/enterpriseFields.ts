/** The fields of enterprises and branches that callers write and receipts print. */

import * as z from 'zod';
import { SMALL_TICKETS, type SmallTickets } from '../receipts/transmission.ts';
import { optionalField, requiredField } from '../requests/fields.ts';
import { CFE_FORMAT } from '../requests/fieldWords.ts';
import { dateSchema } from '../values/dates.ts';
import { integerSchema } from '../values/decimal.ts';
import { Email } from '../values/email.ts';
import { addIssue } from '../values/issue.ts';
import { LENGTHS } from '../values/lengths.ts';
import { textSchema } from '../values/text.ts';

const SMALL_TICKETS_WORDS = {
  SEND: 'They are sent to the authority like all others.',
  REPORT_ONLY: 'They are signed and not sent: ACCEPTED once signed, and in the daily report alone.',
} as const satisfies Record<SmallTickets, string>;

/** First day of the e-invoicing regime. */
const FIRST_DAY = '2011-10-01';

/** CorreoEmisor is shorter than the longest valid e-mail address. */
const IssuerEmail = Email.and(textSchema(LENGTHS.email));

/** A printed web address: a host, with or without scheme and path. */
const Website = textSchema(LENGTHS.website).superRefine((value, ctx) => {
  const address = URL.canParse(value) ? value : `https://${value}`;
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url && ['http:', 'https:'].includes(url.protocol) && url.hostname.includes('.') && !/\s/.test(value))
    return;
  addIssue(ctx, 'website.malformed', 'must be a web address, such as www.example.com.uy.');
});

/** Number and year of the resolution that made the enterprise an issuer. */
const Resolution = textSchema(LENGTHS.resolution)
  .superRefine((value, ctx) => {
    if (/^[0-9]{1,6}\/[0-9]{4}$/.test(value)) return;
    addIssue(ctx, 'resolution.malformed', 'must be the number and year of the resolution, such as 798/2012.');
  })
  .meta({ pattern: '^[0-9]{1,6}/[0-9]{4}$' });

/** The fields of an enterprise; the lengths are the CFE format's for the issuer. */
export const ENTERPRISE_FIELDS = {
  legal_name: requiredField({
    column: 'legalName',
    schema: textSchema(LENGTHS.legalName),
    words: {
      description: `Legal name, as on every receipt. Source: ${CFE_FORMAT} A, field 41 (RznSoc).`,
      examples: ['Almacén Demo SA'],
    },
  }),
  trade_name: optionalField({
    column: 'tradeName',
    schema: textSchema(LENGTHS.tradeName),
    words: {
      description: `Trade name, printed above the legal name; null: none. Source: ${CFE_FORMAT} A, field 42 (NomComercial).`,
      examples: ['Almacén Demo'],
    },
  }),
  street_name: requiredField({
    column: 'streetName',
    schema: textSchema(LENGTHS.address),
    words: {
      description: `Street and number of the fiscal address. Source: ${CFE_FORMAT} A, field 48 (DomFiscal).`,
      examples: ['Rincón 500'],
    },
  }),
  locality_name: requiredField({
    column: 'localityName',
    schema: textSchema(LENGTHS.city),
    words: {
      description: `Town of the fiscal address. Source: ${CFE_FORMAT} A, field 49 (Ciudad).`,
      examples: ['Montevideo'],
    },
  }),
  department_name: requiredField({
    column: 'departmentName',
    schema: textSchema(LENGTHS.department),
    words: {
      description: `Department of the fiscal address. Source: ${CFE_FORMAT} A, field 50 (Departamento).`,
      examples: ['Montevideo'],
    },
  }),
  branch: requiredField({
    column: 'branch',
    schema: integerSchema({ minimum: 0, maximum: 9999 }),
    kind: 'code',
    words: {
      description: `Code that the tax authority gave to the branch, at most 4 digits. Source: ${CFE_FORMAT} A, field 47 (CdgDGISucur).`,
      examples: [1],
    },
  }),
  phone_number: optionalField({
    column: 'phoneNumber',
    schema: textSchema(LENGTHS.phone),
    words: {
      description: `Telephone number as printed; null: none. Source: ${CFE_FORMAT} A, field 44 (Telefono).`,
      examples: ['29160000'],
    },
  }),
  email: optionalField({
    column: 'email',
    schema: IssuerEmail,
    kind: 'email',
    words: {
      description: `E-mail address, also the Reply-To of e-mails with receipts; null: none. Source: ${CFE_FORMAT} A, field 45 (CorreoEmisor).`,
      examples: ['facturas@example.com.uy'],
    },
  }),
  website: optionalField({
    column: 'website',
    schema: Website,
    words: {
      description:
        'Web address where consumers can verify e-Tickets, printed on these; null: the host of this service is printed.',
      examples: ['www.example.com.uy'],
    },
  }),
  issuer_since: optionalField({
    column: 'issuerSince',
    schema: dateSchema({ earliest: FIRST_DAY, latest: '2050-12-31' }),
    kind: 'day',
    words: {
      description:
        'Day on which the enterprise joined the e-invoicing regime, printed as «Fecha emisor»; null: not given.',
      examples: ['2026-03-01'],
    },
  }),
  resolution: optionalField({
    column: 'resolution',
    schema: Resolution,
    words: {
      description:
        'Number and year of the resolution that made it an issuer, printed as «Res.» instead of `issuer_since`; null: none.',
      examples: ['798/2012'],
    },
  }),
  exemption_norm: optionalField({
    column: 'exemptionNorm',
    schema: textSchema(LENGTHS.exemptionNorm),
    words: {
      description:
        'Norm by which the enterprise is exempt from VAT, printed as «Contribuyente Exonerado» under a CAE of special kind 1; null: none.',
      examples: ['Ley 16.060, artículo 3'],
    },
  }),
  vat_up_to_date: requiredField({
    column: 'vatUpToDate',
    schema: z.boolean(),
    kind: 'flag',
    words: {
      description: `Whether the enterprise has its VAT certificate up to date, true at first; false: receipts say «No IVA al día emisor». Source: ${CFE_FORMAT} A, field 17 (IVAalDia).`,
      examples: [true],
    },
  }),
  small_tickets: requiredField({
    column: 'smallTickets',
    schema: z.enum(SMALL_TICKETS).meta({ 'x-enum-descriptions': Object.values(SMALL_TICKETS_WORDS) }),
    kind: 'choice',
    words: {
      description: `What happens to e-Tickets and their notes up to 5,000 UI net of VAT, without a RUC receiver; SEND at first. \`SEND\`: ${SMALL_TICKETS_WORDS.SEND} \`REPORT_ONLY\`: ${SMALL_TICKETS_WORDS.REPORT_ONLY} It counts for receipts issued after the change. Source: Formato Sobre v05, section 1.`,
      examples: ['SEND'],
    },
  }),
} as const;

const { street_name, locality_name, department_name, branch, phone_number } = ENTERPRISE_FIELDS;
/** The fields of a branch without its code. */
export const BRANCH_FIELDS = { street_name, locality_name, department_name, phone_number } as const;

const { legal_name, trade_name } = ENTERPRISE_FIELDS;
/** The fields for creating an enterprise; the others come with updates. */
export const FIRST_FIELDS = { legal_name, trade_name, ...BRANCH_FIELDS, branch } as const;
