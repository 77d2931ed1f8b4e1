/** The tables, by subject; db/rights.ts lists each program's rights. */
import { Migration } from '@mikro-orm/migrations';

/** Accounts, their API keys and limits, and counters and stored answers of their requests. */
const ACCOUNTS = `
  create table account (
    id uuid primary key,
    name text not null,
    email text not null,
    is_developer boolean not null,
    created_at timestamptz not null
  );

  create table api_key (
    id uuid primary key,
    public_id text not null unique,
    account_id uuid not null references account,
    environment text not null check (environment in ('production', 'sandbox')),
    scope text not null check (scope in ('full', 'read')),
    hash bytea not null,
    label text,
    created_at timestamptz not null,
    last_used_at timestamptz,
    revoked_at timestamptz
  );
  create index api_key_account on api_key (account_id);

  create table rate_limit (
    account_id uuid not null references account,
    environment text not null check (environment in ('production', 'sandbox')),
    per_hour integer not null check (per_hour > 0),
    primary key (account_id, environment)
  );

  -- Counts are written with every request and may be lost in a crash; room in the pages keeps updates off the indexes.
  create unlogged table request_count (
    account_id uuid not null,
    environment text not null,
    since timestamptz not null,
    requests integer not null,
    primary key (account_id, environment)
  ) with (fillfactor = 50);

  create unlogged table failed_authentication (
    address text primary key,
    since timestamptz not null,
    failures integer not null
  ) with (fillfactor = 50);
  create index failed_authentication_since on failed_authentication (since);

  create table idempotent_answer (
    account_id uuid not null references account,
    environment text not null check (environment in ('production', 'sandbox')),
    key text not null,
    hash bytea not null,
    outline jsonb not null,
    answer text not null,
    created_at timestamptz not null,
    primary key (account_id, environment, key)
  );
  create index idempotent_answer_created_at on idempotent_answer (created_at);

  -- Takes the same lock as requests that need a transaction of several statements. Volatile: what is read after the lock
  -- is as of then, not as of the beginning of the statement that calls it.
  create function claim_idempotency_key(
    lock_name text, of_account uuid, of_environment text, of_key text, kept_since timestamptz
  ) returns boolean language sql volatile set lock_timeout = '2s' as $$
    select pg_advisory_xact_lock(hashtextextended(lock_name, 0));
    select not exists (
      select from idempotent_answer
      where account_id = of_account and environment = of_environment and key = of_key and created_at > kept_since);
  $$;
`;

/** People who sign in to the console. */
const PEOPLE = `
  create table person (
    id uuid primary key,
    email text not null unique check (email = lower(email)),
    operator_role text check (operator_role in ('VIEWER', 'SUPPORT', 'ADMIN')),
    password_hash text,
    password_by_account boolean not null default false,
    sealed_totp text,
    totp_step bigint,
    oidc_subject text unique,
    created_at timestamptz not null,
    disabled_at timestamptz
  );

  create table membership (
    person_id uuid not null references person,
    account_id uuid not null references account,
    role text not null check (role in ('VIEWER', 'MEMBER', 'OWNER')),
    created_at timestamptz not null,
    primary key (person_id, account_id)
  );
  create index membership_of_account on membership (account_id);

  create table invitation (
    id uuid primary key,
    person_id uuid not null references person,
    token_hash bytea not null unique,
    created_at timestamptz not null,
    expires_at timestamptz not null,
    ended_at timestamptz
  );
  create index invitation_open on invitation (person_id) where ended_at is null;

  create table account_invitation (
    id uuid primary key,
    account_id uuid not null references account,
    email text not null check (email = lower(email)),
    role text not null check (role in ('VIEWER', 'MEMBER', 'OWNER')),
    token_hash bytea not null unique,
    created_at timestamptz not null,
    expires_at timestamptz not null,
    ended_at timestamptz
  );
  create unique index account_invitation_open on account_invitation (account_id, email) where ended_at is null;

  create table console_session (
    id uuid primary key,
    token_hash bytea not null unique,
    person_id uuid not null references person,
    method text not null check (method in ('password', 'oidc')),
    complete boolean not null,
    address text not null,
    browser text not null,
    created_at timestamptz not null,
    seen_at timestamptz not null,
    ended_at timestamptz
  );
  create index console_session_of_person on console_session (person_id, created_at desc);

  create table sign_in_count (
    place text primary key,
    since timestamptz not null,
    attempts integer not null
  );
  create index sign_in_count_since on sign_in_count (since);

  create table form_count (
    person_id uuid primary key references person,
    since timestamptz not null,
    forms integer not null
  );

  create table saved_filter (
    id uuid primary key,
    person_id uuid not null references person,
    path text not null,
    name text not null,
    query text not null,
    created_at timestamptz not null,
    unique (person_id, path, name)
  );
`;

