/** The rights of each program in the database; the owner of the tables migrates them and grants these rights. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { ENTERPRISE_FIELDS } from '../domain/enterprises/enterpriseFields.ts';

/** The programs that log in to the database, each with its own role; `operator` is the command line. */
export const PROGRAMS = ['api', 'console', 'worker', 'operator'] as const;
export type Program = (typeof PROGRAMS)[number];

/**
 * Returns the database role of a program. The name is fixed: dumps and base backups contain it. @internal exported
 * for tests
 */
export const databaseRoleOf = (program: Program): string => `cfe_${program}`;

/** The columns of a certificate for programs that must not read its sealed private key. */
const ALL_BUT_THE_KEY =
  'id, rut, environment, subject, not_before, not_after, certificate, intermediates, created_at, replaced_at, checked_at, untrusted_at, revoked_at';

/** The columns of a webhook that select receivers of an event. */
const ALL_BUT_THE_SECRETS = 'id, account_id, events, enabled, created_at, removed_at';

/** The columns of an enterprise that customers may change: not its owner, its status, or facts from the authority. */
const OF_THE_CUSTOMER = [
  ...Object.keys(ENTERPRISE_FIELDS),
  'logo_sha256',
  'is_new_enterprise',
  'scheduled_ready_date',
  'plan_id',
  'frequency_id',
  'efactura_status',
  'sealed_login',
].join(', ');

/**
 * The rights of each program per table, in PostgreSQL's syntax: `update (name)` is that column alone, and also allows
 * to lock rows. No program may use an unlisted table; most tables allow no delete.
 *
 * @internal exported for tests
 */
