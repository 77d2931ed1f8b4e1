import * as z from 'zod';
import type { CfeRow } from '../../db/entities/Cfe.ts';
import type { Receiver } from '../../domain/cfeDocument.ts';
import { formatCfeId } from '../../domain/cfeId.ts';
import { CURRENCIES } from '../../domain/cfeRequest.ts';
import { CFE_STATUSES } from '../../domain/cfeStatus.ts';
import { CFE_TYPE_NAMES, CFE_TYPES } from '../../domain/cfeTypes.ts';
import { exactNumber } from '../../domain/exactNumber.ts';
import { qrUrl, securityCode } from '../../domain/qr.ts';
import { receiptUrl } from '../../domain/receiptUrl.ts';
import { DOCUMENT_TYPES } from '../../domain/receiverDocument.ts';
import { ExactNumber } from './exactNumber.ts';
import { DateText, MomentText } from './formats.ts';

/** Why a CFE is REJECTED or OBSERVED. */
export const Rejection = z
  .array(z.object({ code: z.string(), message: z.string(), detail: z.string().nullable() }))
  .readonly()
  .nullable()
  .meta({ description: "The tax authority's own explanation; null without one" });

/** The CFE object of the API (docs/contract.md#cfe-object). */
export const CfeView = z
  .object({
    cfe_id: z
      .string()
      .meta({ description: 'Type code, hyphen, position in the sequence of the type', examples: ['101-1'] }),
    cfe_type: z.enum(CFE_TYPE_NAMES),
    cfe_type_code: z.string(),
    cfe_type_label: z.string(),
    cfe_status: z.enum(CFE_STATUSES),
    serie: z.string(),
    numero: z.int(),
    emission_date: DateText,
    total_amount: ExactNumber,
    pay_amount: ExactNumber,
    currency: z.enum(CURRENCIES),
    exchange_rate: ExactNumber,
    receiver: z
      .object({
        receiver_doc_type: z.enum(DOCUMENT_TYPES).nullable(),
        receiver_document: z.string().nullable(),
        legal_name: z.string().nullable(),
        country_code: z.string().nullable(),
      })
      .nullable(),
    created_at: MomentText,
    rejection: Rejection,
    security_code: z
      .string()
      .nullable()
      .meta({ description: 'To be printed below the QR code; null until signed' }),
    qr_url: z.string().nullable().meta({ description: 'Content of the QR code; null until signed' }),
    receipt_url: z.url().meta({ description: 'The page of the receipt, for its receiver; no login' }),
  })
  .meta({ id: 'Cfe' });

/** Some CFEs, and how many there are in all. */
export const CfeListView = z.object({ items: z.array(CfeView), total: z.int() }).meta({ id: 'CfeList' });

/** Where receipts are shown: the public address of the API, without a slash at its end. */
export interface ReceiptPages {
  readonly publicUrl: string;
}

/** The CFE object of the CFE's current state. */
export function cfeView(cfe: CfeRow, pages: ReceiptPages): z.input<typeof CfeView> {
  return cfeViewAt(cfe, cfe, pages);
}

/** The CFE object as the CFE stood at another time. */
export function cfeViewAt(
  cfe: CfeRow,
  { status, rejection, digest }: Pick<CfeRow, 'status' | 'rejection' | 'digest'>,
  { publicUrl }: ReceiptPages,
): z.input<typeof CfeView> {
  const { totals, receiver } = cfe.document;
  const { code, label } = CFE_TYPES[cfe.type];
  return {
    cfe_id: formatCfeId(cfe),
    cfe_type: cfe.type,
    cfe_type_code: String(code),
    cfe_type_label: label,
    cfe_status: status,
    serie: cfe.serie,
    numero: cfe.numero,
    emission_date: cfe.emissionDate,
    total_amount: exactNumber(totals.total),
    pay_amount: exactNumber(totals.pay),
    currency: totals.currency,
    exchange_rate: exactNumber(totals.exchangeRate),
    receiver: receiver ? receiverView(receiver) : null,
    created_at: cfe.createdAt.toISOString(),
    rejection: rejection ?? null,
    security_code: digest ? securityCode(digest) : null,
    qr_url: digest
      ? qrUrl({ ...cfe, typeCode: code, pay: totals.pay, signedAt: cfe.document.signedAt, digest })
      : null,
    receipt_url: receiptUrl(publicUrl, cfe.receiptToken),
  };
}

const receiverView = ({ document, legalName, countryCode }: Receiver) => ({
  receiver_doc_type: document?.type ?? null,
  receiver_document: document?.number ?? null,
  legal_name: legalName ?? null,
  country_code: document?.country ?? countryCode ?? null,
});
