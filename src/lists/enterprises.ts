import * as z from 'zod';
import {
  type EnterpriseFilter,
  type ListedEnterprise,
  listVisibleEnterprises,
} from '../db/enterprises/consoleEnterprises.ts';
import {
  type DocumentWarning,
  type DocumentWarningFilter,
  listDocumentWarnings,
} from '../db/enterprises/documentWarnings.ts';
import { type ListedBranch, listBranches } from '../db/enterprises/enterprises.ts';
import { BY_RUT, listOrder } from '../db/page.ts';
import { ENTERPRISE_STATUSES, READY_FACT_NAMES } from '../domain/enterprises/enterpriseStatus.ts';
import { listOf, loadedAtOnce, type VisibleTo } from './list.ts';

/** Enterprises by RUT, with what they lack to issue. */
export const ENTERPRISES = listOf<ListedEnterprise, EnterpriseFilter & VisibleTo & { readonly now: Date }>()({
  name: 'enterprises',
  filters: {
    text: {
      schema: z.string().max(200),
      only: 'enterprises with this beginning of their RUT or part of a name',
    },
    status: { schema: z.enum(ENTERPRISE_STATUSES), only: 'enterprises with this status' },
    lacks: { schema: z.enum(READY_FACT_NAMES), only: 'enterprises that lack this to issue' },
  } as const,
  columns: {
    rut: 'rut',
    legal_name: 'legalName',
    status: 'status',
    lacks: 'missing',
    certificate_ends: 'certificateEnds',
    next_cae_ends: 'caeEnds',
    last_cfe_at: 'lastCfeAt',
  },
  key: BY_RUT,
  read: (em, { accounts, now, ...filter }, page) =>
    listVisibleEnterprises(em, accounts, filter, { ...page, now }),
});

/** CAEs and certificates that expire soon or expired recently, and types whose numbers run low; by day. */
export const DOCUMENT_WARNINGS = listOf<DocumentWarning, DocumentWarningFilter & VisibleTo>()({
  name: 'warnings',
  filters: {},
  columns: {
    rut: 'rut',
    legal_name: 'legalName',
    document: ({ type }) => type ?? 'CERTIFICATE',
    kind: 'kind',
    serie: 'serie',
    authorization_number: 'authorizationNumber',
    ends: 'ends',
    numbers_left: 'numbersLeft',
  },
  key: listOrder({ day: 'date', kind: 'text', id: 'uuid' }),
  read: (em, { accounts, ...filter }, page) => listDocumentWarnings(em, accounts, filter, page),
});

/** Branches of an enterprise, its first one on top. */
export const BRANCHES = listOf<ListedBranch, { readonly rut: string }>()({
  name: 'branches',
  filters: {},
  columns: {
    branch: 'branch',
    street_name: 'streetName',
    locality_name: 'localityName',
    department_name: 'departmentName',
    phone_number: 'phoneNumber',
    closed_at: 'closedAt',
  },
  ...loadedAtOnce(
    ({ branch }) => String(branch),
    (em, { rut }) => listBranches(em, rut),
  ),
});