/** Enterprises, their payments, customers, certificates and given warnings. */
const ENTERPRISES = `
  create table plan (
    plan_id text not null,
    frequency_id text not null,
    amount numeric(17, 2) not null check (amount >= 0),
    currency text not null,
    primary key (plan_id, frequency_id)
  );
  insert into plan values
    ('FREE', 'MONTHLY', 0, 'UYU'),
    ('STANDARD', 'MONTHLY', 990, 'UYU'),
    ('STANDARD', 'YEARLY', 9900, 'UYU');

  create table logo (
    sha256 text primary key check (sha256 ~ '^[0-9a-f]{64}$'),
    media_type text not null check (media_type in ('image/png', 'image/jpeg')),
    bytes bytea not null,
    created_at timestamptz not null
  );

  create table enterprise (
    rut text primary key check (rut ~ '^[0-9]{12}$'),
    owner_account_id uuid not null references account,
    legal_name text not null,
    trade_name text,
    department_name text not null,
    locality_name text not null,
    street_name text not null,
    branch integer not null,
    phone_number text,
    email text,
    website text,
    issuer_since date,
    migrated_on date,
    resolution text,
    exemption_norm text,
    vat_up_to_date boolean not null default true,
    small_tickets text not null default 'SEND' check (small_tickets in ('SEND', 'REPORT_ONLY')),
    logo_sha256 text references logo,
    is_new_enterprise boolean not null,
    status text not null check (status in ('PENDING', 'READY', 'SUSPENDED')),
    status_before_suspension text check (status_before_suspension in ('PENDING', 'READY')),
    suspension_reason text,
    scheduled_ready_date timestamptz,
    plan_id text,
    frequency_id text,
    efactura_status text not null check (efactura_status in ('NOT_VALIDATED', 'VALIDATING', 'VALID', 'INVALID')),
    login_status text not null check (login_status in ('NOT_ATTEMPTED', 'SUCCESS', 'FAILED')),
    permissions text[] not null,
    listed_issuer boolean,
    last_validated_at timestamptz,
    sealed_login text,
    expiries_told_at timestamptz,
    created_at timestamptz not null,
    foreign key (plan_id, frequency_id) references plan,
    check ((status = 'SUSPENDED') = (status_before_suspension is not null))
  );
  create index enterprise_owner on enterprise (owner_account_id);

  create table branch (
    rut text not null references enterprise,
    branch integer not null check (branch between 0 and 9999),
    street_name text not null,
    locality_name text not null,
    department_name text not null,
    phone_number text,
    used_at timestamptz,
    closed_at timestamptz,
    created_at timestamptz not null,
    primary key (rut, branch)
  );

  create table enterprise_grant (
    account_id uuid not null references account,
    rut text not null references enterprise,
    role text not null check (role in ('MEMBER', 'VIEWER')),
    primary key (account_id, rut)
  );
  create index enterprise_grant_rut on enterprise_grant (rut);

  create extension if not exists pg_trgm;
  create extension if not exists btree_gin;
  create table customer (
    id uuid not null unique,
    rut text not null references enterprise,
    doc_type text not null,
    doc_number text not null,
    given_number text not null,
    legal_name text not null,
    legal_name_search text collate "C" not null,
    fiscal_address text,
    city text,
    department text,
    country text,
    country_code text,
    notifications jsonb not null,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    primary key (rut, doc_number, doc_type)
  );
  create index customer_name_part on customer using gin (rut, legal_name_search gin_trgm_ops);
  create index customer_by_name on customer (rut, legal_name_search, doc_number, doc_type);
  create index customer_by_country on customer (rut, country_code, legal_name_search);

  create table payment (
    id uuid primary key,
    rut text not null references enterprise,
    plan_id text not null,
    frequency_id text not null,
    amount numeric(17, 2) not null check (amount > 0),
    currency text not null,
    status text not null check (status in ('PENDING', 'PAID', 'CANCELLED')),
    redirect_url text not null,
    created_at timestamptz not null,
    settled_at timestamptz,
    check ((status = 'PENDING') = (settled_at is null))
  );
  create index payment_newest on payment (created_at desc, id desc);
  create index payment_of_enterprise on payment (rut, created_at desc, id desc);

  -- A private key goes once it was replaced and no CFE needs it; the certificate stays.
  create table certificate (
    id uuid primary key,
    rut text not null references enterprise,
    environment text not null check (environment in ('production', 'sandbox')),
    subject text not null,
    not_before timestamptz not null,
    not_after timestamptz not null,
    certificate bytea not null,
    intermediates text not null default '',
    sealed_key text,
    created_at timestamptz not null,
    replaced_at timestamptz,
    checked_at timestamptz,
    untrusted_at timestamptz,
    revoked_at timestamptz,
    constraint certificate_key check (sealed_key is not null or replaced_at is not null)
  );
  create unique index certificate_current on certificate (rut, environment) where replaced_at is null;

  create table credentials_checks (
    rut text not null references enterprise,
    account_id uuid not null references account,
    day text not null,
    checks integer not null,
    failures integer not null,
    failed_at timestamptz,
    pending_hash bytea,
    counts_as_failed boolean not null default false,
    primary key (rut, account_id)
  );

  create table warning (
    rut text not null references enterprise,
    about text not null,
    given_at timestamptz not null,
    primary key (rut, about)
  );
`;

