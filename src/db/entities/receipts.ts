import { defineEntity, p } from '@mikro-orm/core';
import type { RequestOutline } from '../../crypto/requestOutline.ts';
import type { Actor } from '../../domain/audit.ts';
import type { CfeDocument } from '../../domain/cfeDocument.ts';
import type { CfeStatus } from '../../domain/cfeStatus.ts';
import type { CfeType, Environment } from '../../domain/cfeTypes.ts';
import type { ExportState } from '../../domain/receiptExport.ts';
import type { RejectionReason } from '../../domain/rejection.ts';
import type { StuckReason } from '../../domain/stuckReason.ts';

/** Where a CFE stood when its request was answered after waiting (`Prefer: wait`). */
export interface FirstAnswer {
  status: CfeStatus;
  rejection: RejectionReason[] | null;
  digest: string | null;
}

const CfeSchema = defineEntity({
  name: 'Cfe',
  properties: {
    id: p.uuid().primary(),
    /** The sobre in which it is, or goes, to the authority; null while it waits to be put into one. */
    sobreId: p.uuid().strictNullable(),
    /** Under which the run of that sobre goes, or of the last one; null before the first. */
    workflowId: p.text().strictNullable(),
    /** A note whose original has no verdict yet: it is put into no sobre. */
    held: p.boolean(),
    accountId: p.uuid(),
    rut: p.text(),
    environment: p.text().$type<Environment>(),
    type: p.text().$type<CfeType>(),
    /** Place in the enterprise's own sequence for type and environment: the n of cfe_id. */
    sequence: p.integer(),
    caeId: p.uuid(),
    serie: p.text(),
    numero: p.integer(),
    status: p.text().$type<CfeStatus>(),
    emissionDate: p.date(),
    currency: p.text(),
    payAmount: p.decimal(),
    /** Everything the XML is written from; fixed when the number is taken. */
    document: p.json().$type<CfeDocument>(),
    /** The original that a note corrects. */
    referenceId: p.uuid().strictNullable(),
    /** What the note takes from its original, in the original's currency (MntCFEref). */
    referenceAmount: p.decimal().strictNullable(),
    /** Certificate that signs it, fixed together with the moment of signing. */
    certificateId: p.uuid(),
    /** The signed CFE, byte for byte as sent; made once. */
    signedXml: p.text().strictNullable().lazy(),
    /** DigestValue of the signature, base64: the hash of the QR code. */
    digest: p.text().strictNullable(),
    rejection: p.json().$type<RejectionReason[]>().strictNullable(),
    /** Why its workflow waits for support; null while all goes by itself. */
    stuckReason: p.text().$type<StuckReason>().strictNullable(),
    /** The keys of `extra` without a meaning for the XML; kept, never returned. */
    extra: p.json().$type<Record<string, unknown>>().strictNullable().lazy(),
    /** Idempotency-Key of the request, unique per account and environment, for ever; and what its body was. */
    idempotencyKey: p.text().strictNullable().lazy(),
    idempotencyHash: p.blob().strictNullable().lazy(),
    idempotencyOutline: p.json().$type<RequestOutline>().strictNullable().lazy(),
    /** How the CFE was first answered to the request with the key, where that was not as it was taken. */
    firstAnswer: p.json().$type<FirstAnswer>().strictNullable().lazy(),
    /** X-Request-Id of the request that took it; null where that was no request over HTTP. */
    requestId: p.text().strictNullable().lazy(),
    /** The API key of that request. */
    keyId: p.uuid().strictNullable().lazy(),
    /** In the address of its receipt page: 128 random bits in base64url. */
    receiptToken: p.text(),
    createdAt: p.datetime(),
    settledAt: p.datetime().strictNullable(),
  },
});

/** A fiscal receipt: its number, its certificate and CAE, and its state at the authority. */
export class Cfe extends CfeSchema.class {
  /** Moved by src/db/moves.ts alone. */
  declare readonly status: CfeStatus;
}
CfeSchema.setClass(Cfe);

/** The values of a CFE, wherever they come from. */
export type CfeRow = Omit<Cfe, symbol>;

const ReceiptExportSchema = defineEntity({
  name: 'ReceiptExport',
  properties: {
    /** Says of whom and of which month: `219999830019-2026-11-3f9a1c`, with `sandbox-` before the month. */
    id: p.text().primary(),
    rut: p.text(),
    environment: p.text().$type<Environment>(),
    /** `YYYY-MM`. */
    month: p.text(),
    withPdfs: p.boolean(),
    actor: p.text().$type<Actor>(),
    state: p.text().$type<ExportState>(),
    /** Receipts of the month when it was asked for; how many of them were looked at; how many files are left out. */
    total: p.integer(),
    done: p.integer(),
    leftOut: p.integer(),
    /** What the file has so far: how many entries, their bytes and those of its directory, in how many parts. */
    entries: p.integer(),
    contentBytes: p.bigint('number'),
    directoryBytes: p.bigint('number'),
    parts: p.integer(),
    /** The receipt that was looked at last. */
    lastCfe: p.uuid().strictNullable(),
    createdAt: p.datetime(),
    movedAt: p.datetime(),
    endedAt: p.datetime().strictNullable(),
  },
});

/** The receipts of a month that somebody asked for as a file, and how far that is. */
export class ReceiptExport extends ReceiptExportSchema.class {}
ReceiptExportSchema.setClass(ReceiptExport);

const ReceiptExportPartSchema = defineEntity({
  name: 'ReceiptExportPart',
  properties: {
    exportId: p.text().primary(),
    /** From 1 on. */
    place: p.integer().primary(),
    /** Some entries of the zip; their records in its directory, which stands behind the entries of all parts. */
    content: p.blob(),
    directory: p.blob(),
    /** Lines about what of these receipts is not in the file. */
    leftOut: p.text(),
  },
});

/** A part of a month's file: the entries of some receipts. */
export class ReceiptExportPart extends ReceiptExportPartSchema.class {}
ReceiptExportPartSchema.setClass(ReceiptExportPart);
