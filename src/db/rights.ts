/** What the role of the service may do in the database; the owner of the tables migrates them and gives these rights. */
import type { EntityManager } from '@mikro-orm/postgresql';

/** The role that API, worker and command line log in as. Without it they are the owner, and these rights are none. */
const APP_ROLE = 'cfe_app';

/** Nothing of these is ever removed. */
const KEPT = [
  'account',
  'annulment',
  'api_key',
  'cae',
  'certificate',
  'cfe',
  'cfe_sequence',
  'enterprise',
  'exchange',
  'mail',
  'payment',
  'person',
  'receipt_export',
  'report_duty',
  'report_submission',
  'run',
  'sobre',
  'sobre_sequence',
  'stuck_moment',
];

/** Whether the role that asks may change the tables, or make them where there are none. */
export async function ownsTables(em: EntityManager): Promise<boolean> {
  const [row] = await em.execute<{ owns: boolean }[]>(
    `select has_schema_privilege('public', 'create')
       and coalesce((select pg_has_role(relowner, 'usage') from pg_class where oid = to_regclass('migration')), true)
       as owns`,
  );
  return row?.owns === true;
}

/**
 * Gives the role of the service its rights on all tables, those of this migration too: rows, not tables; of the audit
 * and of annulments only adding and reading; of the migrations only reading. For the owner of the tables. Does nothing where there is no
 * such role, or where it is who asks. Safe to repeat; rights that it has beyond these are taken away.
 */
export async function grantRights(em: EntityManager): Promise<void> {
  const [role] = await em.execute<{ named: boolean }[]>(
    'select true as named from pg_roles where rolname = ? and rolname <> current_user',
    [APP_ROLE],
  );
  if (!role) return;
  await em.execute(`
    grant usage on schema public to ${APP_ROLE};
    revoke all on all tables in schema public from ${APP_ROLE};
    grant select, insert, update, delete on all tables in schema public to ${APP_ROLE};
    revoke delete on ${KEPT.join(', ')} from ${APP_ROLE};
    revoke update, delete on audit, annulment from ${APP_ROLE};
    revoke insert, update, delete on migration from ${APP_ROLE};
    grant usage on all sequences in schema public to ${APP_ROLE};
  `);
}

/**
 * Makes the role of the service, which may log in to this database with `password`; who is there gets that password.
 * For whoever owns the server, as the local stack does; the compose file has a job for it.
 */
export async function ensureAppRole(em: EntityManager, password: string): Promise<void> {
  await em.transactional(async (transaction) => {
    const [there] = await transaction.execute('select 1 from pg_roles where rolname = ?', [APP_ROLE]);
    if (!there) await transaction.execute(`create role ${APP_ROLE} login`);
    // A password is no parameter of its statement.
    const [row] = await transaction.execute<{ statement: string }[]>(
      `select format('alter role ${APP_ROLE} password %L', ?::text) as statement`,
      [password],
    );
    await transaction.execute(String(row?.statement));
  });
}
