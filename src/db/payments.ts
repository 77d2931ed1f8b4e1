import { type EntityManager, LockMode } from '@mikro-orm/postgresql';
import { isUuid } from '../domain/uuid.ts';
import { Payment } from './entities/Payment.ts';

/** Stores a payment when the open transaction is flushed. */
export function insertPayment(em: EntityManager, values: Omit<Payment, symbol>): Payment {
  return em.create(Payment, values);
}

/** The payment with this id, locked until the open transaction ends, or null. */
export async function lockPayment(em: EntityManager, id: string): Promise<Payment | null> {
  return isUuid(id) ? em.findOne(Payment, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE }) : null;
}

/** Payments, newest first: all, or those of one enterprise. */
export function listPayments(
  em: EntityManager,
  { rut }: { rut?: string | undefined } = {},
): Promise<Payment[]> {
  return em.find(Payment, rut === undefined ? {} : { rut }, {
    orderBy: { createdAt: 'desc', id: 'desc' },
  });
}
