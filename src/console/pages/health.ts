import * as z from 'zod';
import { endpointStates } from '../../db/authorityEndpoints.ts';
import { consoleHealth, type Health } from '../../db/consoleHealth.ts';
import { CFE_TYPES } from '../../domain/cfeTypes.ts';
import { daysBetween, montevideoDate } from '../../domain/montevideo.ts';
import { accountsOf } from '../access.ts';
import { age, figure, moment, momentText } from '../format.ts';
import { type Html, html } from '../html.ts';
import { definePage, show, signedIn, type Visit } from '../page.ts';
import { mark, nothing, panel, table } from '../parts.ts';

/** GET /: how things stand, and what needs somebody. */
export const healthPage = definePage({
  name: 'health',
  method: 'GET',
  path: '/',
  audience: { operators: 'VIEWER', members: 'VIEWER' },
  params: z.object({}),
  query: z.object({}),
  form: z.object({}),
  async handle({ visit }, { orm, clock }) {
    const { health: words } = visit.texts;
    const em = orm.em.fork();
    const today = montevideoDate(visit.now);
    const health = await consoleHealth(em, accountsOf(signedIn(visit).viewer), visit.now, today);
    const endpoints = await endpointStates(em, clock);
    const body = html`<div class="panels">
${panel(words.stuck, stuckTable(visit, health))}
${panel(words.pending, pendingTable(visit, health))}
${panel(words.authority, authorityTable(visit, endpoints))}
${panel(words.papers, papersTable(visit, health, today))}
${panel(words.webhooks, webhooksTable(visit, health))}
</div>`;
    return show(words.title, body, { live: ['cfes', 'authority', 'papers', 'deliveries'] });
  },
});

const ageOf = (visit: Visit, at: Date): string => age(visit.now.getTime() - at.getTime(), visit.texts);

function stuckTable(visit: Visit, { stuck }: Health): Html {
  const { health: words, environments } = visit.texts;
  if (stuck.length === 0) return nothing(words.stuckNone);
  const rows = stuck.map((one) => [
    mark(one.reason, 'bad'),
    environments[one.environment],
    figure(one.count),
    words.oldest(ageOf(visit, one.oldest)),
  ]);
  return table(words.stuck, [words.reason, words.environment, words.count, ''], rows, [2]);
}

function pendingTable(visit: Visit, { pending }: Health): Html {
  const { health: words, environments } = visit.texts;
  if (pending.length === 0) return nothing(words.pendingNone);
  const rows = pending.map((one) => [
    mark(one.status, 'wait'),
    environments[one.environment],
    figure(one.count),
    words.oldest(ageOf(visit, one.oldest)),
  ]);
  return table(words.pending, [words.status, words.environment, words.count, ''], rows, [2]);
}

function authorityTable({ texts }: Visit, endpoints: Awaited<ReturnType<typeof endpointStates>>): Html {
  const { health: words, environments } = texts;
  const rows = endpoints.map(({ endpoint, openSince, waiting }) => {
    const [environment, service] = endpoint.includes('/') ? endpoint.split('/') : ['production', endpoint];
    return [
      words.endpoints[service as keyof typeof words.endpoints] ?? endpoint,
      environments[environment as keyof typeof environments],
      openSince ? mark(words.down(momentText(openSince)), 'bad') : mark(words.up, 'good'),
      waiting > 0 && words.waiting(figure(waiting)),
    ];
  });
  return table(words.authority, [words.authority, words.environment, words.status, ''], rows);
}

function papersTable({ texts }: Visit, { papers }: Health, today: string): Html {
  const { health: words } = texts;
  if (papers.length === 0) return nothing(words.papersNone);
  const rows = papers.map(({ rut, legalName, type, ends, numbersLeft }) => {
    const days = daysBetween(today, ends);
    return [
      html`${legalName} <span class="soft">${rut}</span>`,
      type === null ? words.certificate : CFE_TYPES[type].label,
      html`${ends} ${mark(words.days(days), days < 0 ? 'bad' : days <= 7 ? 'wait' : 'calm')}`,
      numbersLeft !== null && words.numbers(figure(numbersLeft)),
    ];
  });
  return table(words.papers, [words.enterprise, words.paper, words.ends, words.left], rows);
}

function webhooksTable({ texts }: Visit, { webhooks }: Health): Html {
  const { health: words } = texts;
  if (webhooks.length === 0) return nothing(words.webhooksNone);
  const rows = webhooks.map(({ url, count, last }) => [url, mark(figure(count), 'bad'), moment(last)]);
  return table(words.webhooks, [words.url, words.failed, words.last], rows, [1]);
}
