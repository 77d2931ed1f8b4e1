import {
  countStuckByKind,
  countStuckByReason,
  type StuckCfe,
  type StuckGroup,
} from '../../../db/operations/runTargets.ts';
import { actionsForStuckKinds } from '../../../domain/operations/cfeProgress.ts';
import type { SupportAction } from '../../../domain/operations/supportAction.ts';
import { formatCfeId } from '../../../domain/receipts/cfeId.ts';
import { CFE_TYPES } from '../../../domain/receipts/cfeTypes.ts';
import { STUCK_CFES } from '../../../lists/runs.ts';
import { type Html, html } from '../../../page/html.ts';
import { CFE_WORDS } from '../../../words/cfeStates.ts';
import { enterprisePath } from '../../access/enterpriseContext.ts';
import { mayOpen } from '../../access/permissions.ts';
import { filterFields, listQuery } from '../../filters.ts';
import { age, figure } from '../../format.ts';
import { link } from '../../links.ts';
import { figures, type Headings, showList } from '../../lists.ts';
import { definePage, signedIn, type Visit } from '../../page.ts';
import { badge, button, panel, renderEmpty, table, wholeWords } from '../../parts.ts';
import { filterOf, RUN_QUERY } from '../../runQuery.ts';
import { newRun } from './runs.ts';

const Query = listQuery(RUN_QUERY);

/** GET /stuck: receipts that need attention, by reason and one by one, with actions on some or all of them. */
export const stuckPage = definePage({
  name: 'stuck',
  route: 'GET /stuck',
  query: Query,
  async handle({ query, visit }, deps) {
    const { stuck: words } = visit.texts;
    const mayAct = mayOpen(signedIn(visit).viewer, newRun.route);
    const filter = filterOf(query);
    const isNarrowed = Object.keys(filter).length > 0;
    const [groups, kinds, matching] = await Promise.all([
      countStuckByReason(deps.orm.em.fork()),
      mayAct ? countStuckByKind(deps.orm.em.fork(), {}) : null,
      mayAct && isNarrowed ? countStuckByKind(deps.orm.em.fork(), filter) : null,
    ]);
    const actions = actionsForStuckKinds(matching ?? kinds ?? []);
    return showList(visit, deps, STUCK_CFES, {
      ...cfeListOptions(visit, actions),
      title: words.title,
      label: words.receipts,
      path: '/stuck',
      query,
      search: filter,
      live: ['cfes'],
      above: panel(words.groups, groupsTable(visit, groups, kinds)),
      below:
        actions.length > 0
          ? panel(words.allMatching, html`<p>${actionLinks(visit, query, actions)}</p>`)
          : html``,
    });
  },
});

/** Renders the receipts by reason. `kinds` decide the actions; null for viewers who may not act. */
function groupsTable(
  visit: Visit,
  groups: readonly StuckGroup[],
  kinds: Awaited<ReturnType<typeof countStuckByKind>> | null,
): Html {
  const { stuck: words, environments } = visit.texts;
  if (groups.length === 0) return renderEmpty(words.none);
  const rows = groups.map(({ reason, environment, count, enterprises, oldest }) => {
    const filter = { stuck_reason: reason, environment };
    const { label, fix } = CFE_WORDS[visit.language].stuck[reason];
    const ofGroup = kinds?.filter((kind) => kind.stuckReason === reason && kind.environment === environment);
    return [
      html`<a href="${link('/stuck', filter)}">${label}</a> <code class="soft">${reason}</code>`,
      environments[environment],
      figure(count, visit.texts),
      figure(enterprises, visit.texts),
      age(visit.now.getTime() - oldest.getTime(), visit.texts),
      fix,
      ...(ofGroup ? [actionLinks(visit, filter, actionsForStuckKinds(ofGroup))] : []),
    ];
  });
  const heads = [words.reason, words.environment, words.count, words.enterprises, words.oldest, words.fix];
  return table(words.groups, [...heads, ...(kinds ? [words.all] : [])], rows, [2, 3, 4]);
}

/** Renders links to the previews of actions. Several receipts can only be given up if they share a reason. */
function actionLinks(
  visit: Visit,
  filter: Readonly<Record<string, string | undefined>>,
  actions: readonly SupportAction[],
): Html {
  const { runs: words } = visit.texts;
  const { after: _after, format: _format, list: _list, ...selection } = filter;
  const possible = actions.filter((action) => action !== 'abandon' || selection['stuck_reason']);
  const links = possible.map(
    (kind) => html`<a href="${link('/runs/new', { kind, ...selection })}">${words.kinds[kind]}…</a>`,
  );
  return html`<span class="buttons">${links}</span>`;
}

/** Returns how the page shows the list. `actions`: those that some matching CFE permits; empty for viewers who may not act. */
function cfeListOptions(visit: Visit, actions: readonly SupportAction[]) {
  const { stuck: words, environments } = visit.texts;
  const { stuck: reasons, status } = CFE_WORDS[visit.language];
  const ticks = {
    name: 'ids',
    value: ({ id }: StuckCfe) => id,
    action: '/runs',
    content: tickForm(visit, actions),
  };
  return {
    filters: filterFields(RUN_QUERY, {
      stuck_reason: [words.reason, reasons],
      rut: 'RUT',
      environment: [words.environment, environments],
      type: [words.type, CFE_TYPES],
      since: { label: words.since, type: 'date' },
    }),
    headings: {
      cfe_id: [
        words.number,
        (row) => html`${formatCfeId(row)} <span class="soft nowrap">${row.serie} ${row.numero}</span>`,
      ],
      rut: [
        words.enterprise,
        ({ legalName, rut }) =>
          html`<a href="${enterprisePath(rut)}">${legalName}</a> <span class="soft">${rut}</span>`,
      ],
      environment: [words.environment, ({ environment }) => environments[environment]],
      type: [words.type, ({ type }) => wholeWords(CFE_TYPES[type].label)],
      status: [words.status, (row) => status[row.status].label],
      stuck_reason: [words.reason, ({ reason }) => badge(reasons[reason].label, 'bad')],
      taken_at: figures(words.waits, ({ since }) =>
        age(visit.now.getTime() - new Date(since).getTime(), visit.texts),
      ),
    } satisfies Headings<StuckCfe, typeof STUCK_CFES.columns>,
    href: (row: StuckCfe) => `/cfes/${row.rut}/${row.environment}/${formatCfeId(row)}`,
    empty: words.noneHere,
    ...(actions.length > 0 ? { ticks } : {}),
  };
}

function tickForm(visit: Visit, actions: readonly SupportAction[]): Html {
  const { stuck, runs: words } = visit.texts;
  const options = { kind: actions.map((kind): [string, string] => [kind, words.kinds[kind]]) };
  const does = actions.map(
    (kind) =>
      html`<dt>${words.kinds[kind]}</dt>
        <dd>${words.does[kind]}</dd>`,
  );
  return html`${newRun.inputs(visit, ['kind', 'reason'], { options })}${button(stuck.act)}
    <details>
      <summary>${words.preview}</summary>
      <dl>${does}</dl>
    </details>`;
}
