/** Data at an enterprise that a new owner must not get: counted before a transfer, and removed by it. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { ENTERPRISE_FIELDS } from '../../domain/enterprises/enterpriseFields.ts';
import { removableColumns } from '../../domain/requests/fields.ts';
import {
  Branch,
  CredentialsChecks,
  Customer,
  type Enterprise,
  EnterpriseGrant,
  Payment,
} from '../entities/enterprises.ts';
import { Mail } from '../entities/mail.ts';
import { ReceiptExport } from '../entities/receipts.ts';
import { listActiveTestRuns, moveTestRun } from './homologations.ts';

/** Counts, and names of fields, for operators. */
export interface OwnerData {
  /** Set fields of the enterprise, by the API's names; `login` for the stored one. */
  readonly data: readonly string[];
  readonly customers: number;
  /** Enabled e-mail addresses of the customers. */
  readonly addresses: number;
  /** Additional branches. */
  readonly branches: number;
  /** Roles of other accounts. */
  readonly grants: number;
  /** Unpaid payments. */
  readonly payments: number;
  /** E-mails that are not sent yet. */
  readonly mails: number;
  /** Exports of receipts that are running or done. */
  readonly exports: number;
  /** Webhook deliveries not sent yet. */
  readonly deliveries: number;
}

/** The enterprise's own fields to reset, by the API's names; required fields stay. */
const DATA = {
  ...removableColumns(ENTERPRISE_FIELDS),
  logo: 'logoSha256',
  plan_id: 'planId',
  frequency_id: 'frequencyId',
  scheduled_ready_date: 'scheduledReadyDate',
  login: 'sealedLogin',
} as const satisfies Readonly<Record<string, keyof Enterprise>>;

const MADE_OR_BEING_MADE = { state: { $in: ['RUNNING', 'DONE'] as const } };
/** Deliveries to the new owner's webhooks stay. */
const DELIVERIES = `delivery where status = 'PENDING' and event_id in (select id from event where rut = ?)
  and webhook_id in (select id from webhook where account_id is distinct from ?::uuid)`;

/** Counts the data at an enterprise that the account `to` would not take over; null: a new account. */
export async function countOwnerData(
  em: EntityManager,
  enterprise: Enterprise,
  to: string | null,
): Promise<OwnerData> {
  const { rut } = enterprise;
  const countOf = async (sql: string, ...values: unknown[]): Promise<number> => {
    const [row] = await em.execute<{ n: number }[]>(`select count(*)::integer as n from ${sql}`, [
      rut,
      ...values,
    ]);
    return row?.n ?? 0;
  };
  return {
    data: Object.entries(DATA).flatMap(([name, field]) => (enterprise[field] === null ? [] : [name])),
    customers: await em.count(Customer, { rut }),
    addresses: await countOf(
      `customer cross join lateral jsonb_to_recordset(notifications) as notification (enabled boolean)
       where rut = ? and notification.enabled`,
    ),
    branches: await em.count(Branch, { rut }),
    grants: await em.count(EnterpriseGrant, { rut }),
    payments: await em.count(Payment, { rut, status: 'PENDING' }),
    mails: await em.count(Mail, { rut, status: 'PENDING' }),
    exports: await em.count(ReceiptExport, { rut, ...MADE_OR_BEING_MADE }),
    deliveries: await countOf(DELIVERIES, to),
  };
}

/**
 * Removes this data with the open transaction, which holds the locks of branches and enterprise. Workflows of its
 * e-mails, exports and events find their rows ended; a check of the login has nothing to do.
 */
export async function removeOwnerData(
  em: EntityManager,
  enterprise: Enterprise,
  to: string,
  now: Date,
): Promise<void> {
  const { rut } = enterprise;
  for (const field of Object.values(DATA)) enterprise[field] = null;
  Object.assign(enterprise, {
    efacturaStatus: 'NOT_VALIDATED',
    loginStatus: 'NOT_ATTEMPTED',
    permissions: [],
    lastValidatedAt: null,
  });
  await em.nativeDelete(CredentialsChecks, { rut });
  await em.nativeDelete(Customer, { rut });
  await em.nativeDelete(Branch, { rut });
  await em.nativeDelete(EnterpriseGrant, { rut });
  const ended = { settledAt: now };
  await em.nativeUpdate(Payment, { rut, status: 'PENDING' }, { status: 'CANCELLED', ...ended });
  const transferred = { status: 'FAILED', error: 'transferred', askedAgain: false, ...ended } as const;
  await em.nativeUpdate(Mail, { rut, status: 'PENDING' }, transferred);
  const stopped = { state: 'STOPPED', movedAt: now, endedAt: now } as const;
  await em.nativeUpdate(ReceiptExport, { rut, ...MADE_OR_BEING_MADE }, stopped);
  for (const run of await listActiveTestRuns(em, rut)) await moveTestRun(em, run, 'STOPPED', now);
  await em.execute(
    'delete from receipt_export_part where export_id in (select id from receipt_export where rut = ?)',
    [rut],
  );
  await em.execute(
    `update delivery set status = 'FAILED', settled_at = ?, next_attempt_at = null, asked_again = false
     where id in (select id from ${DELIVERIES})`,
    [now, rut, to],
  );
}
