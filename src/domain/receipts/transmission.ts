/** Which e-Tickets go to the authority in the daily report alone (docs/contract.md#small-e-tickets). Imports only rules. */

import { sumOf } from '../values/decimal.ts';
import type { CfeContent } from './cfeDocument.ts';
import type { CfeStatus } from './cfeStatus.ts';
import { cfeTypeRow } from './cfeTypes.ts';
import { receiptState } from './receiptState.ts';
import type { RejectionReason } from './rejection.ts';
import { identificationLimit, type UiValueRow } from './uiValues.ts';

/** What an enterprise does with e-Tickets up to the limit: sends them, or only reports them. */
export const SMALL_TICKETS = ['SEND', 'REPORT_ONLY'] as const;
export type SmallTickets = (typeof SMALL_TICKETS)[number];

/** How a CFE reached the authority. */
export const TRANSMISSIONS = ['SENT', 'REPORT_ONLY'] as const;
type Transmission = (typeof TRANSMISSIONS)[number];

/**
 * Returns whether a CFE need not be sent: an e-Ticket or its note at or below the limit, net of VAT, whose receiver is no
 * RUC (Formato Sobre v05, section 1; Formato CFE v25.2, table E). `uiValue`: of the year of emission.
 */
export function isSmallTicket(
  { type, totals, receiver, emissionDate }: Pick<CfeContent, 'type' | 'totals' | 'receiver' | 'emissionDate'>,
  uiValue: UiValueRow,
): boolean {
  // The UI value of a later year, used if the year's own is missing, may be too high; sending is always allowed.
  if (uiValue.year > Number(emissionDate.slice(0, 4))) return false;
  if (cfeTypeRow(type).family !== 'ticket' || receiver?.document?.type === 'RUC') return false;
  const { exempt, exported, perceived, suspended, minimumNet, basicNet, otherNet } = totals;
  const net = sumOf([exempt, exported, perceived, suspended, minimumNet, basicNet, otherNet]);
  return net.times(totals.exchangeRate).lte(identificationLimit(uiValue));
}

/**
 * Returns how a CFE reached the authority. SENT: received by the authority. REPORT_ONLY: signed, and only in the daily report.
 * Null: neither yet, or it never will be.
 */
export function transmissionOf(cfe: {
  readonly status: CfeStatus;
  readonly reportOnly: boolean;
  readonly isSigned: boolean;
  readonly rejection?: readonly RejectionReason[] | null | undefined;
}): Transmission | null {
  const { status, rejection = null, reportOnly, isSigned } = cfe;
  const state = receiptState({ status, rejection });
  if (reportOnly) return isSigned && state !== 'neverSent' ? 'REPORT_ONLY' : null;
  return state === 'sent' ? 'SENT' : null;
}
