import { listEndpointStates } from '../../../db/authority/authorityEndpoints.ts';
import { type Health, readConsoleHealth } from '../../../db/operations/consoleHealth.ts';
import { CFE_TYPES } from '../../../domain/receipts/cfeTypes.ts';
import { montevideoDate } from '../../../domain/values/montevideo.ts';
import { type Html, html } from '../../../page/html.ts';
import { CFE_WORDS } from '../../../words/cfeStates.ts';
import { accountsOf } from '../../access/access.ts';
import { enterprisePath } from '../../access/enterpriseContext.ts';
import { mayOpen } from '../../access/permissions.ts';
import { age, dateOf, figure, timeOf } from '../../format.ts';
import { link } from '../../links.ts';
import { definePage, show, signedIn, type Visit } from '../../page.ts';
import { badge, panel, renderEmpty, table } from '../../parts.ts';
import { renderExpiry, renderLowNumbers } from '../enterprises/enterprises.ts';

/** GET /: the state of the service, and what needs attention. */
export const healthPage = definePage({
  name: 'health',
  route: 'GET /',
  async handle({ visit }, { orm, clock, businessClock }) {
    const { health: words } = visit.texts;
    const em = orm.em.fork();
    const businessNow = businessClock();
    const today = montevideoDate(businessNow);
    const health = await readConsoleHealth(em, accountsOf(signedIn(visit).viewer), {
      now: visit.now,
      businessNow,
    });
    const endpoints = await listEndpointStates(em, clock);
    const body = html`<div class="panels">
      <div>
        ${panel(stuckWords(visit).title, stuckTable(visit, health))}
        ${panel(words.pending, pendingTable(visit, health))}
        ${panel(words.reports, reportsTable(visit, health))}
        ${panel(words.webhooks, webhooksTable(visit, health))}
      </div>
      <div>
        ${panel(words.warnings, warningsTable(visit, health, today))}
        ${panel(words.authority, authorityTable(visit, endpoints))}
      </div>
    </div>`;
    return show(words.title, body, { live: ['cfes', 'authority', 'warnings', 'deliveries', 'reports'] });
  },
});

/** Renders a link to the page where a problem is fixed. */
const rowLink = (href: string, content: Html): Html => html`<a class="row" href="${href}">${content}</a>`;

/** Returns the path of a list of stuck receipts; only operators may act on theirs. */
const stuckPath = (visit: Visit, { environment, reason }: Health['stuck'][number]): string =>
  mayOpen(signedIn(visit).viewer, 'GET /stuck')
    ? link('/stuck', { environment, stuck_reason: reason })
    : link('/cfes', { environment, stuck: reason });

/** Returns the title of the stuck receipts and the text without any; customers read that support handles them. */
function stuckWords(visit: Visit): { title: string; none: string } {
  const { health: words } = visit.texts;
  return signedIn(visit).viewer.kind === 'operator'
    ? { title: words.stuck, none: words.stuckNone }
    : { title: words.withSupport, none: words.withSupportNone };
}

const ageOf = (visit: Visit, at: Date): string => age(visit.now.getTime() - at.getTime(), visit.texts);

function stuckTable(visit: Visit, { stuck }: Health): Html {
  const { health: words, environments } = visit.texts;
  const { title, none } = stuckWords(visit);
  if (stuck.length === 0) return renderEmpty(none);
  const rows = stuck.map((group) => [
    rowLink(
      stuckPath(visit, group),
      html`${badge(CFE_WORDS[visit.language].stuck[group.reason].label, 'bad')}
        <code class="soft">${group.reason}</code>`,
    ),
    figure(group.count, visit.texts),
    ageOf(visit, group.oldest),
    environments[group.environment],
  ]);
  return table(title, [words.reason, words.count, words.oldest, words.environment], rows, [1, 2]);
}

function pendingTable(visit: Visit, { pending }: Health): Html {
  const { health: words, environments } = visit.texts;
  if (pending.length === 0) return renderEmpty(words.pendingNone);
  const rows = pending.map((one) => [
    rowLink(
      link('/cfes', { environment: one.environment, status: one.status }),
      html`${badge(CFE_WORDS[visit.language].status[one.status].label, 'wait')}
        <code class="soft">${one.status}</code>`,
    ),
    figure(one.count, visit.texts),
    ageOf(visit, one.oldest),
    environments[one.environment],
  ]);
  return table(words.pending, [words.status, words.count, words.oldest, words.environment], rows, [1, 2]);
}