/** The ranges of numbers that the authority granted, and the sequences of CFEs by type. */
const NUMBERS = `
  create extension if not exists btree_gist;

  create function how_many(numbers int4multirange) returns integer language sql immutable as $$
    select coalesce(sum(upper(part) - lower(part)), 0)::integer from unnest(numbers) as part
  $$;

  -- elsewhere: numbers below the last that were not given here; withheld: those that are never to be given.
  create table cae (
    id uuid primary key,
    rut text not null references enterprise,
    environment text not null check (environment in ('production', 'sandbox')),
    type text not null,
    serie text not null,
    number_start integer not null check (number_start between 1 and 9999999),
    number_end integer not null check (number_end between number_start and 9999999),
    last_number integer not null check (last_number between number_start - 1 and number_end),
    elsewhere int4multirange not null default '{}',
    withheld int4multirange not null default '{}',
    numbers_left integer not null generated always as
      (how_many(int4multirange(int4range(last_number + 1, greatest(number_end, last_number) + 1)) - withheld)) stored,
    authorization_number text not null,
    issue_date date not null,
    expiration_date date not null check (expiration_date >= issue_date),
    special_kind integer check (special_kind between 1 and 4),
    special_cause text,
    start_number integer check (start_number between number_start + 1 and number_end),
    start_open boolean not null default false check (start_number is not null or not start_open),
    start_findings text[] check (start_findings <@ array['before_unknown', 'first_known']),
    xml text check (xml is not null or environment = 'sandbox'),
    created_at timestamptz not null,
    constraint cae_gives_no_withheld check (not withheld @> last_number),
    constraint cae_ranges_do_not_overlap exclude using gist
      (rut with =, environment with =, type with =, serie with =, int4range(number_start, number_end, '[]') with &&)
  );

  create unique index cae_is_known on cae (rut, authorization_number) where environment = 'production';

  create table cfe_sequence (
    rut text not null references enterprise,
    environment text not null,
    type text not null,
    last integer not null,
    skipped integer not null default 0,
    primary key (rut, environment, type)
  );
`;

