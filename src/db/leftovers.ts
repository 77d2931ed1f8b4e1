/** What an account has put into an enterprise that may not be its own: looked at before a transfer, and taken out by it. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { ENTERPRISE_FIELDS } from '../domain/enterpriseFields.ts';
import { removableOf } from '../domain/fields.ts';
import {
  Branch,
  CredentialsChecks,
  Customer,
  type Enterprise,
  EnterpriseGrant,
  Payment,
} from './entities/enterprises.ts';
import { Mail } from './entities/mail.ts';
import { ReceiptExport } from './entities/receipts.ts';

/** Counts, and the names of fields, as an operator sees them. */
export interface Leftovers {
  /** Fields of the enterprise that are set, by the API's names; `login` for the stored one. */
  readonly data: readonly string[];
  readonly customers: number;
  /** E-mail addresses of those customers that are enabled. */
  readonly addresses: number;
  /** Beside the first. */
  readonly branches: number;
  /** Roles of other accounts. */
  readonly grants: number;
  /** Not paid yet. */
  readonly payments: number;
  /** On their way. */
  readonly mails: number;
  /** Files of receipts that are being made, or there. */
  readonly exports: number;
  /** Webhooks' deliveries on their way. */
  readonly deliveries: number;
}

/** What is set back of the enterprise itself, by the API's names; what it cannot be without stays. */
const DATA = {
  ...removableOf(ENTERPRISE_FIELDS),
  logo: 'logoSha256',
  plan_id: 'planId',
  frequency_id: 'frequencyId',
  scheduled_ready_date: 'scheduledReadyDate',
  login: 'sealedLogin',
} as const satisfies Readonly<Record<string, keyof Enterprise>>;

const MADE_OR_BEING_MADE = { state: { $in: ['RUNNING', 'DONE'] as const } };
/** Those of webhooks of the account that is to own it are its own, and stay. */
const DELIVERIES = `delivery where status = 'PENDING' and event_id in (select id from event where rut = ?)
  and webhook_id in (select id from webhook where account_id is distinct from ?::uuid)`;

/** What there is at an enterprise that the account `to` would not take over; null: an account unknown yet. */
export async function countLeftovers(
  em: EntityManager,
  enterprise: Enterprise,
  to: string | null,
): Promise<Leftovers> {
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
      `customer cross join lateral jsonb_to_recordset(notifications) as told (enabled boolean)
       where rut = ? and told.enabled`,
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
 * Takes all of it out that the account `to` does not take over, with the open transaction, which holds the locks of the branches and the enterprise. Workflows that
 * bring an e-mail, a file or an event find it ended; one that checks the login has nothing to do.
 */
export async function removeLeftovers(
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