function reportsTable(visit: Visit, { reports: { due, stuck } }: Health): Html {
  const { health: words, environments } = visit.texts;
  if (!due && stuck.length === 0) return renderEmpty(words.reportsNone);
  const waiting = stuck.map((one) => [
    rowLink(
      link('/reports', { environment: one.environment, needs: 'person' }),
      html`${badge(CFE_WORDS[visit.language].stuck[one.reason].label, 'bad')}
        <code class="soft">${one.reason}</code>`,
    ),
    figure(one.count, visit.texts),
    dateOf(one.oldest),
    environments[one.environment],
  ]);
  const late = due && [
    rowLink(
      link('/reports', { environment: 'production', ...(due.late > 0 ? { needs: 'late' } : {}) }),
      due.late > 0 ? badge(words.late(due.late), 'bad') : badge(words.due, 'calm'),
    ),
    figure(due.count, visit.texts),
    timeOf(due.first),
    environments.production,
  ];
  return table(
    words.reports,
    [words.reports, words.count, words.firstDue, words.environment],
    [...waiting, ...(late ? [late] : [])],
    [1],
  );
}

/** Renders the state of external services; for operators, with the number of CFEs that wait for each. */
function authorityTable(visit: Visit, endpoints: Awaited<ReturnType<typeof listEndpointStates>>): Html {
  const { health: words, environments } = visit.texts;
  const isOperator = signedIn(visit).viewer.kind === 'operator';
  const rows = endpoints.map(({ endpoint, openSince, waiting }) => {
    const [environment, service] = endpoint.includes('/') ? endpoint.split('/') : ['production', endpoint];
    return [
      words.endpoints[service as keyof typeof words.endpoints] ?? endpoint,
      environments[environment as keyof typeof environments],
      openSince
        ? html`${badge(words.down, 'bad')} <span class="soft">${words.since} ${timeOf(openSince)}</span>`
        : badge(words.up, 'good'),
      ...(isOperator ? [waiting > 0 && figure(waiting, visit.texts)] : []),
    ];
  });
  const heads = [words.service, words.environment, words.status, ...(isOperator ? [words.waiting] : [])];
  return table(words.authority, heads, rows, [3]);
}

function warningsTable({ texts }: Visit, { warnings }: Health, today: string): Html {
  const { health: words } = texts;
  if (warnings.rows.length === 0) return renderEmpty(words.warningsNone);
  const rows = warnings.rows.map((warning) => [
    rowLink(
      enterprisePath(warning.rut, warning.type === null ? 'certificate' : 'caes'),
      html`${warning.legalName} <span class="soft">${warning.rut}</span>`,
    ),
    warning.type === null ? words.certificate : CFE_TYPES[warning.type].label,
    warning.kind === 'low'
      ? renderLowNumbers(texts, warning.numbersLeft ?? 0)
      : renderExpiry(texts, warning.ends, today),
    warning.numbersLeft !== null && figure(warning.numbersLeft, texts),
  ]);
  const heads = [words.enterprise, words.document, words.ends, words.left];
  const all = html`<a href="${link('/warnings', { within: '30' })}">${words.allWarnings}</a>`;
  return html`${table(words.warnings, heads, rows, [3])}${linkToAll(warnings, words.more, all)}`;
}

/** Renders the link from a panel to the whole list, after `words` if the panel shows only its first rows. */
const linkToAll = ({ hasMore }: { hasMore: boolean }, words: string, all: Html): Html =>
  html`<div class="more">${hasMore && `${words} `}${all}</div>`;

function webhooksTable({ texts }: Visit, { webhooks }: Health): Html {
  const { health: words } = texts;
  if (webhooks.rows.length === 0) return renderEmpty(words.webhooksNone);
  const rows = webhooks.rows.map(({ id, url, failed, waiting }) => [
    rowLink(`/webhooks/${id}`, html`<span class="url">${url}</span>`),
    failed > 0 && badge(figure(failed, texts), 'bad'),
    waiting > 0 && badge(figure(waiting, texts), 'wait'),
  ]);
  const heads = [words.url, words.failed, words.retried];
  const all = html`<a href="${link('/deliveries', { status: 'FAILED' })}">${words.allFailed}</a>`;
  return html`${table(words.webhooks, heads, rows, [1, 2])}${linkToAll(webhooks, words.more, all)}`;
}
