import type { Payment } from '../db/entities/enterprises.ts';
import { BY_RUT } from '../db/page.ts';
import { listPayments, listPlannedEnterprises, type PlannedEnterprise } from '../db/people/payments.ts';
import { exactNumber } from '../domain/values/exactNumber.ts';
import { Rut } from '../domain/values/rut.ts';
import { listOf, loadedAtOnce } from './list.ts';

/** Payments for plans, newest first. */
export const PAYMENTS = listOf<Payment, { readonly rut?: string | undefined }>()({
  name: 'payments',
  filters: { rut: { schema: Rut, only: 'payments of this enterprise' } } as const,
  columns: {
    created_at: 'createdAt',
    plan_id: 'planId',
    frequency_id: 'frequencyId',
    amount: ({ amount }) => exactNumber(amount),
    currency: 'currency',
    status: 'status',
    settled_at: 'settledAt',
    payment_id: 'id',
    enterprise_rut: 'rut',
  },
  ...loadedAtOnce(
    ({ id }) => id,
    (em, search) => listPayments(em, search),
  ),
});

interface PlanSearch {
  readonly accountId: string;
  /** Since when CFEs count. */
  readonly monthStart: Date;
}

/** Enterprises at which an account has a role, with their plans; by RUT. */
export const PLANNED_ENTERPRISES = listOf<PlannedEnterprise, PlanSearch>()({
  name: 'plan',
  filters: {},
  columns: {
    rut: 'rut',
    legal_name: 'legalName',
    plan_id: 'planId',
    frequency_id: 'frequencyId',
    amount: ({ amount }) => (amount === null ? null : exactNumber(amount)),
    currency: 'currency',
    used: 'used',
    due: 'due',
    role: 'role',
  },
  key: BY_RUT,
  read: (em, { accountId, monthStart }, page) => listPlannedEnterprises(em, accountId, monthStart, page),
});
