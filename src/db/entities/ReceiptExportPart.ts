import { defineEntity, p } from '@mikro-orm/core';

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
