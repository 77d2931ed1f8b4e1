import * as z from 'zod';
import { startRun, stopRun } from '../../../commands/operations/runs.ts';
import type { Run } from '../../../db/entities/operations.ts';
import { findRun, workflowIdOfRun } from '../../../db/operations/runs.ts';
import {
  countRunTargets,
  countStuckByKind,
  listStuckCfes,
  listUndelivered,
} from '../../../db/operations/runTargets.ts';
import type { Database } from '../../../db/orm.ts';
import { findWebhook } from '../../../db/webhooks/webhooks.ts';
import type { StuckReason } from '../../../domain/authority/stuckReason.ts';
import { personOf } from '../../../domain/operations/audit.ts';
import { forecastSupportAction, type StuckKind } from '../../../domain/operations/cfeProgress.ts';
import {
  processedCount,
  RUN_KINDS,
  RUN_REASON_LENGTH,
  type RunFilter,
} from '../../../domain/operations/run.ts';
import type { SupportAction } from '../../../domain/operations/supportAction.ts';
import { formatCfeId } from '../../../domain/receipts/cfeId.ts';
import { CFE_TYPES } from '../../../domain/receipts/cfeTypes.ts';
import { Refusal } from '../../../errors.ts';
import { filterValues } from '../../../lists/list.ts';
import { REFUSALS, RUNS } from '../../../lists/runs.ts';
import { type Html, html } from '../../../page/html.ts';
import { CFE_WORDS } from '../../../words/cfeStates.ts';
import { refusalMeans } from '../../../words/refusals.ts';
import { accountsOf } from '../../access/access.ts';
import { accountsFor } from '../../access/permissions.ts';
import { type Field, many, operatorsReason, reason, state, subject, text, ValueList } from '../../fields.ts';
import { filterFields, filterSchemas, LIST_QUERY, listQuery } from '../../filters.ts';
import { defineForm } from '../../form.ts';
import { figure, timeOf } from '../../format.ts';
import { link, workflowUrl } from '../../links.ts';
import { csvAnswer, figures, type Headings, type ListPart, listPart, showList } from '../../lists.ts';
import {
  type ConsoleDeps,
  definePage,
  LocalizedRefusal,
  redirect,
  routeOf,
  type Sent,
  show,
  signedIn,
  type Visit,
} from '../../page.ts';
import { badge, factList, panel, renderEmpty, table } from '../../parts.ts';
import { filterOf, RUN_QUERY, RunQuery } from '../../runQuery.ts';
import { deliveryMark } from '../webhooks/deliveries.ts';

const SAMPLE_ROWS = 10;
const RunId = z.string().max(60);
const FORM_FIELDS = Object.keys(RUN_QUERY);

/** GET /runs/new: the preview of a bulk run. */
export const newRunPage = definePage({
  name: 'run-new',
  route: 'GET /runs/new',
  query: RunQuery,
  async handle({ query, visit }, { orm }) {
    const { runs: words } = visit.texts;
    const { kind } = query;
    const filter = filterOf(query);
    await requirePreviewAllowed(visit, orm, query);
    const count = await countRunTargets(orm.em.fork(), kind, filter);
    const selection = describeFilter(visit, filter, await readWebhookUrl(orm, filter));
    const forecast =
      kind !== 'redeliver' && renderForecast(visit, kind, await countStuckByKind(orm.em.fork(), filter));
    const preview = panel(
      words.preview,
      html`<p>${words.does[kind]}</p>
        <p>${words.filter}: ${selection}</p>
        <p><strong>${words.matching(figure(count, visit.texts), kind === 'redeliver')}</strong></p>
        ${forecast}`,
    );
    if (count === 0) return show(words.kinds[kind], html`${preview}${renderEmpty(words.nothing)}`);
    const submit = words.start(words.kinds[kind], figure(count, visit.texts));
    const start = newRun.draw(visit, {}, { values: { ...query, expected: String(count) }, submit });
    const sample = panel(words.sample, await sampleTable(visit, orm, kind === 'redeliver', filter));
    return show(words.kinds[kind], html`${preview}${sample}${panel(null, start)}`);
  },
});

