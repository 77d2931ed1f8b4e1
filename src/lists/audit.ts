import * as z from 'zod';
import { type AuditRow, listAuditPage } from '../db/operations/auditPage.ts';
import { BY_SERIAL } from '../db/page.ts';
import { AUDIT_ACTIONS, personOf } from '../domain/operations/audit.ts';
import { formatCfeId } from '../domain/receipts/cfeId.ts';
import { type FilterValues, listOf, sinceFilters, spanBetween, TypedRut } from './list.ts';

const FILTERS = {
  person: {
    schema: z.string().max(254),
    only: 'what this person did, here or in the console',
    placeholder: 'name',
  },
  rut: { schema: TypedRut, only: 'entries about this enterprise' },
  subject: {
    schema: z.string().max(200),
    only: 'entries about this object, such as an API key or a delivery',
    placeholder: 'id',
  },
  action: { schema: z.enum(AUDIT_ACTIONS), only: 'these acts' },
  ...sinceFilters('entries'),
} as const;

type Search = FilterValues<typeof FILTERS> & { readonly accountId?: string | undefined };

/** The audit, newest entry first. */
export const AUDIT = listOf<AuditRow, Search>()({
  name: 'audit',
  filters: FILTERS,
  columns: {
    at: 'at',
    actor: 'actor',
    action: 'action',
    subject: 'subject',
    rut: 'rut',
    account_id: 'accountId',
    reason: 'reason',
    outcome: 'outcome',
    address: 'address',
    request_id: 'requestId',
    audit_id: 'id',
    person: ({ actor }) => personOf(actor),
    verified: ({ actor }) => actor !== 'unverified',
    key_id: 'keyId',
    cfe_id: ({ cfe }) => cfe && formatCfeId(cfe),
  },
  key: BY_SERIAL,
  read: (em, { since, until, ...search }, page) =>
    listAuditPage(em, { ...search, ...spanBetween(since, until) }, page),
});
