import { dayInMontevideo, momentOf } from '../../clock.ts';
import type { Cae } from '../../state/caes.ts';
import type { Reason } from '../codes.ts';
import type { ParsedReceipt } from '../reading.ts';

const YEAR_END = '-12-31';

/**
 * The CAE that a test names and that was not granted (docs/authority/caes.md#invented): as the receipt has it. One whose number
 * follows the rule for such CAEs, `90aa000xxx0`, expires at the end of the year after aa.
 */
export function inventedCaeOf({ caeData, idDoc, issuer }: ParsedReceipt): Cae {
  const number = caeData.text('CAE_ID') ?? '';
  const cfeType = idDoc.text('TipoCFE') ?? '';
  const year = /^90(\d\d)000(\d{3})0$/.exec(number)?.[2] === cfeType ? `20${number.slice(2, 4)}` : null;
  return {
    authorization_number: number,
    environment: 'sandbox',
    rut: issuer.text('RUCEmisor') ?? '',
    cfe_type: cfeType,
    serie: idDoc.text('Serie') ?? '',
    number_start: Number(caeData.text('DNro')),
    number_end: Number(caeData.text('HNro')),
    issue_date: year === null ? '' : `${year}-01-01`,
    expiration_date: year === null ? (caeData.text('FecVenc') ?? '') : `${Number(year) + 1}${YEAR_END}`,
    kind: 'E',
    special: null,
    special_cause: null,
  };
}

/**
 * Faults of a receipt against the CAE it names (docs/authority/caes.md#use, docs/authority/sobres.md#receipt-codes):
 * E09 when that CAE is not of this issuer and type, and otherwise E13, E03, E11, E07 as they apply; what CAEData says
 * of the CAE must be so (E05).
 */
export function* faultsOfAuthorization(receipt: ParsedReceipt, cae: Cae | undefined): Generator<Reason> {
  const { caeData, idDoc } = receipt;
  const number = Number(idDoc.text('Nro'));
  if (!cae || cae.rut !== receipt.issuer.text('RUCEmisor') || cae.cfe_type !== idDoc.text('TipoCFE')) {
    yield { code: 'E09', detail: `el CAE ${caeData.text('CAE_ID')} no es de este emisor y tipo` };
    return;
  }
  if (cae.kind !== 'E') {
    yield { code: 'E13', detail: `la constancia ${cae.authorization_number} no es electrónica` };
    return;
  }
  if (cae.serie !== idDoc.text('Serie') || number < cae.number_start || number > cae.number_end)
    yield { code: 'E03', detail: `el CAE autoriza ${cae.serie} ${cae.number_start} a ${cae.number_end}` };
  if (Number(caeData.text('DNro')) !== cae.number_start || Number(caeData.text('HNro')) !== cae.number_end)
    yield { code: 'E05', detail: 'G DNro y HNro: no son los del CAE' };
  if (caeData.text('FecVenc') !== cae.expiration_date)
    yield { code: 'E05', detail: 'G FecVenc: no es la del CAE' };
  const special = caeData.text('CAEEspecial') ?? null;
  const sameCause = Number(caeData.text('CausalCAEEsp') ?? -1) === Number(cae.special_cause ?? -1);
  if (special !== cae.special || (special !== null && !sameCause))
    yield { code: 'E11', detail: 'CAEEspecial o CausalCAEEsp no son los del CAE' };
  const signedAt = momentOf(receipt.signedAt);
  const day = signedAt ? dayInMontevideo(signedAt) : '';
  if (day < cae.issue_date || day > cae.expiration_date)
    yield {
      code: 'E07',
      detail: `firmado el ${day}; el CAE vale de ${cae.issue_date} a ${cae.expiration_date}`,
    };
}