/** CFEs, and the annulled numbers of rejected ones. */
const RECEIPTS = `
  create table cfe (
    id uuid primary key,
    sobre_id uuid,
    workflow_id text,
    held boolean not null,
    report_only boolean not null default false,
    account_id uuid not null references account,
    rut text not null references enterprise,
    environment text not null check (environment in ('production', 'sandbox')),
    type text not null,
    sequence integer not null,
    cae_id uuid not null references cae,
    serie text not null,
    numero integer not null,
    status text not null check (status in ('PENDING', 'RECEIVED', 'ACCEPTED', 'REJECTED', 'OBSERVED')),
    emission_date date not null,
    currency text not null,
    pay_amount numeric(17, 2) not null,
    document jsonb not null,
    external_id text generated always as (document ->> 'externalId') stored,
    credited jsonb,
    certificate_id uuid not null references certificate,
    signed_xml text,
    digest text,
    rejection jsonb,
    stuck_reason text,
    extra jsonb,
    idempotency_key text,
    idempotency_hash bytea,
    idempotency_outline jsonb,
    first_answer jsonb,
    request_id text,
    key_id uuid,
    receipt_token text not null,
    warnings jsonb,
    created_at timestamptz not null,
    settled_at timestamptz,
    unique (rut, environment, type, sequence),
    unique (rut, environment, type, serie, numero),
    check ((signed_xml is null) = (digest is null)),
    check ((settled_at is not null) = (status in ('ACCEPTED', 'REJECTED', 'OBSERVED'))),
    -- The daily report counts it by its digest.
    check (not report_only or status <> 'ACCEPTED' or digest is not null),
    check (num_nulls(idempotency_key, idempotency_hash, idempotency_outline) in (0, 3)),
    check (sobre_id is null or workflow_id is not null)
  );
  create unique index cfe_idempotency_key on cfe (account_id, environment, idempotency_key)
    where idempotency_key is not null;
  create unique index cfe_receipt_token on cfe (receipt_token);
  create index cfe_request on cfe using hash (request_id);
  create index cfe_newest on cfe (rut, environment, created_at desc, id desc);
  create index cfe_newest_of_type on cfe (environment, type, created_at desc, id desc);
  create index cfe_emitted on cfe (emission_date);
  -- For the daily report: the day in Montevideo, which changes in the document alone when a CFE is signed again.
  create index cfe_signing_day on cfe (rut, environment, (left(document ->> 'signedAt', 10)));
  -- The rest hold a few of the rows, and cost the others nothing.
  create index cfe_received on cfe
    ((document #>> '{receiver,document,number}'), rut, created_at desc, id desc)
    where document #>> '{receiver,document,number}' is not null;
  create index cfe_external_id on cfe (external_id, rut, created_at desc, id desc) where external_id is not null;
  create index cfe_open on cfe (environment, status, created_at) where settled_at is null;
  create index cfe_open_of on cfe (rut, created_at desc, id desc) where settled_at is null;
  create index cfe_stuck on cfe (environment, stuck_reason) where stuck_reason is not null;
  create index cfe_stuck_of on cfe (rut, created_at desc, id desc) where stuck_reason is not null;
  create index cfe_stuck_oldest on cfe (created_at, id) where stuck_reason is not null;
  create index cfe_not_accepted on cfe (status, created_at desc, id desc) where status in ('REJECTED', 'OBSERVED');
  create index cfe_not_accepted_of on cfe (rut, status, created_at desc, id desc)
    where status in ('REJECTED', 'OBSERVED');

  -- What waits to be put into a sobre, in the order in which it goes; and of it what is not signed yet.
  create index cfe_waiting on cfe (environment, rut, created_at, sequence)
    where status = 'PENDING' and sobre_id is null and not held and not report_only;
  create index cfe_report_only on cfe (created_at)
    where status = 'PENDING' and sobre_id is null and not held and report_only;
  create index cfe_unsigned on cfe (created_at) where status = 'PENDING' and sobre_id is null and digest is null;
  create index cfe_of_sobre on cfe (sobre_id) where sobre_id is not null and settled_at is null;

  -- The CFEs of this service that a CFE refers to. taken: what it takes of one, in the currency of that one, unrounded.
  create table cfe_reference (
    cfe_uuid uuid not null references cfe,
    original_id uuid not null references cfe,
    taken numeric not null,
    primary key (cfe_uuid, original_id)
  );
  create index cfe_reference_original on cfe_reference (original_id);

  -- Volatile: after the wait for the lock of a CFE a new snapshot shows the verdicts that others have stored meanwhile.
  create function release_notes(originals uuid[]) returns integer language plpgsql volatile strict as $$
    declare
      released integer;
    begin
      perform from cfe where held and id in (select cfe_uuid from cfe_reference where original_id = any(originals))
        order by id for update;
      update cfe set held = false
      where held and id in (select cfe_uuid from cfe_reference where original_id = any(originals))
        and not exists (
          select from cfe_reference one join cfe original on original.id = one.original_id
          where one.cfe_uuid = cfe.id and original.settled_at is null);
      get diagnostics released = row_count;
      return released;
    end
  $$;

  create table stuck_moment (
    cfe_uuid uuid not null references cfe,
    since timestamptz not null,
    reason text not null,
    until timestamptz,
    primary key (cfe_uuid, since)
  );
  -- By a trigger, since many statements move the reason. Triggers write as the owner of the tables, so that no program
  -- needs the right to.
  create function note_stuck() returns trigger language plpgsql
    security definer set search_path = public, pg_temp as $$
    begin
      update stuck_moment set until = clock_timestamp() where cfe_uuid = new.id and until is null;
      if new.stuck_reason is not null then
        insert into stuck_moment (cfe_uuid, since, reason) values (new.id, clock_timestamp(), new.stuck_reason);
      end if;
      return null;
    end
  $$;
  create trigger note_stuck_at_once after insert on cfe for each row
    when (new.stuck_reason is not null) execute function note_stuck();
  create trigger note_stuck after update of stuck_reason on cfe for each row
    when (old.stuck_reason is distinct from new.stuck_reason) execute function note_stuck();

  create table annulment (
    id bigint generated always as identity primary key,
    rut text not null references enterprise,
    environment text not null check (environment in ('production', 'sandbox')),
    type text not null,
    serie text not null,
    from_number integer not null,
    to_number integer not null check (to_number >= from_number),
    reason text not null
      check (reason in ('rejected', 'abandoned', 'reference.rejected', 'cae.expired', 'by_hand')),
    typed_reason text check (typed_reason is null or reason = 'by_hand'),
    report_date date not null,
    annulled_at timestamptz not null,
    cae_id uuid not null references cae,
    cfe_uuid uuid unique references cfe,
    check ((cfe_uuid is null) = (reason in ('cae.expired', 'by_hand'))),
    check (cfe_uuid is null or from_number = to_number),
    constraint annulment_once exclude using gist (rut with =, environment with =, type with =, serie with =,
      int4range(from_number, to_number, '[]') with &&)
  );
  create index annulment_of_day on annulment (rut, environment, report_date);
  create index annulment_of_cae on annulment (cae_id);
  create index annulment_annulled_at on annulment (annulled_at);

  create function number_fate(rejection jsonb) returns text language sql immutable as $$
    select case
      when codes @> '["E02"]' or codes @> '["duplicate.not_ours"]' then 'elsewhere'
      when codes @> '["E09"]' then 'reusable'
      when codes <@ '["E06"]' and codes <> '[]' then 'undecided'
      else 'annulled' end
    from jsonb_path_query_array(coalesce(rejection, '[]'), '$[*].code') as codes
  $$;
  create index cfe_rejected on cfe (number_fate(rejection), cae_id) where status = 'REJECTED';

  -- By a trigger: every way to a rejection annuls the number in its own transaction.
  create function annul_number_of_rejected() returns trigger language plpgsql
    security definer set search_path = public, pg_temp as $$
    begin
      if number_fate(new.rejection) = 'annulled' then
        insert into annulment
          (rut, environment, type, serie, from_number, to_number, reason, report_date, annulled_at, cae_id, cfe_uuid)
        values (
          new.rut, new.environment, new.type, new.serie, new.numero, new.numero,
          case
            when new.rejection @> '[{"code": "abandoned"}]' then 'abandoned'
            when new.rejection @> '[{"code": "reference.rejected"}]' then 'reference.rejected'
            else 'rejected' end,
          case when new.digest is null then (new.settled_at at time zone 'UTC' - interval '3 hours')::date
            else left(new.document ->> 'signedAt', 10)::date end,
          new.settled_at, new.cae_id, new.id);
      end if;
      return null;
    end
  $$;
  create trigger annul_number_of_rejected after update of status on cfe for each row
    when (new.status = 'REJECTED' and old.status <> 'REJECTED') execute function annul_number_of_rejected();
`;

