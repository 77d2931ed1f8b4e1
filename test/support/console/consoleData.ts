/**
 * What the console's pages are measured on: rows that the database makes itself, in bulk and without triggers; the indexes of
 * the large tables are built afterwards. Ids are told by what they are of (`idOf`), so that whoever measures knows them.
 */
import { createHash } from 'node:crypto';
import type { Orm } from '../../../src/db/orm.ts';
import { rutFault } from '../../../src/domain/values/rut.ts';
import { anAccount } from '../commandDeps.ts';
import { aReadyEnterprise } from '../enterprises/enterprises.ts';

/** Enterprises by their place: large ones, then small ones, of which an accountant has a third and another account three. */
const LARGE = 5;
const OF_FEW = 3;
const smallOnes = (cfes: number): number => Math.max(100, cfes / 500);
const ofAccountant = (cfes: number): number => smallOnes(cfes) * 0.3;
const persons = (cfes: number): number => Math.max(500, cfes / 200);
const reportDays = (cfes: number): number => Math.max(40, Math.round((REPORT_DAYS * cfes) / MILLION));

/** Accounts by their place; those behind them share the other enterprises. */
export const OWNER_OF = { large: 0, accountant: 1, few: 2 } as const;
const ACCOUNTS = 203;
const WEBHOOKS_OF_EACH = 5;
const DAYS = 400;
const REPORT_DAYS = 365;
/** Of each large enterprise at 1,000,000 CFEs. */
const CUSTOMERS = 19_000;
const MILLION = 1_000_000;

/** The RUT of an enterprise: the first of its thousand whose check digit fits. */
export function rutOf(place: number): string {
  for (let number = 210_000_000_000 + place * 1_000; ; number += 1)
    if (!rutFault(String(number))) return String(number);
}
/** The first enterprise of an account. */
export const firstOf = (size: keyof typeof OWNER_OF, cfes: number): number =>
  ({ large: 0, accountant: LARGE, few: LARGE + ofAccountant(cfes) })[size];

type Kind = 'account' | 'webhook' | 'cfe' | 'delivery' | 'event' | 'person';

