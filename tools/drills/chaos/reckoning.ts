import { createHash } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import { reconcileNumbers } from '../../../src/db/numbers/numbers.ts';
import type { Orm } from '../../../src/db/orm.ts';
import { CFE_TYPES, type CfeType } from '../../../src/domain/receipts/cfeTypes.ts';
import type { LedgerRow, TestStack } from '../../../test/support/stacks.ts';
import { until } from '../../../test/support/until.ts';
import type { Received } from '../../../test/support/webhooks/receiver.ts';
import type { PlannedCfe } from './plan.ts';
import type { Issued, Posted } from './posting.ts';
import { misreported } from './reporting.ts';

/** What the run has left behind, and what was to be. */
export interface Evidence {
  orm: Orm;
  stack: TestStack;
  ruts: readonly string[];
  posted: Posted;
  /** The days of the run in Montevideo, all over. */
  days: readonly string[];
  /** From this place in the plan on CFEs came after the reports in the middle. */
  heldFrom: number;
  /** What the customer's server got. */
  received: readonly Received[];
}

interface Row {
  id: string;
  rut: string;
  type: CfeType;
  sequence: number;
  serie: string;
  numero: number;
  status: string;
  stuckReason: string | null;
  xml: string | null;
}

const VERDICTS: Readonly<Record<string, string>> = { AE: 'ACCEPTED', BE: 'REJECTED', CE: 'OBSERVED' };
/** Workflows that have just ended are listed as running for a moment. */
const VISIBILITY_SECONDS = 30;
/** So many lines of each kind say enough. */
const MOST_LINES = 10;

/** Everything that is not as it must be, one line each; none when all is well. */
export async function reckon(evidence: Evidence): Promise<string[]> {
  const { orm, stack, ruts, posted, days, received } = evidence;
  const rows = await orm.em.fork().execute<Row[]>(
    `select id, rut, type, sequence, serie, numero, status, stuck_reason as "stuckReason", signed_xml as xml
       from cfe where rut = any(?) order by rut, type, numero`,
    [`{${ruts.join(',')}}`],
  );
  const ledger = new Map<string, LedgerRow[]>();
  for (const rut of ruts) ledger.set(rut, await stack.ledger(rut));
  const kinds = [
    lost(posted.issued, rows),
    gaps(rows),
    await unaccounted(orm),
    unlike(posted.issued, rows, ledger),
    await misplaced(evidence),
    await misreported(evidence, days, evidence),
    rows
      .filter(({ stuckReason }) => stuckReason !== null)
      .map((row) => `${nameOf(row)} needs support: ${row.stuckReason}`),
    await untold(orm, rows, received),
    await unfinished(orm, stack),
  ];
  return kinds.flatMap((lines) =>
    lines.length > MOST_LINES
      ? [...lines.slice(0, MOST_LINES), `… and ${lines.length - MOST_LINES} more like these`]
      : lines,
  );
}

const nameOf = ({ rut, type, serie, numero }: Pick<Row, 'rut' | 'type' | 'serie' | 'numero'>): string =>
  `${rut} ${type} ${serie}-${numero}`;

/** Each 201 is one row with the verdict that was ordered, and there are no other rows. */
function lost(issued: readonly Issued[], rows: readonly Row[]): string[] {
  const left = new Map(rows.map((row) => [nameOf(row), row]));
  const lines = issued.flatMap(({ planned, cfeId, serie, numero }) => {
    const name = nameOf({ ...planned, serie, numero });
    const row = left.get(name);
    left.delete(name);
    if (!row) return [`${name} (${cfeId}) was answered 201 and is not in the table`];
    return row.status === planned.ends
      ? []
      : [`${name} is ${row.status} and ought to be ${planned.ends} (${planned.itemName})`];
  });
  return [...lines, ...[...left.keys()].map((name) => `${name} is in the table, and nobody asked for it`)];
}

/** Numbers and sequences follow one another within enterprise, type and series. */
function gaps(rows: readonly Row[]): string[] {
  const series = Map.groupBy(rows, ({ rut, type, serie }) => `${rut} ${type} ${serie}`);
  return [...series.values()].flatMap((ofSeries) =>
    ofSeries.flatMap((row, i) => {
      const first = ofSeries[0] ?? row;
      const asItMust = row.numero === first.numero + i && row.sequence === i + 1;
      return asItMust ? [] : [`${nameOf(row)} (${row.sequence}) does not follow the number before`];
    }),
  );
}

/** Every number of every CAE is issued, annulled or waiting, and here none waits any more. */
async function unaccounted(orm: Orm): Promise<string[]> {
  return (await reconcileNumbers(orm.em.fork())).flatMap(({ authorizationNumber: cae, ...numbers }) => {
    const { given, issued, annulled, waiting } = numbers;
    return given === issued + annulled && waiting === 0
      ? []
      : [`CAE ${cae} gave ${given} numbers: ${issued} issued, ${annulled} annulled, ${waiting} waiting`];
  });
}

/** The authority's ledger and our table say the same of every CFE: number, verdict, and the very bytes. */
function unlike(
  issued: readonly Issued[],
  rows: readonly Row[],
  ledger: ReadonlyMap<string, readonly LedgerRow[]>,
): string[] {
  const planned = new Map<string, PlannedCfe>(
    issued.map((one) => [nameOf({ ...one.planned, ...one }), one.planned]),
  );
  const ours = rows
    .filter((row) => planned.get(nameOf(row))?.registered)
    .map((row) => {
      const sha256 = createHash('sha256')
        .update(row.xml ?? '')
        .digest('hex');
      return `${row.rut} ${CFE_TYPES[row.type].code} ${row.serie}-${row.numero} ${row.status} ${sha256}`;
    });
  const theirs = [...ledger].flatMap(([rut, items]) =>
    items.map(
      ({ cfe_type_code, serie, numero, verdict, sha256 }) =>
        `${rut} ${cfe_type_code} ${serie}-${numero} ${VERDICTS[verdict ?? ''] ?? 'undecided'} ${sha256}`,
    ),
  );
  return [
    ...ours.filter((line) => !theirs.includes(line)).map((line) => `not at the authority: ${line}`),
    ...theirs.filter((line) => !ours.includes(line)).map((line) => `at the authority only: ${line}`),
    ...theirs
      .filter((line, i) => theirs.indexOf(line) !== i)
      .map((line) => `twice at the authority: ${line}`),
  ];
}

