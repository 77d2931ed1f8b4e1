import { defineEntity, p } from '@mikro-orm/core';
import type { Actor } from '../../domain/audit.ts';
import type { Environment } from '../../domain/cfeTypes.ts';
import type { ExportState } from '../../domain/receiptExport.ts';

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