/** Renders how many of the matching rows permit the action, and why the others do not. */
function renderForecast(visit: Visit, action: SupportAction, kinds: readonly StuckKind[]): Html | false {
  const { runs: words } = visit.texts;
  const { fits, refused, left } = forecastSupportAction(action, kinds);
  if (refused.size === 0 && left === 0) return false;
  const lines = [...refused].map(
    ([code, count]) =>
      html`<li>
        ${words.wouldRefuse(figure(count, visit.texts))} ${refusalMeans({ code }, visit.language)}
      </li>`,
  );
  const others = left > 0 && html`<li>${words.wouldLeave(figure(left, visit.texts))}</li>`;
  return html`<p>${words.fits(figure(fits, visit.texts))}</p>
    <ul>
      ${lines}${others}
    </ul>`;
}

/** Throws NOT_FOUND to members, except for deliveries to a webhook of an account where they are MEMBER. */
async function requirePreviewAllowed(
  visit: Visit,
  orm: Database,
  query: z.output<typeof RunQuery>,
): Promise<void> {
  const accounts = accountsFor(signedIn(visit).viewer, routeOf(visit));
  const { kind, webhook: id } = query;
  if (kind !== 'redeliver' && accounts === null) return;
  const webhook = id === undefined ? null : await findWebhook(orm.em.fork(), id);
  const isTheirs = webhook?.removedAt === null && (accounts === null || accounts.includes(webhook.accountId));
  if (kind !== 'redeliver' || !isTheirs) throw new Refusal('NOT_FOUND', 'There is no such webhook.');
}

async function sampleTable(
  visit: Visit,
  orm: Database,
  isDeliveries: boolean,
  filter: RunFilter,
): Promise<Html> {
  const { runs: words, stuck } = visit.texts;
  const page = { after: null, limit: SAMPLE_ROWS };
  if (isDeliveries) {
    const rows = await listUndelivered(orm.em.fork(), filter, page);
    return table(
      words.sample,
      [words.event, stuck.enterprise, words.url, words.delivery, words.refusedAt],
      rows.map((row) => [
        row.event,
        row.rut,
        html`<span class="url">${row.url}</span>`,
        deliveryMark(visit, row),
        timeOf(new Date(row.since)),
      ]),
    );
  }
  const rows = await listStuckCfes(orm.em.fork(), filter, page);
  const { stuck: reasons } = CFE_WORDS[visit.language];
  return table(
    words.sample,
    [stuck.number, stuck.type, stuck.enterprise, stuck.environment, stuck.reason, stuck.taken],
    rows.map((row) => [
      html`<a href="/cfes/${row.rut}/${row.environment}/${formatCfeId(row)}">${formatCfeId(row)}</a>`,
      CFE_TYPES[row.type].label,
      html`${row.legalName} <span class="soft">${row.rut}</span>`,
      visit.texts.environments[row.environment],
      badge(reasons[row.reason].label, 'bad'),
      timeOf(new Date(row.since)),
    ]),
  );
}

/** Hidden fields with the filter of the run. */
const FILTER_FIELDS = Object.fromEntries(
  Object.entries(RUN_QUERY).map(([name, schema]) => [name, subject<unknown>(schema)]),
) as { [N in keyof typeof RUN_QUERY]: Field<z.output<(typeof RUN_QUERY)[N]>> };
/** The action: a choice if the page offers several, else hidden. */
const kindField = (label: string): Field<(typeof RUN_KINDS)[number]> => {
  const kind = subject(z.enum(RUN_KINDS));
  return { ...kind, draw: (context) => (context.options ? text(label) : kind).draw(context) };
};

/** Starts a run over all matching rows, or over the ticked ones. */
export const newRun = defineForm('POST /runs', {
  fields: ({ runs: words, stuck }) => ({
    ...FILTER_FIELDS,
    ids: { ...many(), schema: ValueList.pipe(z.array(z.uuid())) },
    kind: kindField(stuck.ticked),
    expected: state(z.coerce.number().int().min(0).optional()),
    reason: reason(words.why, RUN_REASON_LENGTH),
  }),
  back: ({ sent }) => formPath(sent),
  async run({ form: { ids, kind, reason, expected, ...query }, visit }, deps) {
    if (ids.length === 0 && expected === undefined)
      throw new LocalizedRefusal('INVALID_INPUT', visit.texts.runs.tickFirst);
    const accounts = accountsFor(signedIn(visit).viewer, routeOf(visit));
    const filter = { ...filterOf(query), ...(ids.length > 0 ? { ids } : {}) };
    const run = await startRun(deps, { kind, filter, reason, accounts, expected });
    return redirect(`/runs/${run.id}`, { kind: 'done', text: visit.texts.runs.started(run.id) });
  },
});

