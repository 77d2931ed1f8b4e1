import { writeFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import got from 'got';
import type { Orm } from '../../../src/db/orm.ts';
import { CFE_TYPES } from '../../../src/domain/receipts/cfeTypes.ts';
import { addDays, montevideoDate } from '../../../src/domain/values/montevideo.ts';
import type { TestStack } from '../../../test/support/stacks.ts';
import { until } from '../../../test/support/until.ts';
import type { Posted } from './posting.ts';

/** Whose reports, and where they are. */
export interface Reported {
  orm: Orm;
  stack: TestStack;
  ruts: readonly string[];
}

/** The reports in the middle of a run; what is held back until the authority has them is not in them. */
export interface Middle {
  /** They are asked for once so many CFEs are answered. */
  begin: (answered: number) => void;
  held: { from: number; until: Promise<void> };
}

/** The shares of the plan after which reports are asked for, and which does not wait for them. */
const BEGIN = 1 / 3;
const HELD_FROM = 5 / 6;
const TAKEN_SECONDS = 180;
const CONSISTENT_SECONDS = 120;
/** Pause between two starts of the nightly schedule: programs read a clock that was moved within a second. */
const NIGHTS_APART_MILLISECONDS = 5_000;

/**
 * Has an operator send the report of the unfinished day of every enterprise while CFEs are issued and processes killed.
 * The last CFEs of the plan come only when the authority has these reports, so that each has to be corrected.
 */
export function reportInTheMiddle(of: Reported, cfes: number, say: (line: string) => void): Middle {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  // The clients that wait for it throw.
  promise.catch(() => undefined);
  let isBegun = false;
  const run = async (): Promise<void> => {
    say('chaos: the reports of this day are asked for');
    for (const rut of of.ruts) await sendUntilTaken(of, rut);
    say('chaos: the authority has a report of each enterprise');
  };
  return {
    begin(answered) {
      if (isBegun || answered < Math.floor(cfes * BEGIN)) return;
      isBegun = true;
      run().then(resolve, reject);
    },
    held: { from: Math.floor(cfes * HELD_FROM), until: promise },
  };
}

/** The operator repeats the call for as long as the database is away, then looks until the authority has the report. */
async function sendUntilTaken({ orm, stack }: Reported, rut: string): Promise<void> {
  const date = montevideoDate(new Date());
  let said: unknown;
  const unlessAway = async <T>(work: Promise<T>): Promise<T | undefined> =>
    work.catch((error: unknown) => {
      said = error;
      return undefined;
    });
  const send = ['report', 'send', rut, date, '--reason', 'in the middle of it all'];
  await until(`the call for the report of ${rut}`, TAKEN_SECONDS, () =>
    unlessAway(stack.cli.json(...send)),
  ).catch((cause: Error) => {
    throw new Error(`${cause.message}: ${String(said)}`, { cause });
  });
  await until(`the report of ${rut} in the middle`, TAKEN_SECONDS, async () => {
    const taken = await unlessAway(
      orm.em.fork().execute<unknown[]>(
        `select 1 from report_submission
            where rut = ? and date = ? and status in ('RECEIVED', 'CONSISTENT', 'DIFFERS', 'SUPERSEDED')`,
        [rut, date],
      ),
    );
    return taken !== undefined && taken.length > 0;
  });
}

/** Every day from the first to the last, `YYYY-MM-DD`. */
function daysBetween(first: string, last: string): string[] {
  const days = [];
  for (let day = first; day <= last; day = addDays(day, 1)) days.push(day);
  return days;
}

/**
 * Moves the clock past midnight, begins the night's reports as the schedule does, and waits until the authority agrees
 * with every day since the first, or until the time is over: what is left is told by the reckoning. Answers the days.
 */
export async function endTheDay(of: Reported, first: string, clockFile: string): Promise<string[]> {
  const last = montevideoDate(new Date());
  const night = Date.parse(`${addDays(last, 1)}T02:30:00-03:00`);
  writeFileSync(clockFile, String(Math.ceil((night - Date.now()) / 1_000)));
  const days = daysBetween(first, last);
  const { temporal_address: address, temporal_namespace: namespace } = of.stack.info();
  const connection = await Connection.connect({ address });
  try {
    const nightly = new Client({ connection, namespace }).schedule.getHandle('daily-reports');
    await until('the end of the reports', CONSISTENT_SECONDS, async () => {
      await nightly.trigger();
      await pause(NIGHTS_APART_MILLISECONDS);
      const [row] = await of.orm.em.fork().execute<{ n: number }[]>(
        `select count(*)::integer as n from daily_report
          where rut = any(?) and date = any(?) and status = 'CONSISTENT' and is_complete`,
        [`{${of.ruts.join(',')}}`, `{${days.join(',')}}`],
      );
      return row?.n === of.ruts.length * days.length;
    }).catch(() => undefined);
  } finally {
    await connection.close();
  }
  return days;
}

/** A report as the API tells it, as far as it is looked at. */
interface Ours {
  status: string;
  sequence: number | null;
  types: { cfe_type: string; issued: number; annulled: number }[];
  waits_for: unknown[];
}

/** A report as the authority's portal tells it. */
interface Theirs {
  sequence: number | null;
  status: string;
  reasons: { detail: string }[];
}

/**
 * The authority found the last report of every day consistent, with the sequence that we have; all days together tell of
 * each type as many issued and annulled numbers as were answered; and those of the middle were corrected.
 */
export async function misreported(
  { stack, ruts }: Reported,
  days: readonly string[],
  { posted, heldFrom }: { posted: Posted; heldFrom: number },
): Promise<string[]> {
  const lines: string[] = [];
  for (const rut of ruts) {
    const issued = posted.issued.filter(({ planned }) => planned.rut === rut);
    const reports: Ours[] = [];
    for (const day of days) {
      const ours = await stack.customer.find<Ours>(`enterprises/${rut}/daily-reports/${day}`);
      if (ours) reports.push(ours);
      const name = `the report of ${rut} for ${day}`;
      lines.push(...(ours ? unlike(name, ours, await atAuthority(stack, rut, day)) : [`${name} is missing`]));
    }
    for (const type of Object.keys(CFE_TYPES)) {
      const ends = issued.filter(({ planned }) => planned.type === type).map(({ planned }) => planned.ends);
      const rejected = ends.filter((end) => end === 'REJECTED').length;
      const wanted = `${ends.length - rejected} issued, ${rejected} annulled`;
      const rows = reports.flatMap(({ types }) => types).filter(({ cfe_type }) => cfe_type === type);
      const sum = (of: 'issued' | 'annulled') => rows.reduce((all, row) => all + row[of], 0);
      const told = `${sum('issued')} issued, ${sum('annulled')} annulled`;
      if (told !== wanted) lines.push(`${rut} reported of ${type}: ${told}; it ought to be ${wanted}`);
    }
    const submissions = reports.reduce((sum, { sequence }) => sum + (sequence ?? 0), 0);
    if (submissions < 2 && issued.some(({ planned }) => planned.index >= heldFrom))
      lines.push(`${rut} issued after its report, and nothing was reported of it since`);
  }
  return lines;
}

async function atAuthority(stack: TestStack, rut: string, date: string): Promise<Theirs[]> {
  const searchParams = { rut, date };
  const { items } = await got
    .get(`${stack.info().simulator_url}/portal/reports`, { searchParams })
    .json<{ items: Theirs[] }>();
  return items;
}

/** How our report and those of the authority differ; refused ones (BR) do not count there. */
function unlike(name: string, { status, sequence, waits_for }: Ours, all: readonly Theirs[]): string[] {
  const lines: string[] = [];
  if (status !== 'CONSISTENT') lines.push(`${name} is ${status}`);
  if (waits_for.length > 0) lines.push(`${name} waits for ${waits_for.length} CFEs`);
  const taken = all.filter((one) => one.status !== 'BR');
  const last = taken.at(-1);
  const standing = `${last?.sequence} ${last?.status}`;
  if (standing !== `${sequence} DR`)
    lines.push(
      `${name} has sequence ${sequence}; at the authority it is ${standing}: ${JSON.stringify(last?.reasons)}`,
    );
  const sequences = taken.map((one) => one.sequence);
  if (sequences.some((one, i) => one !== i + 1))
    lines.push(`${name} was taken with the sequences ${sequences.join()}`);
  return lines;
}
