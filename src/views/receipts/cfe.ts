import * as z from 'zod';
import type { CfeRow } from '../../db/entities/receipts.ts';
import type { Receiver } from '../../domain/receipts/cfeDocument.ts';
import { formatCfeId } from '../../domain/receipts/cfeId.ts';
import { CFE_TYPES } from '../../domain/receipts/cfeTypes.ts';
import { qrUrl, receiptUrl, securityCode } from '../../domain/receipts/qr.ts';
import { transmissionOf } from '../../domain/receipts/transmission.ts';
import {
  CfeStatusName,
  CfeTypeName,
  CurrencyName,
  DocumentTypeName,
  EnvironmentName,
  TransmissionName,
} from '../../domain/requests/enums.ts';
import {
  CFE_FIELD_WORDS,
  describeField,
  ENTERPRISE_WORDS,
  RECEIVER_WORDS,
} from '../../domain/requests/fieldWords.ts';
import { exactNumber } from '../../domain/values/exactNumber.ts';
import { ExactNumberView } from '../exactNumber.ts';
import { DateText, MomentText, TotalCount, textField } from '../formats.ts';
import { TypeCode, TypeLabel } from '../numbers/cae.ts';
import { WarningsView } from './requestWarnings.ts';

/** A reason of the authority for rejecting or observing something. */
export const ReasonView = z
  .object({
    code: textField(
      'Code of the reason: the authority’s own (E01 to E15 of a CFE, S01 to S08 of its sobre, 11 of a sobre that is too large, C03 to C15 of an observation, R01 to R06 of a daily report), or one of ours: `abandoned`, `reference.rejected`, `duplicate.not_ours`. The guide `docs/refused` explains what to do about each. Source: Formato Mensaje de Respuesta v19, section 4.',
      'E05',
    ),
    message: textField('The reason in the authority’s words, or ours.', 'No cumple validaciones de Formato'),
    detail: z
      .string()
      .nullable()
      .meta({
        description:
          'Details in the authority’s words; null without. A position such as `A-C124` is zone A, field 124 of the CFE format.',
        examples: ['MntTotal no coincide'],
      }),
  })
  .meta({ id: 'RejectionReason', description: 'One reason for a rejection or an observation.' });

/** The reasons why a CFE is REJECTED or OBSERVED. */
export const Rejection = z
  .array(ReasonView)
  .readonly()
  .nullable()
  .meta({ description: 'Why it is REJECTED or OBSERVED; null without a reason.' });

/** How a CFE reached the authority. */
export const Transmission = TransmissionName.nullable().meta({
  description:
    'How it came to the tax authority: `SENT` once the authority has received it, `REPORT_ONLY` once an e-Ticket that is not sent is signed; null before, and for one that the authority never had.',
});

/** The customer's own number in answers and events. */
export const ExternalId = z
  .string()
  .nullable()
  .meta({ description: 'Your own number of the receipt; null without one.', examples: ['order-4711'] });

/** The CFE object of the API (docs/contract.md#cfe-object). */
export const CfeView = z
  .object({
    cfe_id: z.string().meta(describeField(CFE_FIELD_WORDS.cfe_id)),
    enterprise_rut: z.string().meta(describeField(ENTERPRISE_WORDS.rut)),
    environment: EnvironmentName,
    external_id: ExternalId,
    cfe_type: CfeTypeName,
    cfe_type_code: TypeCode,
    cfe_type_label: TypeLabel,
    cfe_status: CfeStatusName,
    serie: z.string().meta(describeField(CFE_FIELD_WORDS.serie)),
    numero: z.int().min(1).meta(describeField(CFE_FIELD_WORDS.numero)),
    emission_date: DateText.meta(describeField(CFE_FIELD_WORDS.emission_date)),
    total_amount: ExactNumberView.meta(describeField(CFE_FIELD_WORDS.total_amount)),
    pay_amount: ExactNumberView.meta(describeField(CFE_FIELD_WORDS.pay_amount)),
    currency: CurrencyName,
    exchange_rate: ExactNumberView.meta(describeField(CFE_FIELD_WORDS.exchange_rate)),
    receiver: z
      .object({
        receiver_doc_type: DocumentTypeName.nullable().meta({
          description: 'Kind of the receiver’s document; null without one.',
        }),
        receiver_document: z
          .string()
          .nullable()
          .meta({ description: 'Its number; null without one.', examples: ['219999830019'] }),
        legal_name: z.string().nullable().meta({
          description: 'Name of the receiver; null without one.',
          examples: RECEIVER_WORDS.legal_name.examples.slice(),
        }),
        country_code: z
          .string()
          .nullable()
          .meta({
            description: 'Its country, by the code of the CFE format; null without one.',
            examples: ['UY'],
          }),
      })
      .nullable()
      .meta({ description: 'The receiver of the receipt; null without one.' }),
    created_at: MomentText.meta({ description: 'When it was numbered, UTC.' }),
    transmission: Transmission,
    rejection: Rejection,
    security_code: z
      .string()
      .nullable()
      .meta({
        description:
          'Six characters printed below the QR code (código de seguridad); null until signed. Source: Formato CFE v25.2, printed form.',
        examples: ['aB3+xY'],
      }),
    qr_url: z
      .string()
      .nullable()
      .meta({
        description:
          'Content of the QR code: the authority’s page for verifying the receipt; null until signed. Source: Formato CFE v25.2, printed form.',
        examples: [
          'https://www.efactura.dgi.gub.uy/consultaQR/cfe?219000090011,101,A,12,1220.00,20/11/2026,aB3%2BxY…',
        ],
      }),
    receipt_url: z.url().meta({
      description:
        'The page of the receipt, for its receiver; anyone with the link can see it, without login.',
      examples: ['https://cfe.example.com/r/8sDq2x9XbFh0f1m3kQ7TzA'],
    }),
  })
  .meta({ id: 'Cfe', description: 'The current state of a receipt.' });

/** The CFE object in the answer of issuing. */
export const IssuedCfeView = CfeView.extend({ warnings: WarningsView }).meta({
  id: 'IssuedCfe',
  description: 'A receipt that was issued, and what in its request is probably a mistake.',
});

/** A page of CFEs and their total number. */
export const CfeListView = z
  .object({ items: z.array(CfeView).meta({ description: 'The CFEs of this page.' }), total: TotalCount })
  .meta({ id: 'CfeList', description: 'A page of CFEs.' });

/** The public URL of receipt pages: the API's, without a trailing slash. */
export interface ReceiptPages {
  readonly publicUrl: string;
}

/** Returns the CFE object of the CFE's current state. */
export function cfeView(cfe: CfeRow, pages: ReceiptPages): z.input<typeof CfeView> {
  return cfeViewAt(cfe, cfe, pages);
}

/** Returns the CFE object of an earlier state. */
export function cfeViewAt(
  cfe: CfeRow,
  { status, rejection, digest }: Pick<CfeRow, 'status' | 'rejection' | 'digest'>,
  { publicUrl }: ReceiptPages,
): z.input<typeof CfeView> {
  const { totals, receiver } = cfe.document;
  const { code, label } = CFE_TYPES[cfe.type];
  return {
    cfe_id: formatCfeId(cfe),
    enterprise_rut: cfe.rut,
    environment: cfe.environment,
    external_id: cfe.externalId ?? null,
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
    transmission: transmissionOf({
      status,
      rejection,
      reportOnly: cfe.reportOnly,
      isSigned: digest !== null,
    }),
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
  receiver_document: document?.given ?? document?.number ?? null,
  legal_name: legalName ?? null,
  country_code: document?.country ?? countryCode ?? null,
});