/** The authority: its services and certificates, sobres and calls, and its list of issuers. */
const AUTHORITY = `
  create table authority_certificate (
    fingerprint text primary key,
    certificate bytea not null,
    subject text not null,
    environment text not null check (environment in ('production', 'sandbox')),
    not_before timestamptz not null,
    not_after timestamptz not null,
    added_at timestamptz not null
  );

  create table authority_endpoint (
    name text primary key,
    failures integer not null,
    open_since timestamptz,
    closed_at timestamptz,
    next_probe_at timestamptz,
    probes integer not null,
    prober_id uuid,
    next_free_at timestamptz not null,
    check ((open_since is null) = (next_probe_at is null)),
    check (prober_id is null or open_since is not null)
  );
  insert into authority_endpoint (name, failures, probes, next_free_at)
    select name, 0, 0, to_timestamp(0) from unnest(array[
      'production/reception', 'production/consultation', 'production/registry',
      'sandbox/reception', 'sandbox/consultation', 'sandbox/registry', 'credentials', 'rates'
    ]) name;

  create table sobre_sequence (
    rut text not null references enterprise,
    environment text not null,
    last bigint not null,
    -- What an operator set \`last\` to, and what it was before; without meaning once a number was taken since.
    set_to bigint,
    set_from bigint,
    last_slot timestamptz,
    primary key (rut, environment)
  );

  -- Each is taken to its verdicts by one run of issueCfes. A slot of null: it waits until it may be sent.
  create table sobre (
    id uuid primary key,
    workflow_id text not null unique,
    rut text not null references enterprise,
    environment text not null check (environment in ('production', 'sandbox')),
    state text not null check (state in ('OPEN', 'PREPARED', 'SENDING', 'RECEIVED', 'REFUSED', 'DISSOLVED')),
    slot timestamptz,
    probed_at timestamptz,
    idemisor bigint check (idemisor between 0 and 9999999999),
    xml text,
    sending_at timestamptz,
    received_at timestamptz,
    undecided_since timestamptz,
    id_receptor text,
    token text,
    ask_from timestamptz,
    refusal jsonb,
    created_at timestamptz not null,
    unique (rut, environment, idemisor),
    check ((idemisor is null) = (xml is null)),
    check (state in ('OPEN', 'DISSOLVED') or xml is not null)
  );
  create index sobre_unsent on sobre (environment, rut, created_at) where state in ('OPEN', 'PREPARED', 'SENDING');
  alter table cfe add foreign key (sobre_id) references sobre;

  -- Whether a CFE waits to be put into a sobre, or a sobre for its slot.
  create function others_wait(of_environment text) returns boolean language sql stable as $$
    select exists (select from cfe where environment = of_environment
        and status = 'PENDING' and sobre_id is null and not held and not report_only)
      or exists (select from sobre where environment = of_environment
        and state in ('OPEN', 'PREPARED', 'SENDING') and slot is null);
  $$;
  -- Whether something of an enterprise goes before a CFE that is taken now: a sobre that waits for its slot, or has had
  -- one since then and was not received; a CFE that waits. Volatile: it sees what others have committed while the
  -- statement waited for its number.
  create function others_go_first(of_rut text, of_environment text, flight_since timestamptz) returns boolean
    language sql volatile as $$
      select exists (select from sobre where environment = of_environment and rut = of_rut
          and state in ('OPEN', 'PREPARED', 'SENDING') and (slot is null or slot > flight_since))
        or exists (select from cfe where environment = of_environment and rut = of_rut
          and status = 'PENDING' and sobre_id is null and not held and not report_only);
    $$;

  -- The position of a CFE in each sobre that contained it. The number and token are its own where the authority says that
  -- an earlier sobre of ours brought it.
  create table sobre_cfe (
    sobre_id uuid not null references sobre,
    place integer not null check (place between 1 and 250),
    cfe_uuid uuid not null references cfe,
    id_receptor text,
    token text,
    primary key (sobre_id, place)
  );
  create index sobre_cfe_of on sobre_cfe (cfe_uuid);

  -- One row for all calls that asked the same of a sobre, or of a CFE, and were answered the same: a long outage costs
  -- one, not thousands.
  create table authority_attempt (
    subject uuid not null,
    operation text not null,
    answer text not null,
    result text not null,
    count integer not null check (count > 0),
    first_at timestamptz not null,
    first_ms integer not null,
    last_at timestamptz not null,
    last_ms integer not null,
    next_at timestamptz,
    detail text,
    reasons jsonb,
    request text,
    response bytea,
    primary key (subject, operation, answer)
  ) with (fillfactor = 90);
  create index authority_attempt_first on authority_attempt (first_at);

  -- A RUC that was asked about and is no issuer has a row without a beginning.
  create table directory_entry (
    rut text primary key,
    name text not null,
    mail text,
    since date,
    until date,
    asked_at timestamptz,
    changed_at timestamptz not null
  );
  create table directory_load (
    only_row boolean primary key default true check (only_row),
    begun_at timestamptz not null,
    loaded_at timestamptz not null
  );

  -- CFEs for receivers that may be issuers themselves: PENDING until that is known, then sent in a sobre, or not at all.
  create table exchange (
    cfe_uuid uuid primary key references cfe,
    rut text not null,
    environment text not null check (environment in ('production', 'sandbox')),
    receiver_rut text not null,
    state text not null check (state in ('PENDING', 'ON_ITS_WAY', 'NOT_ELECTRONIC', 'NO_ADDRESS')),
    idemisor bigint,
    xml text,
    created_at timestamptz not null,
    settled_at timestamptz,
    unique (rut, environment, idemisor),
    check ((state = 'PENDING') = (settled_at is null)),
    check ((state = 'ON_ITS_WAY') = (idemisor is not null and xml is not null))
  );
  create index exchange_pending on exchange (created_at) where state = 'PENDING';
`;

