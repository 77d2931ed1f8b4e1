/** Plans and payments of enterprises. */
import { type EntityManager, LockMode } from '@mikro-orm/postgresql';
import type { MemberRole } from '../../domain/people/people.ts';
import { isUuid } from '../../domain/values/uuid.ts';
import { Payment, Plan } from '../entities/enterprises.ts';
import type { ListPage } from '../page.ts';
import { givenConditions } from '../sql.ts';

/** Returns all plans on sale. */
export function listPlans(em: EntityManager): Promise<Plan[]> {
  return em.find(Plan, {}, { orderBy: { planId: 'asc', frequencyId: 'asc' } });
}

/** Stores plans; replaces those with the same name and frequency. */
export async function putPlans(em: EntityManager, plans: readonly Omit<Plan, symbol>[]): Promise<void> {
  if (plans.length > 0)
    await em.upsertMany(Plan, [...plans], { onConflictFields: ['planId', 'frequencyId'] });
}

// The enterprises at which an account has a role, with their plans.

/** An enterprise with its plan. */
export interface PlannedEnterprise {
  readonly rut: string;
  readonly legalName: string;
  /** The role of the account. */
  readonly role: MemberRole;
  readonly planId: string | null;
  readonly frequencyId: string | null;
  /** Current price of the plan, as decimal text; null without a plan, or if it is no longer on sale. */
  readonly amount: string | null;
  readonly currency: string | null;
  /** CFEs of production since the start of the month. */
  readonly used: number;
  /** Unpaid payments. */
  readonly due: number;
}

/** Returns a page of these enterprises, by RUT; or `only` one. `monthStart`: since when CFEs count. */
export function listPlannedEnterprises(
  em: EntityManager,
  accountId: string,
  monthStart: Date,
  { after, limit, only }: ListPage & { only?: string },
): Promise<PlannedEnterprise[]> {
  return em.execute(
    `select e.rut, e.legal_name as "legalName", held.role, e.plan_id as "planId", e.frequency_id as "frequencyId",
       plan.amount::text as amount, plan.currency,
       (select count(*)::int from cfe where cfe.rut = e.rut and environment = 'production' and created_at >= ?) as used,
       (select count(*)::int from payment where payment.rut = e.rut and status = 'PENDING') as due
     from (
       select rut, 'OWNER' as role from enterprise where owner_account_id = ?
       union all
       select rut, role from enterprise_grant g where account_id = ?
         and not exists (select from enterprise own where own.rut = g.rut and own.owner_account_id = g.account_id)) held
     join enterprise e on e.rut = held.rut
     left join plan on plan.plan_id = e.plan_id and plan.frequency_id = e.frequency_id
     where e.rut > ? and e.rut = coalesce(?, e.rut) order by e.rut limit ?`,
    [monthStart, accountId, accountId, after?.[0] ?? '', only ?? null, limit],
  );
}

/** Returns the payment with this id, locked until the open transaction ends, or null. */
export async function lockPayment(em: EntityManager, id: string): Promise<Payment | null> {
  return isUuid(id) ? em.findOne(Payment, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE }) : null;
}

/** Returns payments, newest first: all, or those of one enterprise. */
export function listPayments(
  em: EntityManager,
  { rut }: { rut?: string | undefined } = {},
): Promise<Payment[]> {
  return em.find(Payment, givenConditions({ rut }), {
    orderBy: { createdAt: 'desc', id: 'desc' },
  });
}