export const RIGHTS: Readonly<Record<string, Readonly<Partial<Record<Program, string>>>>> = {
  account: {
    api: 'select (id, is_developer)',
    // Only to lock accounts: changes nothing.
    console: 'select, insert, update (created_at)',
    operator: 'select, insert, update (name, email, is_developer)',
  },
  account_event: {
    api: 'select, insert, update (position)',
    console: 'select, insert',
    worker: 'select, insert',
    operator: 'select, insert',
  },
  account_invitation: {
    console: 'select, insert, update (ended_at)',
    worker: 'select, update (ended_at), delete',
    operator: 'select, update (ended_at)',
  },
  annulment: {
    api: 'select',
    console: 'select, insert',
    worker: 'select, insert',
    operator: 'select, insert',
  },
  api_key: {
    api: 'select, update (last_used_at)',
    console: 'select, insert, update (revoked_at)',
    operator: 'select, insert, update (revoked_at)',
  },
  audit: {
    api: 'select (id), insert',
    console: 'select, insert',
    worker: 'select, insert',
    operator: 'select, insert',
  },
  authority_attempt: {
    console: 'select',
    worker: 'select, insert, update, delete',
    operator: 'select',
  },
  authority_certificate: {
    api: 'select',
    console: 'select',
    worker: 'select',
    operator: 'select, insert, update (environment)',
  },
  // Every program that calls the authority, even for a look-up, counts failures of its services.
  authority_endpoint: {
    api: 'select, insert, update',
    console: 'select, insert, update',
    worker: 'select, insert, update',
    operator: 'select, insert, update',
  },
  branch: {
    api: 'select, insert, update, delete',
    console: 'select, insert, update, delete',
    operator: 'select, insert, update, delete',
  },
  cae: {
    api: 'select, insert, update (last_number)',
    console: 'select, insert, update (last_number, withheld)',
    // The worker numbers the receipts of test runs.
    worker: 'select, update (last_number, withheld, start_open, start_findings)',
    operator: 'select, insert, update (last_number, number_end, elsewhere, withheld), delete',
  },
  certificate: {
    api: `select (${ALL_BUT_THE_KEY}), insert, update (replaced_at)`,
    console: `select (${ALL_BUT_THE_KEY}), insert, update (replaced_at)`,
    worker: 'select, update (sealed_key, checked_at, untrusted_at, revoked_at)',
    operator: 'select, insert, update (replaced_at, sealed_key)',
  },
  cfe: {
    api: 'select, insert, update (first_answer)',
    // Console and operator issue credit notes; the update only locks a CFE, and changes nothing.
    console: 'select, insert, update (request_id)',
    worker: 'select, insert, update',
    operator: 'select, insert, update (request_id)',
  },
  cfe_reference: {
    api: 'select, insert',
    console: 'select, insert',
    worker: 'select, insert',
    operator: 'select, insert',
  },
  cfe_sequence: {
    api: 'select, insert, update (last)',
    console: 'select, insert, update (last, skipped)',
    worker: 'select, insert, update (last)',
    operator: 'select, insert, update (last, skipped)',
  },
  console_session: {
    console: 'select, insert, update (seen_at, ended_at), delete',
    worker: 'select (id, created_at), delete',
    operator: 'select, update (ended_at)',
  },
  credentials_checks: {
    api: 'select, insert, update',
    console: 'select, insert, update, delete',
    worker: 'select, update',
    operator: 'select, insert, update, delete',
  },
  customer: {
    api: 'select, insert, update, delete',
    console: 'select, insert, update, delete',
    worker: 'select',
    operator: 'select, insert, update, delete',
  },
  daily_count: {
    api: 'select, insert, update',
    console: 'select, insert, update',
    worker: 'select, insert, update, delete',
    operator: 'select, insert, update',
  },
  daily_report: {
    api: 'select',
    console: 'select, insert, update',
    worker: 'select, insert, update',
    operator: 'select, insert, update, delete',
  },
  delivery: {
    api: 'select, insert',
    console: 'select, insert, update',
    worker: 'select, insert, update, delete',
    operator: 'select, insert, update',
  },
  delivery_attempt: {
    console: 'select',
    worker: 'select, insert, update, delete',
    operator: 'select',
  },
  directory_entry: { console: 'select', worker: 'select, insert, update' },
  directory_load: { worker: 'select, insert, update' },
  enterprise: {
    api: `select, insert, update (${OF_THE_CUSTOMER})`,
    console: 'select, update',
    worker:
      'select, update (status, efactura_status, login_status, permissions, listed_issuer, last_validated_at, expiries_told_at)',
    operator: 'select, insert, update',
  },
  enterprise_grant: {
    api: 'select',
    console: 'select, insert, update (role), delete',
    worker: 'select',
    operator: 'select, insert, update (role), delete',
  },
  event: {
    api: 'select, insert',
    console: 'select, insert',
    worker: 'select, insert, update (created_at), delete',
    operator: 'select, insert',
  },
  exchange: { console: 'select', worker: 'select, insert, update', operator: 'select' },
  exchange_rate: {
    api: 'select',
    console: 'select',
    worker: 'select, insert',
    operator: 'select, insert, update (rate, source)',
  },
  failed_authentication: {
    api: 'select, insert, update',
    worker: 'select, update, delete',
  },
  form_count: { console: 'select, insert, update', worker: 'select, update (since), delete' },
  homologation: {
    api: 'select, insert, update (status, moved_at)',
    console: 'select, insert, update (status, moved_at)',
    worker: 'select, update',
    operator: 'select, insert, update (status, moved_at)',
  },
  homologation_item: {
    api: 'select, insert',
    console: 'select, insert',
    worker: 'select, update (cfe_uuid)',
    operator: 'select, insert',
  },
  idempotent_answer: {
    api: 'select, insert, update',
    console: 'select',
    worker: 'select, update (created_at), delete',
    operator: 'select',
  },
  invitation: {
    console: 'select, insert, update (ended_at)',
    worker: 'select, update (ended_at), delete',
    operator: 'select (person_id, ended_at), insert, update (ended_at)',
  },
  logo: {
    api: 'select, insert',
    console: 'select, insert',
    worker: 'select',
  },
  mail: {
    api: 'select, insert',
    console: 'select, insert, update',
    worker: 'select, insert, update',
    operator: 'select, insert, update',
  },
  mail_attempt: { console: 'select', worker: 'select, insert, update, delete', operator: 'select' },
  mail_bounce: {
    api: 'select',
    console: 'select, delete',
    worker: 'select, insert, update (since), delete',
    operator: 'select, delete',
  },
  membership: {
    console: 'select, insert, update (role), delete',
    operator: 'select, insert, update (role), delete',
  },
  migration: { api: 'select', console: 'select', worker: 'select', operator: 'select' },
  outbox: {
    api: 'select, insert, update (attempts, dispatched_at, not_before)',
    console: 'select, insert, update (attempts, dispatched_at, not_before)',
    worker: 'select, insert, update (attempts, dispatched_at, not_before), delete',
    operator: 'select (id), insert',
  },
  payment: {
    api: 'select, insert',
    console: 'select, insert, update (status, settled_at)',
    operator: 'select, update (status, settled_at)',
  },
  person: { console: 'select, insert, update', operator: 'select, insert, update' },
  plan: {
    api: 'select',
    console: 'select',
    operator: 'select, insert, update (amount, currency)',
  },
  rate_limit: {
    api: 'select',
    console: 'select, insert, update (per_hour)',
    worker: 'select',
    operator: 'select, insert, update (per_hour)',
  },
  provider_report: { operator: 'select, insert, update, delete' },
  service_time: {
    console: 'select, insert, update (ended_on)',
    worker: 'select, insert',
    operator: 'select, insert, update (ended_on)',
  },
  receipt_export: {
    console: 'select, insert, update',
    worker: 'select, update',
    operator: 'select, update (state, moved_at, ended_at)',
  },
  receipt_export_part: {
    console: 'select, delete',
    worker: 'select, insert, update, delete',
    operator: 'select (export_id), delete',
  },
  reporting_obligation: {
    console: 'select, insert, update',
    worker: 'select, insert, update',
    operator: 'select, insert, update',
  },
  report_submission: {
    api: 'select',
    console: 'select',
    worker: 'select, insert, update',
    operator: 'select',
  },
  request_count: { api: 'select, insert, update', worker: 'select, update, delete' },
  run: {
    console: 'select, insert, update',
    worker: 'select, update',
    operator: 'select, insert, update',
  },
  run_item: {
    console: 'select, insert',
    worker: 'select, update, delete',
    operator: 'select, insert',
  },
  saved_filter: { console: 'select, insert, update (query), delete' },
  sign_in_count: { console: 'select, insert, update, delete', worker: 'select, update (since), delete' },
  sobre: {
    api: 'select (id, environment, rut, state, slot), insert',
    console: 'select, insert',
    worker: 'select, insert, update',
    operator: 'select, insert',
  },
  sobre_cfe: {
    api: 'insert',
    console: 'select, insert',
    worker: 'select, insert, update (id_receptor, token)',
    operator: 'select, insert',
  },
  sobre_sequence: {
    console: 'select, insert, update (last, set_to, set_from)',
    worker: 'select, insert, update',
    operator: 'select, insert, update (last, set_to, set_from)',
  },
  stuck_moment: { console: 'select', operator: 'select' },
  ui_value: {
    api: 'select',
    console: 'select, insert, update',
    worker: 'select',
    operator: 'select, insert, update',
  },
  warning: { console: 'select', worker: 'select, insert, update, delete' },
  webhook: {
    api: `select (${ALL_BUT_THE_SECRETS})`,
    console: 'select, insert, update',
    worker: 'select, update (enabled, disabled_reason)',
    operator: 'select, insert, update',
  },
};

