import { z } from 'zod';
import { caeCheckDigit } from '../checkDigits.ts';
import { dayInMontevideo, inMontevideo } from '../clock.ts';
import { signEnveloped } from '../security/enveloped.ts';
import { addCae, CAE_KINDS, CAE_SPECIALS, type Cae, firstFreeNumber } from '../state/caes.ts';
import { inTransaction, nextNumber, type State } from '../state/database.ts';
import { CFE_NS } from '../xml/names.ts';
import { leaf, maybe, tag } from '../xml/write.ts';
import { cfeTypeCode, day, environment, fiscalNumber, read, rut, serie } from './input.ts';
import type { PortalRoute } from './route.ts';

const Order = z.strictObject({
  environment,
  rut,
  cfe_type_code: cfeTypeCode,
  series: serie.default('A'),
  number_start: fiscalNumber.optional(),
  number_end: fiscalNumber.optional(),
  issue_date: day.optional(),
  expiration_date: day.optional(),
  cae_especial: z.coerce.string().pipe(z.enum(CAE_SPECIALS)).optional(),
  causal: z.coerce
    .string()
    .regex(/^\d{1,3}$/, 'must be up to 3 digits')
    .optional(),
  kind: z.enum(CAE_KINDS).default('E'),
});

const USUAL_NUMBERS = 10_000;
const LAST_NUMBER = 9_999_999;

/**
 * Authorizes numbers: by default serie A, the next free 10,000 numbers, for two years from today. Makes whatever is
 * asked for, even expired or overlapping ranges.
 */
export const makeCae: PortalRoute = {
  method: 'POST',
  path: '/portal/caes',
  handle({ body }, { state, authority, clock }) {
    const order = read(Order, body);
    const now = clock();
    const signer = authority.signers[order.environment];
    return inTransaction(state, () => {
      const issueDate = order.issue_date ?? dayInMontevideo(now);
      const owner = {
        environment: order.environment,
        rut: order.rut,
        cfe_type: order.cfe_type_code,
        serie: order.series,
      };
      const start =
        order.number_start ?? Math.min(order.number_end ?? LAST_NUMBER, firstFreeNumber(state, owner));
      const cae: Cae = {
        ...owner,
        authorization_number: nextAuthorization(state, issueDate),
        number_start: start,
        number_end: order.number_end ?? Math.min(start + USUAL_NUMBERS - 1, LAST_NUMBER),
        issue_date: issueDate,
        expiration_date: order.expiration_date ?? twoYearsAfter(issueDate),
        kind: order.kind,
        special: order.cae_especial ?? null,
        special_cause: order.causal ?? null,
      };
      const xml = `<?xml version="1.0" encoding="UTF-8"?>\n${signEnveloped(caeXml(cae, now), signer)}`;
      addCae(state, cae, xml);
      const { authorization_number, number_start, number_end } = cae;
      const file = Buffer.from(xml).toString('base64');
      return { status: 201, json: { cae_b64: file, authorization_number, number_start, number_end } };
    });
  },
};

/**
 * The authorization as the authority's portal offers it for download (Formato CAE v05; docs/authority/caes.md#file).
 */
const caeXml = (cae: Cae, now: Date): string => {
  const data = tag(
    'DA',
    leaf('RucE', cae.rut),
    leaf('TCFE', cae.cfe_type),
    leaf('Serie', cae.serie),
    leaf('DNro', cae.number_start),
    leaf('HNro', cae.number_end),
    leaf('TA', cae.kind),
    leaf('NA', cae.authorization_number),
    leaf('FA', cae.issue_date),
    leaf('FVD', cae.expiration_date),
    maybe('CAEEspecial', cae.special),
    maybe('CausalCAEEsp', cae.special_cause),
  );
  return `<CAE xmlns="${CFE_NS}" version="1.0">${leaf('TmstFrma', inMontevideo(now))}${data}</CAE>`;
};

/** `90`, two digits of the year, six correlative ones and the check digit; numbers without one are skipped. */
function nextAuthorization(state: State, issueDate: string): string {
  for (;;) {
    const ten = `90${issueDate.slice(2, 4)}${String(nextNumber(state, 'authorizations', 1)).padStart(6, '0')}`;
    const digit = caeCheckDigit(ten);
    if (digit !== null) return `${ten}${digit}`;
  }
}

function twoYearsAfter(date: string): string {
  const moment = new Date(`${date}T00:00:00Z`);
  moment.setUTCFullYear(moment.getUTCFullYear() + 2);
  return moment.toISOString().slice(0, 10);
}