interface InSobre {
  cfe: string | null;
  rut: string;
  sobre: string;
  state: string;
  idemisor: string | null;
}

/**
 * Every sobre has come to an end, their numbers follow one another, and what the authority has went in one that it
 * received: in one alone. Some carried several CFEs, or the run has proved nothing of that.
 */
async function misplaced({ orm, ruts, posted }: Evidence): Promise<string[]> {
  const rows = await orm.em.fork().execute<InSobre[]>(
    `select cfe.rut || ' ' || cfe.type || ' ' || serie || '-' || numero as cfe, sobre.rut, sobre.id as sobre, state,
       idemisor::text as idemisor
     from sobre left join sobre_cfe on sobre_id = sobre.id left join cfe on cfe.id = cfe_uuid
     where sobre.rut = any(?) order by sobre.rut, sobre.idemisor`,
    [`{${ruts.join(',')}}`],
  );
  const sobres = [...Map.groupBy(rows, ({ sobre }) => sobre).values()];
  const heads = sobres.flatMap(([head]) => (head ? [head] : []));
  const open = heads.filter(({ state }) => !['RECEIVED', 'REFUSED', 'DISSOLVED'].includes(state));
  const numbered = Map.groupBy(
    heads.filter(({ idemisor }) => idemisor !== null),
    ({ rut }) => rut,
  );
  const apart = [...numbered].flatMap(([rut, all]) => {
    const numbers = all.map(({ idemisor }) => Number(idemisor));
    const first = numbers[0] ?? 0;
    return numbers.flatMap((one, i) =>
      one === first + i ? [] : [`${rut}: Idemisor ${one} does not follow the one before`],
    );
  });
  const received = Map.groupBy(
    rows.filter(({ state }) => state === 'RECEIVED'),
    ({ cfe }) => cfe,
  );
  const elsewhere = posted.issued.flatMap(({ planned, serie, numero }) => {
    const name = nameOf({ ...planned, serie, numero });
    const times = received.get(name)?.length ?? 0;
    return times === (planned.registered ? 1 : 0)
      ? []
      : [`${name} went in ${times} sobres that were received`];
  });
  const isShared = sobres.some((all) => all.length > 1);
  return [
    ...open.map(({ rut, sobre, state }) => `${rut}: the sobre ${sobre} is ${state}`),
    ...apart,
    ...elsewhere,
    ...(isShared ? [] : ['no sobre carried more than one CFE']),
  ];
}

/** Every verdict has one event, and the customer's server got it, always with the same bytes. */
async function untold(orm: Orm, rows: readonly Row[], received: readonly Received[]): Promise<string[]> {
  const told = await orm.em.fork().execute<{ cfe: string; delivery: string; status: string }[]>(
    `select e.rut || ' ' || (e.body::jsonb #>> '{data,cfe_type}') || ' ' || (e.body::jsonb #>> '{data,serie}') || '-'
              || (e.body::jsonb #>> '{data,numero}') as cfe,
            d.id as delivery, d.status
       from event e join delivery d on d.event_id = e.id
      where e.name = 'cfe.updated' and e.body::jsonb #>> '{data,status}' in ('ACCEPTED', 'REJECTED', 'OBSERVED')`,
  );
  const eventsOf = Map.groupBy(told, ({ cfe }) => cfe);
  const bodiesOf = Map.groupBy(received, ({ headers }) => headers['webhook-id'] ?? '');
  return rows.flatMap((row) => {
    const name = nameOf(row);
    const events = eventsOf.get(name) ?? [];
    if (events.length !== 1) return [`${name} has ${events.length} events of its verdict`];
    return events.flatMap(({ delivery, status }) => {
      const bodies = new Set((bodiesOf.get(delivery) ?? []).map(({ body }) => body));
      if (status !== 'DELIVERED' || bodies.size === 0)
        return [`the event of ${name} is ${status}, not delivered`];
      return bodies.size > 1 ? [`the event of ${name} came with different bytes`] : [];
    });
  });
}

/** Nothing is under way any more: no message in the outbox, no workflow that runs. */
async function unfinished(orm: Orm, stack: TestStack): Promise<string[]> {
  const [outbox] = await orm.em
    .fork()
    .execute<{ n: number }[]>('select count(*)::integer as n from outbox where dispatched_at is null');
  const { temporal_address: address, temporal_namespace: namespace } = stack.info();
  const connection = await Connection.connect({ address });
  try {
    const { workflow } = new Client({ connection, namespace });
    let running: string[] = [];
    await until('the end of all workflows', VISIBILITY_SECONDS, async () => {
      running = [];
      for await (const { workflowId } of workflow.list({ query: "ExecutionStatus = 'Running'" }))
        running.push(workflowId);
      return running.length === 0;
    }).catch(() => undefined);
    const waiting = outbox?.n ? [`${outbox.n} messages wait in the outbox`] : [];
    return [...waiting, ...running.map((id) => `the workflow ${id} still runs`)];
  } finally {
    await connection.close();
  }
}