/** Returns whether the current role may change the tables, or create missing ones. */
export async function ownsTables(em: EntityManager): Promise<boolean> {
  const [row] = await em.execute<{ owns: boolean }[]>(
    `select has_schema_privilege('public', 'create')
       and coalesce((select pg_has_role(relowner, 'usage') from pg_class where oid = to_regclass('migration')), true)
       as owns`,
  );
  return row?.owns === true;
}

/**
 * Grants RIGHTS to each program's role and revokes all other rights. Requires the owner of the tables; skips roles
 * that do not exist, and the current one. Safe to repeat.
 */
export async function grantRights(em: EntityManager): Promise<void> {
  for (const program of PROGRAMS) {
    const role = databaseRoleOf(program);
    const [there] = await em.execute('select 1 from pg_roles where rolname = ? and rolname <> current_user', [
      role,
    ]);
    if (!there) continue;
    const grants = Object.entries(RIGHTS).flatMap(([table, { [program]: rights }]) =>
      rights === undefined ? [] : [`grant ${rights} on ${table} to ${role};`],
    );
    await em.execute(`
      grant usage on schema public to ${role};
      revoke all on all tables in schema public from ${role};
      ${grants.join('\n')}
    `);
  }
}

/**
 * Creates the programs' roles, with these passwords for login; sets the password of existing ones. Requires the owner
 * of the server, as in the local stack; the compose file has a job for it.
 */
export async function ensureRoles(
  em: EntityManager,
  passwords: Readonly<Record<Program, string>>,
): Promise<void> {
  await em.transactional(async (transaction) => {
    for (const program of PROGRAMS) {
      const role = databaseRoleOf(program);
      const [there] = await transaction.execute('select 1 from pg_roles where rolname = ?', [role]);
      if (!there) await transaction.execute(`create role ${role} login`);
      // `alter role` takes no parameter for the password.
      const [row] = await transaction.execute<{ statement: string }[]>(
        `select format('alter role ${role} password %L', ?::text) as statement`,
        [passwords[program]],
      );
      await transaction.execute(String(row?.statement));
    }
  });
}