/** Daily reports, and each file that was sent as one. */
const REPORTS = `
  create table reporting_obligation (
    rut text primary key references enterprise,
    from_date date not null,
    until_date date,
    next_date date not null
  );

  create table daily_report (
    rut text not null references enterprise,
    environment text not null check (environment in ('production', 'sandbox')),
    date date not null,
    status text not null check (status in
      ('OPEN', 'SENT', 'RECEIVED', 'CONSISTENT', 'DIFFERS', 'SUPERSEDED', 'REFUSED')),
    sequence integer check (sequence between 1 and 99),
    due_at timestamptz not null,
    workflow_id text not null,
    started_at timestamptz,
    send_now boolean not null default false,
    is_complete boolean not null default false,
    accepted_as_is boolean not null default false,
    next_sequence integer,
    looked_at timestamptz,
    stuck_reason text,
    undecided_since timestamptz,
    created_at timestamptz not null,
    primary key (rut, environment, date)
  );
  create index daily_report_open on daily_report (rut, date)
    where environment = 'production' and status in ('OPEN', 'SENT', 'REFUSED');
  create index daily_report_unsettled on daily_report (date, status)
    where environment = 'production' and status <> 'CONSISTENT';
  create index daily_report_incomplete on daily_report (date, rut) where not is_complete;
  create index daily_report_stuck on daily_report (environment, stuck_reason) where stuck_reason is not null;
  create index daily_report_newest on daily_report (date desc, rut, environment);
  create index daily_report_of_enterprise on daily_report (rut, date desc, environment) include (status)
    where stuck_reason is null;
  create index daily_report_not_consistent on daily_report (status, date desc, rut, environment)
    where status <> 'CONSISTENT';
  create index daily_report_sandbox on daily_report (date desc, rut) where environment = 'sandbox';

  create table report_submission (
    id bigint generated always as identity primary key,
    rut text not null,
    environment text not null,
    date date not null,
    sequence integer not null check (sequence between 1 and 99),
    id_emisor bigint not null check (id_emisor between 1 and 9999999999),
    status text not null check (status in
      ('PREPARED', 'SENT', 'RECEIVED', 'CONSISTENT', 'DIFFERS', 'SUPERSEDED', 'REFUSED')),
    xml text not null,
    content_hash text not null,
    types jsonb not null,
    sent_at timestamptz,
    answered_at timestamptz,
    authority_id text,
    reasons jsonb,
    created_at timestamptz not null,
    foreign key (rut, environment, date) references daily_report,
    unique (rut, environment, id_emisor)
  );
  -- A refused one does not use its sequence up; nothing else is ever in progress beside it.
  create unique index report_submission_sequence on report_submission (rut, environment, date, sequence)
    where status <> 'REFUSED';
  create index report_submission_day on report_submission (rut, environment, date);
`;

/** Webhooks, their events and deliveries, and the same events for accounts to read. */
const WEBHOOKS = `
  create table webhook (
    id uuid primary key,
    account_id uuid not null references account,
    url text not null,
    events text[] not null,
    sealed_secret text not null,
    sealed_previous_secret text,
    previous_secret_until timestamptz,
    enabled boolean not null,
    disabled_reason text,
    created_at timestamptz not null,
    removed_at timestamptz,
    check ((sealed_previous_secret is null) = (previous_secret_until is null)),
    check (removed_at is null or not enabled)
  );
  create index webhook_of_account on webhook (account_id) where removed_at is null;

  create table event (
    id uuid primary key,
    rut text references enterprise,
    name text not null,
    environment text not null check (environment in ('production', 'sandbox')),
    body text not null,
    created_at timestamptz not null
  );
  create index event_of_enterprise on event (rut, created_at, id);
  create index event_created_at on event (created_at);
  create index event_of_cfe on event (substring(body from '"cfe_id":[[:space:]]*"([0-9]+-[0-9]+)"'), rut, created_at)
    where name in ('cfe.updated', 'receipt.delivered', 'receipt.failed');

  -- An event gets its position when it is first read, so that none ever comes before what was read
  -- (docs/decisions/api.md#readable-events-are-numbered-at-the-first-read).
  create table account_event (
    id bigint generated always as identity primary key,
    account_id uuid not null references account,
    event_id uuid not null references event on delete cascade deferrable initially deferred,
    event_name text not null,
    position bigint check (position > 0),
    unique (account_id, event_id),
    unique (account_id, position)
  );
  create index account_event_of_event on account_event (event_id);
  create index account_event_by_name on account_event (account_id, event_name, position)
    where position is not null;
  create index account_event_unplaced on account_event (account_id, id) where position is null;

  create table delivery (
    id uuid primary key,
    workflow_id text not null,
    webhook_id uuid not null references webhook,
    event_id uuid not null references event deferrable initially deferred,
    event_name text not null,
    status text not null check (status in ('PENDING', 'DELIVERED', 'FAILED')),
    asked_again boolean not null default false,
    next_attempt_at timestamptz,
    created_at timestamptz not null,
    settled_at timestamptz,
    check ((status = 'PENDING') = (settled_at is null))
  );
  create index delivery_newest on delivery (created_at desc, id desc);
  create index delivery_of_event on delivery (event_id);
  create index delivery_of_event_name on delivery (webhook_id, event_name, created_at desc, id desc);
  create index delivery_rate on delivery (webhook_id, created_at desc, id desc) include (status);
  create index delivery_failed on delivery (created_at desc, id desc) where status = 'FAILED';
  create index delivery_failed_of_webhook on delivery (webhook_id, created_at desc, id desc) where status = 'FAILED';
  create index delivery_given_up on delivery (webhook_id, settled_at, id) where status = 'FAILED';
  create index delivery_waiting on delivery (created_at) where status = 'PENDING';
  create index delivery_retried on delivery (webhook_id, next_attempt_at, id)
    where status = 'PENDING' and next_attempt_at is not null;

  create table delivery_attempt (
    delivery_id uuid not null references delivery,
    number integer not null check (number > 0),
    execution text not null,
    at timestamptz not null,
    http_status integer,
    error text,
    answer text,
    milliseconds integer not null,
    primary key (delivery_id, number),
    unique (delivery_id, execution)
  );
  create index delivery_attempt_at on delivery_attempt (at);
`;

