import { defineEntity, p } from '@mikro-orm/core';
import type { RequestOutline } from '../../crypto/requestOutline.ts';
import type { StuckReason } from '../../domain/authority/stuckReason.ts';
import type { Actor } from '../../domain/operations/audit.ts';
import type { CfeDocument } from '../../domain/receipts/cfeDocument.ts';
import type { CfeStatus } from '../../domain/receipts/cfeStatus.ts';
import type { CfeType, Environment } from '../../domain/receipts/cfeTypes.ts';
import type { CreditedLine } from '../../domain/receipts/credit/creditLeft.ts';
import type { ExportState } from '../../domain/receipts/receiptExport.ts';
import type { RejectionReason } from '../../domain/receipts/rejection.ts';
import type { RequestWarning } from '../../domain/receipts/requestWarnings.ts';

/** The state of a CFE when its request was answered after waiting (`Prefer: wait`). */
export interface FirstAnswer {
  status: CfeStatus;
  rejection: RejectionReason[] | null;
  digest: string | null;
}

const CfeSchema = defineEntity({
  name: 'Cfe',
  properties: {
    id: p.uuid().primary(),
    /** Its sobre to the authority; null while it waits for one. */
    sobreId: p.uuid().strictNullable(),
    /** Id of the workflow of that sobre, or of its last one; null before the first. */
    workflowId: p.text().strictNullable(),
    /** Whether the CFE refers to a CFE without a verdict, so that no sobre takes it yet. */
    held: p.boolean(),
    /** Whether the CFE is an e-Ticket, or its note, that is never sent: it is accepted once it is signed. */
    reportOnly: p.boolean(),
    accountId: p.uuid(),
    rut: p.text(),
    environment: p.text().$type<Environment>(),
    type: p.text().$type<CfeType>(),
    /** Sequence number for enterprise, type and environment: the n of cfe_id. */
    sequence: p.integer(),
    caeId: p.uuid(),
    serie: p.text(),
    numero: p.integer(),
    status: p.text().$type<CfeStatus>(),
    emissionDate: p.date(),
    currency: p.text(),
    payAmount: p.decimal(),
    /** The source of the XML; fixed when the number is taken. */
    document: p.json().$type<CfeDocument>(),
    /** The customer's own number; the database takes it from the document. */
    externalId: p.text().generated(`document ->> 'externalId'`).strictNullable(),
    /** What a credit note took of each line of its original; null where the caller wrote its lines. */
    credited: p.json().$type<readonly CreditedLine[]>().strictNullable().lazy(),
    /** The certificate that signs it, fixed together with the moment of signing. */
    certificateId: p.uuid(),
    /** The signed CFE, byte for byte as sent; signed once. */
    signedXml: p.text().strictNullable().lazy(),
    /** DigestValue of the signature, base64: the hash of the QR code. */
    digest: p.text().strictNullable(),
    rejection: p.json().$type<RejectionReason[]>().strictNullable(),
    /** Why its workflow waits for support; null while it runs normally. */
    stuckReason: p.text().$type<StuckReason>().strictNullable(),
    /** The keys of `extra` without a meaning for the XML. */
    extra: p.json().$type<Record<string, unknown>>().strictNullable().lazy(),
    /**
     * Idempotency-Key of the request, permanently unique per account and environment, and the hash and outline of its
     * body.
     */
    idempotencyKey: p.text().strictNullable().lazy(),
    idempotencyHash: p.blob().strictNullable().lazy(),
    idempotencyOutline: p.json().$type<RequestOutline>().strictNullable().lazy(),
    /** The first answer about it to the request with the key, if that was later than its creation. */
    firstAnswer: p.json().$type<FirstAnswer>().strictNullable().lazy(),
    /** X-Request-Id of the request that created it; null if that was not an HTTP request. */
    requestId: p.text().strictNullable().lazy(),
    /** The API key of that request. */
    keyId: p.uuid().strictNullable().lazy(),
    /** Part of the URL of its receipt page: 128 random bits in base64url. */
    receiptToken: p.text(),
    /** The warnings in the answer to its request; null without warnings. */
    warnings: p.json().$type<RequestWarning[]>().strictNullable().lazy(),
    createdAt: p.datetime(),
    settledAt: p.datetime().strictNullable(),
  },
});

/** A fiscal receipt: its number, its certificate and CAE, and its state at the authority. */
export class Cfe extends CfeSchema.class {
  /** Only src/db/receipts/moves.ts changes it. */
  declare readonly status: CfeStatus;
}
CfeSchema.setClass(Cfe);

/** The values of a CFE, stored or not. */
export type CfeRow = Omit<Cfe, symbol>;

const ReceiptExportSchema = defineEntity({
  name: 'ReceiptExport',
  properties: {
    /** Contains RUT and month: `219999830019-2026-11-3f9a1c`, with `sandbox-` before the month. */
    id: p.text().primary(),
    rut: p.text(),
    environment: p.text().$type<Environment>(),
    /** `YYYY-MM`. */
    month: p.text(),
    withPdfs: p.boolean(),
    actor: p.text().$type<Actor>(),
    state: p.text().$type<ExportState>(),
    /** Receipts of the month at the request; how many were processed; how many files are left out. */
    total: p.integer(),
    done: p.integer(),
    leftOut: p.integer(),
    /** The file so far: its entries, the bytes of entries and directory, and its parts. */
    entries: p.integer(),
    contentBytes: p.bigint('number'),
    directoryBytes: p.bigint('number'),
    parts: p.integer(),
    /** The last processed receipt. */
    lastCfe: p.uuid().strictNullable(),
    createdAt: p.datetime(),
    movedAt: p.datetime(),
    endedAt: p.datetime().strictNullable(),
  },
});

/** An export of a month of receipts to a file, and its progress. */
export class ReceiptExport extends ReceiptExportSchema.class {}
ReceiptExportSchema.setClass(ReceiptExport);

const ReceiptExportPartSchema = defineEntity({
  name: 'ReceiptExportPart',
  properties: {
    exportId: p.text().primary(),
    /** Position, from 1. */
    place: p.integer().primary(),
    /** Entries of the zip, and their directory records, which follow the entries of all parts. */
    content: p.blob(),
    directory: p.blob(),
    /** Lines about those of these receipts that are left out. */
    leftOut: p.text(),
  },
});

/** A part of an export: the entries of some receipts. */
export class ReceiptExportPart extends ReceiptExportPartSchema.class {}
ReceiptExportPartSchema.setClass(ReceiptExportPart);
