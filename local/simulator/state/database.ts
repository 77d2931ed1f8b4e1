import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** All that the authority knows: one SQLite file; each commit is on the disk before it is answered. */
export type State = DatabaseSync;

const TABLES = `
create table if not exists counters (name text primary key, value integer not null) strict;

create table if not exists caes (
  authorization_number text primary key, environment text not null, rut text not null, cfe_type text not null,
  series text not null, number_start integer not null, number_end integer not null,
  issue_date text not null, expiration_date text not null, kind text not null,
  special text, special_cause text, xml text not null) strict;
create index if not exists caes_by_issuer on caes (environment, rut, cfe_type, series);

create table if not exists annulments (
  environment text not null, rut text not null, cfe_type text not null, series text not null,
  number_start integer not null, number_end integer not null) strict;
create index if not exists annulments_by_issuer on annulments (environment, rut, cfe_type, series);

create table if not exists sobres (
  id integer primary key autoincrement, environment text not null, rut text not null, idemisor integer not null,
  state text not null, received_at text not null, ready_at text not null, response_id integer not null,
  token text not null, query_from text not null, asked integer not null default 0, ack_cfe text) strict;
create unique index if not exists sobres_received on sobres (environment, rut, idemisor) where state = 'AS';
create index if not exists sobres_by_time on sobres (environment, rut, received_at);

create table if not exists judgements (
  sobre_id integer not null references sobres, ordinal integer not null, environment text not null, rut text not null,
  cfe_type text, series text, number integer, issued_on text, signed_at text,
  verdict text not null, reasons text not null, original_sobre_id integer,
  primary key (sobre_id, ordinal)) strict, without rowid;
create index if not exists judgements_by_number on judgements (environment, rut, cfe_type, series, number);

create table if not exists receipts (
  environment text not null, rut text not null, cfe_type text not null, series text not null, number integer not null,
  sobre_id integer not null references sobres, verdict text not null, code text, received_at text not null,
  ready_at text not null, times_received integer not null, sha256 text not null, xml blob not null,
  amount_payable text, currency text, exchange_rate text,
  primary key (environment, rut, cfe_type, series, number)) strict;
create index if not exists receipts_by_time on receipts (environment, received_at);

create table if not exists foreign_cfes (
  environment text not null, rut text not null, cfe_type text not null, series text not null, number integer not null,
  issued_on text not null, amount_payable text, currency text, exchange_rate text,
  primary key (environment, rut, cfe_type, series, number)) strict, without rowid;

create table if not exists receipt_facts (
  environment text not null, rut text not null, cfe_type text not null, series text not null, number integer not null,
  signed_on text not null, issued_on text not null, branch text not null, is_third_party integer not null,
  currency text not null, exchange_rate text, amounts text not null,
  primary key (environment, rut, cfe_type, series, number)) strict, without rowid;
create index if not exists receipt_facts_by_day on receipt_facts (environment, rut, signed_on);

create table if not exists reports (
  id integer primary key, environment text not null, rut text not null, date text, sequence integer,
  id_emisor integer not null, state text not null, reasons text not null, received_at text not null,
  ready_at text not null, is_to_differ integer not null, sha256 text not null, xml text not null,
  ack text not null) strict;
create index if not exists reports_by_day on reports (environment, rut, date, sequence);
create index if not exists reports_by_bytes on reports (environment, rut, sha256);
create index if not exists reports_uncompared on reports (environment, rut) where state = 'AR';

create table if not exists report_faults (
  environment text not null, rut text not null, kind text not null, times integer not null,
  primary key (environment, rut, kind)) strict, without rowid;

create table if not exists faults_given (
  environment text not null, rut text not null, idemisor integer not null, given integer not null,
  primary key (environment, rut, idemisor)) strict, without rowid;

create table if not exists odd_verdicts (
  sobre_id integer not null references sobres, ordinal integer not null, state text not null,
  primary key (sobre_id, ordinal)) strict, without rowid;

create table if not exists late_verdicts (
  sobre_id integer not null references sobres, ordinal integer not null, ready_at text not null,
  primary key (sobre_id, ordinal)) strict, without rowid;

create table if not exists forgotten (
  environment text not null, rut text not null, cfe_type text not null, series text not null, number integer not null,
  primary key (environment, rut, cfe_type, series, number)) strict, without rowid;

create table if not exists rates (
  date text not null, currency text not null, rate text, primary key (date, currency)) strict, without rowid;

create table if not exists registry (rut text primary key, record text not null) strict;

create table if not exists directory (
  rut text primary key, name text not null, mail text not null, since text not null, until text,
  changed_at text not null) strict;

create table if not exists mailboxes (address text primary key, answer integer not null, times integer) strict;

create table if not exists mails (
  id integer primary key autoincrement, message_id text not null, sender text not null, recipient text not null,
  subject text not null, received_at text not null, attachments text not null, bytes blob not null) strict;
create index if not exists mails_by_id on mails (message_id);
create index if not exists mails_by_recipient on mails (recipient, received_at);

create table if not exists credentials (
  rut text primary key, username text, salt text, password_hash text, permissions text not null) strict;
`;

/** The state in `folder`, made when there is none. */
export function openState(folder: string): State {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const state = new DatabaseSync(join(folder, 'state.sqlite'));
  state.exec(
    'pragma journal_mode = wal; pragma synchronous = full; pragma foreign_keys = on; pragma busy_timeout = 5000;',
  );
  state.exec(TABLES);
  return state;
}

/** Runs `work` in one transaction, which is rolled back when it throws. */
export function inTransaction<T>(state: State, work: () => T): T {
  state.exec('begin immediate');
  try {
    const result = work();
    state.exec('commit');
    return result;
  } catch (error) {
    state.exec('rollback');
    throw error;
  }
}

/** The next number of a named counter, from `first` on. */
export function nextNumber(state: State, name: string, first: number): number {
  const row = state
    .prepare(
      `insert into counters (name, value) values (?, ?)
       on conflict (name) do update set value = value + 1 returning value`,
    )
    .get(name, first);
  return Number(row?.['value']);
}