/** The id of the row of that kind and place: a UUID that anybody can tell again. */
export function idOf(kind: Kind, place: number): string {
  const hex = createHash('md5').update(`${kind} ${place}`).digest('hex');
  const marked = `${hex.slice(0, 12)}4${hex.slice(13, 16)}8${hex.slice(17)}`;
  return marked.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

/** The same, said to the database. */
const id = (
  kind: Kind | 'key' | 'invitation' | 'session' | 'sobre' | 'mail' | 'payment' | 'customer',
  place: string,
): string => {
  const hash = `md5('${kind} ' || (${place}))`;
  return `overlay(overlay(${hash} placing '4' from 13) placing '8' from 17)::uuid`;
};

/** Fills a migrated, empty database with so many CFEs and all else in proportion; `orm` as the owner, with one connection. */
export async function fillConsole(
  orm: Orm,
  cfes: number,
  say: (line: string) => void = () => undefined,
): Promise<void> {
  const em = orm.em.fork();
  const model = await aReadyEnterprise(orm, await anAccount(orm), { values: { legalName: 'Molde S.A.' } });
  const run = async (title: string, sql: string): Promise<void> => {
    const from = performance.now();
    await em.execute(sql);
    say(`  ${title}: ${((performance.now() - from) / 1_000).toFixed(1)} s`);
  };
  await em.execute('set session_replication_role = replica');
  await em.execute(`set maintenance_work_mem = '512MB'`);
  await em.execute(`set work_mem = '256MB'`);
  await em.execute('set statement_timeout = 0');
  await run('indexes put aside', PUT_INDEXES_ASIDE);
  await run('accounts, people, keys', people(cfes));
  await run('enterprises', enterprises(model, cfes));
  await run('places of CFEs', places(cfes));
  await run('CFEs', CFES);
  await run('what belongs to CFEs', OF_CFES);
  await run('e-mails', MAILS);
  await run('events', EVENTS);
  await run('deliveries', DELIVERIES);
  await run('attempts of deliveries', DELIVERY_ATTEMPTS);
  await run('events of accounts', ACCOUNT_EVENTS);
  await run('reports', reports(cfes));
  await run('acts', acts(Math.max(cfes / 2, 30_000)));
  await run('runs, customers, payments', others(cfes));
  const put = await em.execute<{ definition: string }[]>('select definition from put_aside');
  for (const { definition } of put)
    await run(
      definition.split(' ')[2] === 'INDEX'
        ? (definition.split(' ')[3] ?? '')
        : (definition.split(' ')[2] ?? ''),
      definition,
    );
  await em.execute('drop table put_aside, place');
  await em.execute('set session_replication_role = default');
  await run('vacuum', 'vacuum (analyze)');
}

const PUT_INDEXES_ASIDE = `
  create table put_aside as
    select indexrelid::regclass::text as name, pg_get_indexdef(indexrelid) as definition
    from pg_index join pg_class c on c.oid = indrelid
    where c.relname in ('cfe', 'event', 'delivery', 'delivery_attempt', 'account_event', 'authority_attempt', 'mail', 'audit', 'daily_report', 'customer')
      and not exists (select from pg_constraint where conindid = indexrelid);
  do $$ declare one record; begin
    for one in select name from put_aside loop execute 'drop index ' || one.name; end loop;
  end $$`;

const people = (cfes: number): string => `
  insert into account (id, name, email, is_developer, created_at)
    select ${id('account', 'n')}, 'Estudio ' || n, 'estudio' || n || '@example.com', n % 50 = 0, now() - n * interval '1 day'
    from generate_series(0, ${ACCOUNTS - 1}) n;
  insert into person (id, email, created_at, password_by_account)
    select ${id('person', 'n')}, 'gente' || n || '@example.com', now() - n * interval '1 hour', true from generate_series(0, ${persons(cfes) - 1}) n;
  insert into membership (person_id, account_id, role, created_at)
    select ${id('person', 'n')}, ${id('account', `case when n < 300 then 0 when n < 500 then 1 else n % ${ACCOUNTS} end`)},
      (array['VIEWER', 'MEMBER', 'OWNER'])[1 + n % 3], now() from generate_series(0, ${persons(cfes) - 1}) n;
  insert into console_session (id, token_hash, person_id, method, complete, address, browser, created_at, seen_at, ended_at)
    select ${id('session', 'n')}, decode(md5('s' || n), 'hex'), ${id('person', `n % ${persons(cfes)}`)}, 'password', true, '10.0.0.1', 'Firefox',
      now() - n * interval '1 minute', now() - n * interval '1 minute', now() - n * interval '1 minute' from generate_series(1, ${cfes / 10}) n;
  insert into account_invitation (id, account_id, email, role, token_hash, created_at, expires_at, ended_at)
    select ${id('invitation', 'n')}, ${id('account', `n % ${ACCOUNTS}`)}, 'nueva' || n || '@example.com', 'VIEWER', decode(md5('i' || n), 'hex'),
      now() - n * interval '1 hour', now() - n * interval '1 hour' + interval '1 day', case when n > 24 then now() end from generate_series(1, 5000) n;
  insert into api_key (id, public_id, account_id, environment, scope, hash, label, created_at, revoked_at)
    select ${id('key', 'n')}, 'bench' || n, ${id('account', `case when n < 300 then 0 else n % ${ACCOUNTS} end`)},
      (array['production', 'sandbox'])[1 + n % 2], 'full', decode(md5('k' || n), 'hex'), 'caja ' || n, now() - n * interval '1 hour',
      case when n % 3 = 0 then now() end from generate_series(1, 3000) n`;

/** Copies of the model with its papers: each enterprise has a CAE for each type. */
const enterprises = (model: string, cfes: number): string => `
  create temp table owned as select e, rut,
      case when e < ${LARGE} then 0 when e < ${firstOf('few', cfes)} then 1 when e < ${firstOf('few', cfes) + OF_FEW} then 2
        else 3 + e % ${ACCOUNTS - 3} end as a
    from jsonb_array_elements_text('${JSON.stringify(Array.from({ length: LARGE + smallOnes(cfes) }, (_, e) => rutOf(e)))}')
      with ordinality given (rut, place), lateral (select place::int - 1 as e) at_place;
  insert into enterprise select copy.* from enterprise model, owned, lateral jsonb_populate_record(null::enterprise,
      to_jsonb(model) || jsonb_build_object('rut', owned.rut, 'owner_account_id', ${id('account', 'a')}, 'legal_name', 'Comercio ' || e || ' S.A.',
        'status', case when e % 40 = 39 then 'PENDING' else 'READY' end)) copy
    where model.rut = '${model}';
  insert into certificate select copy.* from certificate model, owned, lateral jsonb_populate_record(null::certificate,
      to_jsonb(model) || jsonb_build_object('rut', owned.rut, 'id', gen_random_uuid(), 'not_after', now() + (e % 700) * interval '1 day')) copy
    where model.rut = '${model}';
  insert into cae (id, rut, environment, type, serie, number_start, number_end, last_number, authorization_number, issue_date, expiration_date, xml, created_at)
    select gen_random_uuid(), owned.rut, environment, type, serie, 1, 9000000, 0, authorization_number, issue_date,
      current_date + (e * 7) % 700, xml, created_at
    from cae model, owned where model.rut = '${model}';
  insert into enterprise_grant (account_id, rut, role)
    select ${id('account', '3 + (a + 1 + n * 17) % 200')}, rut, 'VIEWER' from owned, generate_series(0, 1) n where e % 3 = 0;
  insert into branch (rut, branch, street_name, locality_name, department_name, created_at)
    select rut, n, 'Rincón ' || n, 'Montevideo', 'Montevideo', now() from owned, generate_series(2, 4) n;
  insert into webhook (id, account_id, url, events, sealed_secret, enabled, created_at)
    select ${id('webhook', 'n')}, ${id('account', `n / ${WEBHOOKS_OF_EACH}`)}, 'https://aviso' || n || '.example/cfe',
      array['cfe.updated', 'receipt.delivered'], 'sealed', n % 30 <> 29, now() - n * interval '1 hour' from generate_series(0, ${ACCOUNTS * WEBHOOKS_OF_EACH - 1}) n`;

/** Every CFE in the order of time: whose it is, its type and its number. Half are of the large enterprises. */
const places = (cfes: number): string => `
  create table place as
  select numbered.*, rut, a, row_number() over (partition by e, type order by k)::int as seq from (
    select k, at, case when r < 200 then 0 when r < 300 then 1 when r < 400 then 2 when r < 460 then 3 when r < 500 then 4
        else ${LARGE} + (hashint4(k + 7) & 2147483647) % ${smallOnes(cfes)} end as e,
      case when t < 800 then 'ETICKET' when t < 950 then 'EFACTURA' when t < 990 then 'ETICKET_NC'
        when t < 999 then 'EFACTURA_NC' else 'EFACTURA_EXPORT' end as type
    from (select k, now() - (${cfes} - k) * (interval '${DAYS} days' / ${cfes}) as at,
      (hashint4(k) & 2147483647) % 1000 as r, (hashint4(k + 3) & 2147483647) % 1000 as t
      from generate_series(0, ${cfes - 1}) k) drawn) numbered join owned using (e)
  order by k;
  analyze place;
  insert into cfe_sequence (rut, environment, type, last) select rut, 'production', type, max(seq) from place group by rut, type;
  update cae set last_number = s.last from cfe_sequence s where s.rut = cae.rut and s.environment = cae.environment and s.type = cae.type;
  update cae set number_end = last_number + 3 from owned where owned.rut = cae.rut and e % 10 = 7 and environment = 'production' and type = 'ETICKET';
  insert into warning (rut, about, given_at) select rut, 'cae.low/EFACTURA', now() from owned where e % 100 = 8`;

/** Accepted, but one in 200 REJECTED, one in 1,000 OBSERVED, the newest 1,000 on their way, one in 500 stuck. */
const CFES = `
  insert into cfe (id, account_id, rut, environment, type, sequence, cae_id, serie, numero, status, emission_date, currency, pay_amount,
      document, certificate_id, signed_xml, digest, rejection, stuck_reason, created_at, settled_at, idempotency_key, idempotency_hash,
      idempotency_outline, held, receipt_token, request_id)
  select ${id('cfe', 'k')}, account.id, p.rut, 'production', p.type, seq, cae.id, 'A', seq, p.status, (at at time zone 'America/Montevideo')::date, 'UYU', 1220,
    jsonb_build_object('type', p.type, 'serie', 'A', 'numero', seq, 'emissionDate', (at at time zone 'America/Montevideo')::date, 'paymentMethod', 1, 'pricesIncludeVat', false,
      'signedAt', to_char(at at time zone 'America/Montevideo', 'YYYY-MM-DD"T"HH24:MI:SS"-03:00"'),
      'issuer', jsonb_build_object('rut', p.rut, 'legalName', 'Comercio ' || e || ' S.A.', 'branch', 1, 'address', 'Rincón 500', 'city', 'Montevideo', 'department', 'Montevideo'),
      'totals', '{"currency":"UYU","exchangeRate":"1.000","exempt":"0.00","exported":"0.00","perceived":"0.00","suspended":"0.00","otherNet":"0.00","otherVat":"0.00","minimumNet":"0.00","minimumVat":"0.00","basicNet":"1000.00","basicVat":"220.00","total":"1220.00","nonBillable":"0.00","pay":"1220.00"}'::jsonb,
      'lines', '[{"ivaType":"BASIC_RATE","name":"Café","quantity":"1.000","unit":"N/A","unitPrice":"1000.000000","amount":"1000.00"}]'::jsonb,
      'cae', '{"authorizationNumber":"90110000001","numberStart":1,"numberEnd":9000000,"expirationDate":"2027-11-20"}'::jsonb)
      || case when k % 5 < 3 then jsonb_build_object('receiver', jsonb_build_object('legalName', 'Cliente SA', 'document', jsonb_build_object('type', 'RUC', 'country', 'UY',
        'number', case when k % 20 = 0 then '219000090011' else (210000000000 + (hashint4(k + 11) & 2147483647) % 50000)::text end))) else '{}' end,
    certificate.id, case when k % 100 = 0 then '<CFE/>' end, case when k % 100 = 0 then 'eA==' end,
    case when p.status = 'REJECTED' then '[{"code": "E20", "message": "m", "detail": "d"}]'::jsonb end,
    case when k % 500 = 7 then (array['signing', 'undecided', 'authority.caller'])[1 + k % 3] end,
    at, case when p.status not in ('PENDING', 'RECEIVED') then at + interval '1 minute' end,
    case when k % 2 = 0 then 'key ' || k end, case when k % 2 = 0 then '\\x00'::bytea end, case when k % 2 = 0 then '{}'::jsonb end,
    false, gen_random_uuid(), 'request-' || k
  from (select *, case when k % 500 = 7 or k > (select max(k) - count(*) / 1000 from place) then (array['PENDING', 'RECEIVED'])[1 + k % 2]
        when k % 200 = 3 then 'REJECTED' when k % 1000 = 5 then 'OBSERVED' else 'ACCEPTED' end as status from place) p
    join enterprise on enterprise.rut = p.rut join account on account.id = owner_account_id
    join cae on cae.rut = p.rut and cae.environment = 'production' and cae.type = p.type
    join certificate on certificate.rut = p.rut and certificate.environment = 'production'
  order by k`;

const OF_CFES = `
  insert into stuck_moment (cfe_uuid, since, reason) select id, created_at + interval '1 hour', stuck_reason from cfe where stuck_reason is not null;
  insert into annulment (rut, environment, type, serie, from_number, to_number, reason, report_date, annulled_at, cae_id, cfe_uuid)
    select rut, environment, type, serie, numero, numero, 'rejected', emission_date, settled_at, cae_id, id from cfe where status = 'REJECTED';
  insert into sobre (id, workflow_id, rut, environment, idemisor, state, xml, sending_at, received_at, id_receptor, token, created_at)
    select ${id('sobre', 'k')}, 'bench cfe ' || k, rut, 'production', row_number() over (partition by e order by k), 'RECEIVED', '<EnvioCFE/>', at, at, k::text, 'dG9rZW4=', at from place;
  insert into sobre_cfe (sobre_id, place, cfe_uuid) select ${id('sobre', 'k')}, 1, ${id('cfe', 'k')} from place;
  update cfe set sobre_id = ${id('sobre', 'k')}, workflow_id = 'bench cfe ' || k from place where cfe.id = ${id('cfe', 'k')};
  insert into authority_attempt (subject, operation, answer, result, count, first_at, first_ms, last_at, last_ms)
    select ${id('sobre', 'k')}, (array['sendSobre', 'askVerdict'])[n], 'code ' || n, 'done', 1, at, 90, at, 90 from place, generate_series(1, 2) n`;

const MAILS = `
  insert into mail (id, workflow_id, cfe_uuid, rut, environment, kind, destination, status, attempts, by_hand, message_id, created_at, settled_at)
    select ${id('mail', 'k')}, 'mail ' || k, ${id('cfe', 'k')}, rut, 'production', 'RECEIPT', 'cliente' || k % 1000 || '@example.com',
      case when k % 100 = 0 then 'FAILED' else 'SENT' end, 1, false, 'mail' || k || '@cfe.example', at, at from place where k % 4 = 0`;

/** Two events for each CFE, as webhooks hear of it. */
const EVENTS = `
  insert into event (id, rut, name, environment, body, created_at)
    select ${id('event', 'k * 2 + n')}, rut, (array['cfe.updated', 'receipt.delivered'])[1 + (k % 10 = 0 and n = 1)::int], 'production',
      json_build_object('event', 'cfe.updated', 'timestamp', at, 'data', json_build_object('rut', rut,
        'cfe_id', (array['101', '111', '102', '112', '121'])[array_position(array['ETICKET', 'EFACTURA', 'ETICKET_NC', 'EFACTURA_NC', 'EFACTURA_EXPORT'], type)] || '-' || seq,
        'environment', 'production', 'cfe_status', 'ACCEPTED', 'serie', 'A', 'numero', seq))::text, at + n * interval '1 minute'
    from place, generate_series(0, 1) n order by k, n`;

/** One in a hundred failed; the second webhook of each account fails since 30 days; 500 wait. Most are of an account's first webhook. */
const DELIVERIES = `
  insert into delivery (id, webhook_id, event_id, event_name, status, created_at, settled_at, workflow_id, next_attempt_at)
  select ${id('delivery', 'd')}, ${id('webhook', 'w')}, ${id('event', 'd')}, name, status, made, case when status <> 'PENDING' then made + interval '1 second' end, 'bench delivery ' || d,
    case when status = 'PENDING' then now() + interval '5 minutes' end
  from (select *, case when d > most - 500 then 'PENDING' when d % 100 = 0 or (w % ${WEBHOOKS_OF_EACH} = 1 and made > now() - interval '30 days') then 'FAILED' else 'DELIVERED' end as status
    from (select k * 2 + n as d, (select max(k) * 2 + 1 from place) as most, at + n * interval '1 minute' as made,
        (array['cfe.updated', 'receipt.delivered'])[1 + (k % 10 = 0 and n = 1)::int] as name,
        a * ${WEBHOOKS_OF_EACH} + case when k % 10 < 6 then 0 else 1 + k % ${WEBHOOKS_OF_EACH - 1} end as w
      from place, generate_series(0, 1) n) told) ended
  order by d`;

const DELIVERY_ATTEMPTS = `
  insert into delivery_attempt (delivery_id, number, execution, at, http_status, answer, milliseconds)
    select id, n, n::text, created_at, case when status = 'FAILED' then 500 else 200 end, 'ok', 80
    from delivery, generate_series(1, 4) n where status <> 'PENDING' and (n = 1 or status = 'FAILED')`;

const ACCOUNT_EVENTS = `
  insert into account_event (account_id, event_id, event_name, position)
    select account_id, event_id, event_name, row_number() over (partition by account_id order by delivery.created_at, delivery.id)
    from delivery join webhook on webhook.id = webhook_id`;

/** A year of days of every enterprise: yesterday's on their way, one in 2,000 differs, some wait for a person, none is superseded. */
const reports = (cfes: number): string => `
  insert into daily_report (rut, environment, date, status, sequence, due_at, workflow_id, started_at, send_now, is_complete, stuck_reason, created_at)
    select rut, 'production', day, case when n = 0 then 'OPEN' when n = 1 then 'SENT' when (e + n) % 2000 = 5 then 'DIFFERS' else 'CONSISTENT' end,
      case when n > 0 then 1 end, (day + 1)::timestamptz, 'report ' || rut || day, day + 1, false, n > 0,
      case when (e + n) % 2000 = 5 and n < 30 then 'report.differs' end, day + 1
    from owned, generate_series(0, ${reportDays(cfes) - 1}) n, lateral (select current_date - n as day) of_day;
  insert into report_submission (rut, environment, date, sequence, id_emisor, status, xml, content_hash, types, sent_at, answered_at, created_at)
    select rut, environment, date, 1, 1 + current_date - date, case when status = 'DIFFERS' then 'DIFFERS' when status = 'SENT' then 'SENT' else 'CONSISTENT' end, '<Reporte/>', 'h', '[]', due_at, due_at, due_at
    from daily_report where status <> 'OPEN' and date > current_date - 60`;

const acts = (count: number): string => `
  insert into audit (at, actor, action, subject, account_id, rut, reason, outcome)
    select now() - (${count} - n) * (interval '${DAYS} days' / ${count}), 'console:ana' || n % 40 || '@example.com',
      (array['cfe.retry', 'customer.update', 'user.sign_in', 'delivery.redeliver'])[1 + n % 4], n::text,
      ${id('account', `n % ${ACCOUNTS}`)}, rut, 'a reason', null
    from generate_series(1, ${count}) n join owned on e = n % (select count(*) from owned)`;

const others = (cfes: number): string => `
  insert into run (id, kind, account_id, actor, reason, filter, state, total, done, unneeded, refused, created_at, moved_at, ended_at)
    select 'redeliver-bench-' || n, 'redeliver', ${id('account', `n % ${ACCOUNTS}`)}, 'console:ana@example.com', 'volvieron', '{}', 'DONE', 100, 90, 0, 10,
      now() - n * interval '1 hour', now(), now() from generate_series(1, 5000) n;
  insert into run_item (run_id, place, subject, was, attempts, outcome, message, at)
    select 'redeliver-bench-' || n, i, ${id('delivery', 'n * 100 + i')}, 'cfe.updated', 1, case when i % 10 = 0 then 'refused' else 'done' end, 'm', now()
    from generate_series(1, 5000) n, generate_series(1, 100) i;
  insert into customer (rut, doc_type, doc_number, given_number, legal_name, legal_name_search, notifications, created_at, updated_at, id)
    select rut, 'RUC', (210000000000 + n)::text, (210000000000 + n)::text, 'Cliente ' || n || ' SA', 'cliente ' || n || ' sa', '[]', now(), now(), ${id('customer', "e || '/' || n")}
    from owned, generate_series(1, case when e < ${LARGE} then ${Math.round((CUSTOMERS * cfes) / MILLION)} else 50 end) n;
  insert into payment (id, rut, plan_id, frequency_id, amount, currency, status, redirect_url, created_at, settled_at)
    select ${id('payment', "e || '/' || n")}, rut, 'STANDARD', 'MONTHLY', 990, 'UYU', case when n = 0 then 'PENDING' else 'PAID' end, 'https://pay.example', now() - n * interval '30 days',
      case when n > 0 then now() end from owned, generate_series(0, 11) n;
  insert into exchange_rate (currency, date, rate, source) select 'USD', current_date - n, 40, 'bcu' from generate_series(0, 1000) n on conflict do nothing`;