/** Returns the path of the preview; for ticked rows, of their list. */
function formPath(sent: Sent): string {
  if (sent['expected'] === undefined) return sent['kind'] === 'redeliver' ? '/deliveries' : '/stuck';
  const chosen = ['kind', ...FORM_FIELDS].map((name) => [name, sent[name]?.toString()] as const);
  return link('/runs/new', Object.fromEntries(chosen));
}

/** GET /runs: the runs that the viewer sees, newest first. */
export const runsPage = definePage({
  name: 'runs',
  route: 'GET /runs',
  query: listQuery(filterSchemas(RUNS)),
  handle({ query, visit }, deps) {
    const { runs: words } = visit.texts;
    return showList(visit, deps, RUNS, {
      title: words.title,
      path: '/runs',
      query,
      search: { ...filterValues(RUNS, query), accounts: accountsOf(signedIn(visit).viewer) },
      live: ['runs'],
      empty: words.none,
      emptyAtFirst: words.noneYet,
      filters: filterFields(filterSchemas(RUNS), { state: [words.state, words.states] }),
      headings: runHeadings(visit),
      href: ({ id }) => `/runs/${id}`,
    });
  },
});

function runHeadings(visit: Visit): Headings<Run, typeof RUNS.columns> {
  const { runs: words } = visit.texts;
  return {
    run_id: words.run,
    kind: [words.kind, ({ kind }) => words.kinds[kind]],
    state: [words.state, (run) => stateMark(visit, run)],
    done: figures(words.progress, (run) =>
      words.of(figure(processedCount(run), visit.texts), figure(run.total, visit.texts)),
    ),
    refused: figures(words.refused, ({ refused }) =>
      refused > 0 ? badge(figure(refused, visit.texts), 'bad') : figure(0, visit.texts),
    ),
    by: words.by,
    reason: words.reason,
    created_at: [words.began, ({ createdAt }) => timeOf(createdAt)],
  };
}

function stateMark(visit: Visit, { state, stopAskedAt }: Run): Html {
  const { runs: words } = visit.texts;
  if (state === 'RUNNING' && stopAskedAt !== null) return badge(words.stopping, 'wait');
  return badge(words.states[state], state === 'DONE' ? 'good' : state === 'RUNNING' ? 'wait' : 'calm');
}

/** GET /runs/{id}: the progress of a run, and the rejected rows with their reasons. */
export const runPage = definePage({
  name: 'run',
  route: 'GET /runs/{id}',
  params: { id: RunId },
  query: z.object(LIST_QUERY),
  async handle({ params: { id }, query, visit }, deps) {
    const { runs: words } = visit.texts;
    const { viewer } = signedIn(visit);
    const run = await findRun(deps.orm.em.fork(), id, accountsOf(viewer));
    if (!run) throw new Refusal('NOT_FOUND', `There is no run ${id}.`);
    const refusals = refusalList(visit, deps, run, query);
    const csv = csvAnswer(query, [refusals]);
    if (csv) return csv;
    const webhookUrl = await readWebhookUrl(deps.orm, run.filter);
    const facts = renderFacts(visit, run, { ...deps, webhookUrl });
    const progressPanel = html`${renderProgress(visit, run)}${facts}${stopForm(visit, run)}`;
    const body = html`${panel(null, progressPanel)}${panel(words.refusals, await refusals.render())}`;
    return show(words.one(id), body, { live: ['runs'] });
  },
});

function renderProgress(visit: Visit, run: Run): Html {
  const { runs: words } = visit.texts;
  const label = words.of(figure(processedCount(run), visit.texts), figure(run.total, visit.texts));
  const [max, value] = [String(run.total), String(processedCount(run))];
  return html`<p>
    <label>${label} <progress max="${max}" value="${value}">${label}</progress></label>
  </p>`;
}