/** E-mails with CFEs for their receivers. */
const MAIL = `
  create table mail (
    id uuid primary key,
    workflow_id text not null unique,
    cfe_uuid uuid not null references cfe,
    rut text not null,
    environment text not null check (environment in ('production', 'sandbox')),
    kind text not null check (kind in ('RECEIPT', 'EXCHANGE')),
    destination text not null,
    status text not null check (status in ('PENDING', 'SENT', 'FAILED', 'DISABLED')),
    attempts integer not null default 0,
    by_hand boolean not null,
    asked_again boolean not null default false,
    counted boolean not null default false,
    message_id text unique,
    error text,
    created_at timestamptz not null,
    settled_at timestamptz,
    check ((status = 'PENDING') = (settled_at is null))
  );
  create index mail_of_cfe on mail (cfe_uuid, created_at desc, id desc);
  create index mail_of_enterprise on mail (rut, created_at desc, id desc);
  create index mail_newest on mail (created_at desc, id desc);
  create index mail_failed on mail (created_at desc, id desc) where status = 'FAILED';
  create index mail_pending on mail (created_at) where status = 'PENDING';

  create table mail_attempt (
    mail_id uuid not null references mail,
    number integer not null check (number > 0),
    execution text not null,
    at timestamptz not null,
    smtp_code integer,
    error text,
    answer text,
    milliseconds integer not null,
    primary key (mail_id, number),
    unique (mail_id, execution)
  );

  create table mail_bounce (
    account_id uuid not null references account,
    destination text not null,
    since timestamptz not null,
    primary key (account_id, destination)
  );
  create index mail_bounce_since on mail_bounce (since);
`;

