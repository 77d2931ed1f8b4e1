import * as z from 'zod';
import type { CfeRow } from '../../db/entities/receipts.ts';
import type {
  CfeDocument,
  Line,
  LineAdjustment,
  Receiver,
  Reference,
} from '../../domain/receipts/cfeDocument.ts';
import { type CfeIdParts, formatCfeId } from '../../domain/receipts/cfeId.ts';
import type { CfeStatus } from '../../domain/receipts/cfeStatus.ts';
import { CfeStatusName, CurrencyName, DocumentTypeName, IvaTypeName } from '../../domain/requests/enums.ts';
import {
  ADJUSTMENT_WORDS,
  CFE_FIELD_WORDS,
  describeField,
  EXTRA_WORDS,
  type FieldWords,
  LINE_WORDS,
  RECEIVER_WORDS,
} from '../../domain/requests/fieldWords.ts';
import { exactNumber } from '../../domain/values/exactNumber.ts';
import { ExactNumberView } from '../exactNumber.ts';
import { countField, DateText, TotalCount, textField } from '../formats.ts';
import { TypeCode } from '../numbers/cae.ts';
import { CfeView, cfeView, type ReceiptPages } from './cfe.ts';
import { TotalsView, totalsView } from './validation.ts';

const text = (words: FieldWords) => z.string().meta(describeField(words));
const optionalText = (words: FieldWords) => z.string().nullable().meta(describeField(words));
const amount = (words: FieldWords) => ExactNumberView.meta(describeField(words));

const AdjustmentRead = z.object({
  percent: amount(ADJUSTMENT_WORDS.line_percent).nullable(),
  amount: amount(ADJUSTMENT_WORDS.line_amount),
});

const LineRead = z
  .object({
    line_number: countField('Number of the line, from 1.', 1, 1),
    iva_type: IvaTypeName,
    item_name: text(LINE_WORDS.item_name),
    item_description: optionalText(LINE_WORDS.item_description),
    count: amount(LINE_WORDS.count),
    unit: text(ADJUSTMENT_WORDS.unit),
    unit_price: amount(LINE_WORDS.unit_price),
    item_amount: amount(LINE_WORDS.item_amount),
    ncm: optionalText(ADJUSTMENT_WORDS.ncm),
    codes: z
      .array(
        z.object({
          type: textField('Kind of the code.', 'GTIN13'),
          value: text(ADJUSTMENT_WORDS.code_value),
        }),
      )
      .meta({ description: 'Codes of the product or service.' }),
    discounts: z.array(AdjustmentRead).meta({
      description: 'Discounts of the line, each with its amount.',
      examples: [[{ percent: 10, amount: 10 }]],
    }),
    surcharges: z.array(AdjustmentRead).meta({
      description: 'Surcharges of the line, each with its amount.',
      examples: [[{ percent: 10, amount: 10 }]],
    }),
  })
  .meta({ id: 'CfeLineRead', description: 'One line of an issued receipt.' });

