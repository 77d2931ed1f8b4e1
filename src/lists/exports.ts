import * as z from 'zod';
import type { ReceiptExport } from '../db/entities/receipts.ts';
import { newestFirst } from '../db/page.ts';
import { listExports } from '../db/receipts/receiptExports.ts';
import { ENVIRONMENTS } from '../domain/receipts/cfeTypes.ts';
import { Month } from '../domain/receipts/receiptExport.ts';
import { type FilterValues, listOf, TypedRut, type VisibleTo } from './list.ts';

const FILTERS = {
  rut: { schema: TypedRut, only: 'exports of this enterprise' },
  month: { schema: Month, only: 'exports of this month' },
  environment: { schema: z.enum(ENVIRONMENTS), only: 'exports of this environment' },
} as const;

/** Requested exports of receipts, newest first. */
export const EXPORTS = listOf<ReceiptExport, FilterValues<typeof FILTERS> & VisibleTo>()({
  name: 'exports',
  filters: FILTERS,
  columns: {
    month: 'month',
    rut: 'rut',
    environment: 'environment',
    state: 'state',
    with_pdfs: 'withPdfs',
    receipts: 'total',
    left_out: 'leftOut',
    created_at: 'createdAt',
    export_id: 'id',
  },
  key: newestFirst('text'),
  read: (em, { accounts, ...search }, page) => listExports(em, accounts, search, page),
});