/** The outbox, the audit, and bulk runs. */
const OPERATIONS = `
  create table outbox (
    id bigint generated always as identity primary key,
    -- Of WORKFLOWS in temporal.ts: which messages go first.
    lane smallint not null,
    workflow text not null,
    workflow_id text not null,
    input jsonb not null,
    signal text,
    search_attributes jsonb not null,
    created_at timestamptz not null,
    dispatched_at timestamptz,
    attempts integer not null,
    not_before timestamptz not null
  );
  create index outbox_waiting on outbox (lane, id) where dispatched_at is null;
  create index outbox_dispatched_at on outbox (dispatched_at) where dispatched_at is not null;

  -- Stores a request of support twice under one request_id: who made it, before the workflow receives it, and its outcome.
  create table audit (
    id bigint generated always as identity primary key,
    at timestamptz not null,
    actor text not null,
    action text not null,
    subject text not null,
    key_id uuid,
    address text,
    account_id uuid,
    rut text,
    reason text,
    outcome text,
    request_id text
  );
  create index audit_at on audit (at);
  create index audit_of_subject on audit (subject, id);
  create index audit_of_actor on audit (actor, id);
  create index audit_of_action on audit (action, id);
  create index audit_of_account on audit (account_id, id) where account_id is not null;
  create index audit_of_enterprise on audit (rut, id) where rut is not null;
  create unique index audit_asked on audit (request_id) where outcome is null;
  create unique index audit_done on audit (request_id, subject) where outcome is not null;
  create function audit_stands() returns trigger language plpgsql as $$
    begin
      raise exception 'the audit is only added to';
    end
  $$;
  create trigger audit_stands before update or delete or truncate on audit
    for each statement execute function audit_stands();

  -- Prevents an attacker who controls a program from naming an actor of another program. Only the worker writes in the
  -- name of others: of the people whose requests it carries out.
  create function actor_is_own() returns trigger language plpgsql as $$
    declare
      own constant text := case current_user
        when 'cfe_api' then 'account:%' when 'cfe_console' then 'console:%' when 'cfe_operator' then 'cli:%' end;
    begin
      if new.actor not like own then
        raise insufficient_privilege using message = format('%s acts as %s alone', current_user, own);
      end if;
      return new;
    end
  $$;
  create trigger actor_is_own before insert on audit for each row execute function actor_is_own();

  create table run (
    id text primary key,
    kind text not null check (kind in ('retry', 'settle', 'abandon', 'redeliver')),
    account_id uuid references account,
    actor text not null,
    address text,
    reason text not null,
    filter jsonb not null,
    state text not null check (state in ('RUNNING', 'DONE', 'STOPPED')),
    total integer not null,
    done integer not null,
    unneeded integer not null,
    refused integer not null,
    created_at timestamptz not null,
    moved_at timestamptz not null,
    stop_asked_at timestamptz,
    stop_asked_by text,
    ended_at timestamptz
  );
  -- The worker's rows in the audit take the actor from there.
  create trigger actor_is_own before insert or update of actor on run
    for each row execute function actor_is_own();
  create index run_newest on run (created_at desc, id desc);
  create index run_of_account on run (account_id, created_at desc, id desc) where account_id is not null;
  create index run_running on run (created_at) where state = 'RUNNING';

  create table run_item (
    run_id text not null references run,
    place integer not null,
    subject uuid not null,
    was text not null,
    attempts integer not null default 0,
    outcome text,
    message text,
    why jsonb,
    at timestamptz,
    primary key (run_id, place)
  );
  create index run_item_left on run_item (run_id, attempts, place) where outcome is null;
  create index run_item_refused on run_item (run_id, place) where outcome = 'refused';

  create table homologation (
    id uuid primary key,
    rut text not null references enterprise,
    account_id uuid not null references account,
    actor text not null,
    workflow_id text not null,
    test_set text not null check (test_set in ('TESTING', 'SIMULATION')),
    status text not null check (status in ('RUNNING', 'REPORTING', 'READY_TO_PROCESS', 'FAILED', 'STOPPED')),
    day date not null,
    annulled_at timestamptz,
    report_asked_at timestamptz,
    failure_code text,
    failure_detail text,
    created_at timestamptz not null,
    moved_at timestamptz not null
  );
  create unique index homologation_active on homologation (rut) where status in ('RUNNING', 'REPORTING');
  create index homologation_newest on homologation (rut, created_at desc);

  create table homologation_item (
    homologation_id uuid not null references homologation,
    place integer not null,
    type text not null,
    -- A receipt belongs to one run, and has one place in it.
    cfe_uuid uuid unique,
    primary key (homologation_id, place)
  );

  create table service_time (
    rut text not null references enterprise,
    began_on date not null,
    ended_on date check (ended_on >= began_on),
    primary key (rut, began_on)
  );
  create unique index service_time_open on service_time (rut) where ended_on is null;

  create table provider_report (
    period text not null check (period ~ '^[0-9]{6}$'),
    sequence integer not null check (sequence between 1 and 99),
    rut text not null,
    product text not null,
    xml text not null,
    built_at timestamptz not null,
    received_at timestamptz,
    primary key (period, sequence)
  );

  create table receipt_export (
    id text primary key,
    rut text not null references enterprise,
    environment text not null check (environment in ('production', 'sandbox')),
    month text not null,
    with_pdfs boolean not null,
    actor text not null,
    state text not null check (state in ('RUNNING', 'DONE', 'STOPPED')),
    total integer not null,
    done integer not null,
    left_out integer not null,
    entries integer not null,
    content_bytes bigint not null,
    directory_bytes bigint not null,
    parts integer not null,
    last_cfe uuid,
    created_at timestamptz not null,
    moved_at timestamptz not null,
    ended_at timestamptz
  );
  create unique index receipt_export_running on receipt_export (rut, environment, month, with_pdfs)
    where state = 'RUNNING';
  create index receipt_export_newest on receipt_export (created_at desc, id desc);
  create index receipt_export_of_enterprise on receipt_export (rut, created_at desc, id desc);
  create index receipt_export_ended on receipt_export (ended_at) where ended_at is not null;

  create table receipt_export_part (
    export_id text not null references receipt_export,
    place integer not null,
    content bytea not null,
    directory bytea not null,
    left_out text not null,
    primary key (export_id, place)
  );
  -- Its bytes are compressed already.
  alter table receipt_export_part alter column content set storage external;

  create table daily_count (
    counter text not null,
    day date not null,
    count integer not null check (count >= 0),
    primary key (counter, day)
  );
  create index daily_count_day on daily_count (day);

  create table ui_value (
    year integer primary key,
    value numeric(12, 4) not null check (value > 0),
    source text not null,
    estimate boolean not null
  );
  insert into ui_value values
    (2026, 6.4208, 'INE, value of 2025-12-22, quoted by El País', true);

  create table exchange_rate (
    currency text not null check (currency ~ '^[A-Z]{3}$'),
    date date not null,
    rate numeric not null check (rate > 0),
    source text not null,
    primary key (currency, date)
  );
`;

export class Migration0001Baseline extends Migration {
  override name = '0001_baseline';

  override up(): void {
    for (const sql of [
      ACCOUNTS,
      PEOPLE,
      ENTERPRISES,
      NUMBERS,
      RECEIPTS,
      AUTHORITY,
      REPORTS,
      WEBHOOKS,
      MAIL,
      OPERATIONS,
    ])
      this.addSql(sql);
  }
}