const HeaderRead = z.object({
  doc_id: z
    .object({
      emission_date: DateText.meta(describeField(CFE_FIELD_WORDS.emission_date)),
      payment_method: z.enum(['CASH', 'CREDIT']).meta({
        'x-enum-descriptions': ['Paid at once.', 'Paid later.'],
        description: 'How the receipt is paid. Source: Formato CFE v25.2, zone A, field 11 (FmaPago).',
        examples: ['CASH'],
      }),
      third_party_payment: z.boolean().meta(describeField(CFE_FIELD_WORDS.third_party_payment)),
      own_collection: z.boolean().meta(describeField(CFE_FIELD_WORDS.own_collection)),
    })
    .meta({ description: 'Date and payment.' }),
  receiver: z
    .object({
      receiver_doc_type: DocumentTypeName.nullable(),
      receiver_document: optionalText(RECEIVER_WORDS.receiver_document),
      legal_name: optionalText(RECEIVER_WORDS.legal_name),
      fiscal_address: optionalText(RECEIVER_WORDS.fiscal_address),
      city: optionalText(RECEIVER_WORDS.city),
      department: optionalText(RECEIVER_WORDS.department),
      country: optionalText(RECEIVER_WORDS.country),
      country_code: optionalText(RECEIVER_WORDS.country_code),
    })
    .nullable()
    .meta({ description: 'Who the receipt is for.' }),
  totals: TotalsView,
  adjustments: z
    .array(
      z.object({
        kind: z.enum(['DISCOUNT', 'SURCHARGE']).meta({
          'x-enum-descriptions': ['Lowers the total of the kind.', 'Raises it.'],
          description: 'Direction of the adjustment.',
          examples: ['DISCOUNT'],
        }),
        iva_type: IvaTypeName,
        description: text(ADJUSTMENT_WORDS.adjustment_description),
        percent: amount(ADJUSTMENT_WORDS.adjustment_percent).nullable(),
        amount: amount(ADJUSTMENT_WORDS.adjustment_amount),
      }),
    )
    .meta({ description: 'Discounts and surcharges of the whole receipt.' }),
  payments: z
    .array(
      z.object({
        description: text(ADJUSTMENT_WORDS.payment_description),
        amount: amount(ADJUSTMENT_WORDS.payment_amount),
        code: optionalText(ADJUSTMENT_WORDS.payment_code),
      }),
    )
    .meta({ description: 'How the receipt is paid, in rows.' }),
});

const ReferenceRead = z
  .object({
    cfe_id: optionalText(CFE_FIELD_WORDS.cfe_id),
    cfe_type_code: TypeCode.nullable(),
    serie: optionalText(CFE_FIELD_WORDS.serie),
    numero: z.int().min(1).nullable().meta(describeField(CFE_FIELD_WORDS.numero)),
    emission_date: DateText.nullable().meta({ description: 'Its date of emission.' }),
    amount: ExactNumberView.nullable().meta({
      description: 'What this receipt takes of it, in its currency (MntCFEref).',
      examples: [122],
    }),
    currency: CurrencyName.nullable(),
    exchange_rate: ExactNumberView.nullable().meta({ description: 'Its exchange rate.', examples: [1] }),
    reason: optionalText(EXTRA_WORDS.reference_reason),
    description: z
      .string()
      .nullable()
      .meta({ description: 'What it is, if it is no CFE (IndGlobal).', examples: ['Remito 55'] }),
  })
  .meta({
    id: 'CfeReferenceRead',
    description:
      'What this receipt refers to. `cfe_id`: a CFE of this service; without it and with `serie`: of another system.',
  });

const DocumentRead = z
  .object({
    header: HeaderRead.meta({ description: 'Data of the whole receipt.' }),
    details: z.array(LineRead).meta({ description: 'The lines, in order.' }),
    references: z.array(ReferenceRead).meta({ description: 'The CFEs that it refers to; empty without.' }),
    extra: z.string().meta({
      description:
        'The JSON object of `extra`, as text: with the branch and the defaults, and with the keys that the service does not use.',
      examples: ['{"branch":1,"due_date":"2026-12-20"}'],
    }),
  })
  .meta({
    id: 'CfeDocumentRead',
    description:
      'The content of an issued receipt, in the names of POST …/cfes; null and empty lists where it has nothing.',
  });

/** The CFE object with its content, support and notes (docs/contract.md#cfe-object). */
const CfeDetailView = CfeView.extend({
  document: DocumentRead,
  needs_support: z.boolean().meta({
    description:
      'Whether it waits for the operator of the service; it is not lost, and need not be issued again.',
    examples: [false],
  }),
  notes: z
    .array(
      z.object({
        cfe_id: text(CFE_FIELD_WORDS.cfe_id),
        cfe_status: CfeStatusName,
      }),
    )
    .meta({ description: 'The notes that refer to it, oldest first; empty without.' }),
}).meta({ id: 'CfeDetail', description: 'A receipt with its content.' });

/** One CFE, in the form of a list. */
export const CfeDetailListView = z
  .object({
    items: z.array(CfeDetailView).meta({ description: 'The CFE: exactly one.' }),
    total: TotalCount,
  })
  .meta({ id: 'CfeDetailList', description: 'One CFE.' });