function renderFacts(
  visit: Visit,
  run: Run,
  { temporalUi, webhookUrl }: Pick<ConsoleDeps, 'temporalUi'> & { webhookUrl: string | undefined },
): Html {
  const { runs: words } = visit.texts;
  const inTemporal = (ui: NonNullable<typeof temporalUi>): Html =>
    html`<a href="${workflowUrl(ui, workflowIdOfRun(run))}">${words.inTemporal}</a>`;
  const rows: (readonly [string, Html | string])[] = [
    [words.kind, words.kinds[run.kind]],
    [words.state, stateMark(visit, run)],
    [words.done, figure(run.done, visit.texts)],
    [words.unneeded, figure(run.unneeded, visit.texts)],
    [words.refused, figure(run.refused, visit.texts)],
    [words.filter, describeFilter(visit, run.filter, webhookUrl)],
    [words.by, personOf(run.actor) ?? run.actor],
    [words.reason, run.reason],
    [words.began, timeOf(run.createdAt)],
    [words.moved, timeOf(run.movedAt)],
    ...(run.endedAt ? [[words.ended, timeOf(run.endedAt)] as const] : []),
    ...(temporalUi && signedIn(visit).viewer.kind === 'operator'
      ? [['Temporal', inTemporal(temporalUi)] as const]
      : []),
  ];
  return factList(rows);
}

function stopForm(visit: Visit, run: Run): Html {
  const accounts = accountsFor(signedIn(visit).viewer, runStop.route);
  const mayStop = accounts === null || (run.accountId !== null && accounts.includes(run.accountId));
  if (run.state !== 'RUNNING' || run.stopAskedAt !== null || !mayStop) return html``;
  return runStop.draw(visit, { id: run.id });
}

export const runStop = defineForm('POST /runs/{id}/stop', {
  params: { id: RunId },
  words: (texts) => ({ done: texts.runs.stopAsked, submit: texts.runs.stop }),
  fields: (texts) => ({ reason: operatorsReason(texts) }),
  back: ({ params: { id } }) => `/runs/${id}`,
  command: ({ params: { id }, form, visit }, deps) =>
    stopRun(deps, { id, accounts: accountsFor(signedIn(visit).viewer, routeOf(visit)), ...form }),
});

/** Returns the URL of the run's webhook. */
async function readWebhookUrl(orm: Database, { webhook: id }: Run['filter']): Promise<string | undefined> {
  return id === undefined ? undefined : ((await findWebhook(orm.em.fork(), id))?.url ?? id);
}

/** Describes the filter of a run. */
function describeFilter(visit: Visit, filter: Run['filter'], webhookUrl: string | undefined): Html {
  const { runs: words, stuck, environments } = visit.texts;
  const { stuckReason, rut, environment, type, status, event, since, ticked } = filter;
  const rows: (readonly [string, string | undefined])[] = [
    [words.stuckReason, stuckReason && CFE_WORDS[visit.language].stuck[stuckReason].label],
    ['RUT', rut],
    [stuck.environment, environment && environments[environment]],
    [stuck.type, type && CFE_TYPES[type].label],
    [stuck.status, status && CFE_WORDS[visit.language].status[status].label],
    [words.webhook, webhookUrl],
    [words.event, event],
  ];
  const parts = rows.flatMap(([name, value]) => (value === undefined ? [] : [`${name}: ${value}`]));
  if (ticked !== undefined) parts.push(words.ticked(figure(ticked, visit.texts)));
  return html`${parts.join(' · ') || '–'}${since !== undefined && html` · ${words.since} ${timeOf(new Date(since))}`}`;
}

function refusalList(
  visit: Visit,
  deps: Pick<ConsoleDeps, 'orm'>,
  run: Run,
  query: Readonly<Record<string, string | undefined>>,
): ListPart {
  const { runs: words } = visit.texts;
  return listPart(visit, deps, REFUSALS, {
    label: words.refusals,
    path: `/runs/${run.id}`,
    query,
    isPart: true,
    search: { id: run.id, kind: run.kind, language: visit.language },
    empty: words.noRefusals,
    headings: {
      thing: words.thing,
      was: [
        words.was,
        ({ item: { was } }) =>
          run.kind === 'redeliver' ? was : CFE_WORDS[visit.language].stuck[was as StuckReason].label,
      ],
      message: words.message,
    },
    href: ({ item, cfe }) =>
      cfe ? `/cfes/${cfe.rut}/${cfe.environment}/${formatCfeId(cfe)}` : `/deliveries/${item.subject}`,
  });
}