/** Returns the CFE object with its content. `cfe`: with `extra` loaded; `notes`: the notes on this CFE, oldest first. */
export function cfeDetailView(
  cfe: CfeRow,
  notes: readonly (CfeIdParts & { readonly status: CfeStatus })[],
  pages: ReceiptPages,
): z.input<typeof CfeDetailView> {
  const { document } = cfe;
  return {
    ...cfeView(cfe, pages),
    document: {
      header: headerRead(document),
      details: document.lines.map(lineRead),
      references: (document.references ?? []).map(referenceRead),
      extra: extraRead(document, cfe.extra ?? {}),
    },
    needs_support: (cfe.stuckReason ?? null) !== null,
    notes: notes.map((note) => ({ cfe_id: formatCfeId(note), cfe_status: note.status })),
  };
}

const optionalNumber = (figure: string | undefined) => (figure === undefined ? null : exactNumber(figure));

const adjustmentRead = ({ percent, amount: figure }: LineAdjustment) => ({
  percent: optionalNumber(percent),
  amount: exactNumber(figure),
});

function headerRead(document: CfeDocument): z.input<typeof HeaderRead> {
  const { receiver, adjustments = [], payments = [] } = document;
  return {
    doc_id: {
      emission_date: document.emissionDate,
      payment_method: document.paymentMethod === 1 ? 'CASH' : 'CREDIT',
      third_party_payment: document.thirdPartyPayment ?? false,
      own_collection: document.ownCollection ?? false,
    },
    receiver: receiver ? receiverRead(receiver) : null,
    totals: totalsView(document),
    adjustments: adjustments.map((one) => ({
      kind: one.kind,
      iva_type: one.ivaType,
      description: one.description,
      ...adjustmentRead(one),
    })),
    payments: payments.map(({ description, amount: figure, code }) => ({
      description,
      amount: exactNumber(figure),
      code: code ?? null,
    })),
  };
}

const receiverRead = ({ document, ...receiver }: Receiver) => ({
  receiver_doc_type: document?.type ?? null,
  receiver_document: document?.given ?? document?.number ?? null,
  legal_name: receiver.legalName ?? null,
  fiscal_address: receiver.address ?? null,
  city: receiver.city ?? null,
  department: receiver.department ?? null,
  country: receiver.countryName ?? null,
  country_code: document?.country ?? receiver.countryCode ?? null,
});

const lineRead = (line: Line, index: number): z.input<typeof LineRead> => ({
  line_number: index + 1,
  iva_type: line.ivaType,
  item_name: line.name,
  item_description: line.description ?? null,
  count: exactNumber(line.quantity),
  unit: line.unit,
  unit_price: exactNumber(line.unitPrice),
  item_amount: exactNumber(line.amount),
  ncm: line.ncm ?? null,
  codes: line.codes ?? [],
  discounts: (line.discounts ?? []).map(adjustmentRead),
  surcharges: (line.surcharges ?? []).map(adjustmentRead),
});

const referenceRead = ({ cfe, reason }: Reference): z.input<typeof ReferenceRead> => ({
  cfe_id: cfe?.cfeId ?? null,
  cfe_type_code: cfe ? String(cfe.typeCode) : null,
  serie: cfe?.serie ?? null,
  numero: cfe?.numero ?? null,
  emission_date: cfe?.emissionDate ?? null,
  amount: optionalNumber(cfe?.value?.amount),
  currency: cfe?.value?.currency ?? null,
  exchange_rate: optionalNumber(cfe?.value?.exchangeRate),
  reason: cfe ? (reason ?? null) : null,
  description: cfe ? null : (reason ?? null),
});

/** Returns `extra` as sent: the document has its unit in the lines, and its reason in the references. */
const extraRead = (document: CfeDocument, others: Readonly<Record<string, unknown>>): string =>
  JSON.stringify({
    branch: document.issuer.branch,
    due_date: document.dueDate,
    purchase_order: document.receiver?.purchaseOrder,
    sale_condition: document.saleCondition,
    sale_mode: document.saleMode,
    transport: document.transport,
    information: document.information,
    adenda: document.adenda,
    ...others,
  });
