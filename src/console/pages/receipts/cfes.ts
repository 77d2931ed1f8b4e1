import * as z from 'zod';
import type { Cfe } from '../../../db/entities/receipts.ts';
import { type CfeSearch, searchCfes } from '../../../db/receipts/cfeSearch.ts';
import { STUCK_REASONS } from '../../../domain/authority/stuckReason.ts';
import { formatCfeId } from '../../../domain/receipts/cfeId.ts';
import { CFE_TYPES, ENVIRONMENTS } from '../../../domain/receipts/cfeTypes.ts';
import { CFE_FILTERS, cfeSearchOf } from '../../../lists/cfes.ts';
import { nameFilters } from '../../../lists/list.ts';
import { type Html, html } from '../../../page/html.ts';
import { CFE_WORDS } from '../../../words/cfeStates.ts';
import { accountsOf } from '../../access/access.ts';
import { enterprisePath } from '../../access/atEnterprise.ts';
import { mayOpen } from '../../access/permissions.ts';
import { amount, dateOf, timeOf } from '../../format.ts';
import {
  type Column,
  column,
  type Filter,
  figureColumn,
  fileColumn,
  filterFields,
  listQuery,
  showList,
} from '../../lists.ts';
import { definePage, signedIn, type Visit } from '../../page.ts';
import { badge, optionsOf, wholeWords } from '../../parts.ts';
import { exportsPath } from './exports.ts';

const ANY = 'any';
const SHARED = nameFilters(CFE_FILTERS, {
  rut: 'rut',
  type: 'type',
  status: 'status',
  serie: 'serie',
  numero: 'numero',
  receiver: 'receiver',
  external_id: 'externalId',
  key: 'idempotencyKey',
  request: 'requestId',
  from: 'from',
  to: 'to',
  created_from: 'createdFrom',
  created_to: 'createdTo',
});
const FILTERS = {
  ...SHARED.schemas,
  q: z.string(),
  environment: z.enum(ENVIRONMENTS),
  stuck: z.enum([ANY, ...STUCK_REASONS]),
  annulled: z.literal('yes'),
} as const;
const Query = listQuery(FILTERS);
type Values = z.output<typeof Query>;

/** GET /cfes: the receipts that the viewer sees, filtered. */
export const cfesPage = definePage({
  name: 'cfes',
  route: 'GET /cfes',
  query: Query,
  async handle({ query, visit }, deps) {
    const { search: words } = visit.texts;
    const filter = searchOf(query);
    const visibleAccounts = accountsOf(signedIn(visit).viewer);
    return showList(visit, deps, {
      title: words.title,
      label: words.label,
      name: 'cfes',
      path: '/cfes',
      query,
      filters: fieldsOf(visit),
      columns: columnsOf(visit),
      read: async ({ after, limit }) =>
        (await searchCfes(deps.orm.em.fork(), visibleAccounts, filter, { after: after?.[0], limit })).cfes,
      key: { parts: ['uuid'], of: ({ id }) => [id] },
      href: (cfe) => cfePath(cfe),
      empty: words.none,
      emptyAtFirst: words.noneYet,
      ...(mayOpen(signedIn(visit).viewer, 'GET /exports') ? { below: exportLink(visit, query) } : {}),
      live: ['cfes'],
    });
  },
});

/** Renders the link to export a month, with the enterprise and month of the list's filters. */
function exportLink({ texts }: Visit, { rut, environment, from }: Values): Html {
  const month = from?.slice(0, 7);
  return html`<p><a href="${exportsPath({ rut, environment, month })}">${texts.exports.link}</a></p>`;
}

/** Returns the path of a CFE's page. */
const cfePath = (cfe: Pick<Cfe, 'rut' | 'environment' | 'type' | 'sequence'>): string =>
  `/cfes/${cfe.rut}/${cfe.environment}/${formatCfeId(cfe)}`;

/** Returns the search of a query. */
const searchOf = (query: Values): CfeSearch =>
  cfeSearchOf({
    ...SHARED.valuesOf(query),
    text: query.q,
    environment: query.environment,
    needsSupport: query.stuck === ANY ? true : undefined,
    stuckReason: query.stuck === ANY ? undefined : query.stuck,
    annulled: query.annulled && true,
  });

function fieldsOf(visit: Visit): Filter[] {
  const { search: words, environments } = visit.texts;
  const { status, stuck } = CFE_WORDS[visit.language];
  const isOperator = signedIn(visit).viewer.kind === 'operator';
  return filterFields(FILTERS, {
    q: words.text,
    environment: [words.environment, environments],
    rut: words.rut,
    type: [words.type, CFE_TYPES],
    status: [words.status, status],
    stuck: [
      isOperator ? words.stuck : words.withSupport,
      [[ANY, words.stuckAny], ...optionsOf(STUCK_REASONS, stuck)],
    ],
    annulled: [words.annulled, [['yes', words.yes]]],
    serie: words.serie,
    numero: words.numero,
    receiver: words.receiverDocument,
    external_id: words.externalId,
    key: words.key,
    request: words.request,
    from: words.from,
    to: words.to,
    created_from: words.createdFrom,
    created_to: words.createdTo,
  });
}

const TONES = {
  PENDING: 'wait',
  RECEIVED: 'wait',
  ACCEPTED: 'good',
  OBSERVED: 'good',
  REJECTED: 'bad',
} as const;

const columnsOf = (visit: Visit): Column<Cfe>[] => [...receiptColumns(visit), ...partyColumns(visit)];

function receiptColumns({ texts, language }: Visit): Column<Cfe>[] {
  const { search: words } = texts;
  const { status, stuck } = CFE_WORDS[language];
  return [
    column('cfe_id', words.cfe, formatCfeId),
    column(
      'serie',
      words.number,
      'serie',
      ({ serie, numero }) => html`<span class="nowrap">${serie} ${numero}</span>`,
    ),
    fileColumn('numero', words.number, 'numero'),
    column('cfe_type', words.type, 'type', ({ type }) => wholeWords(CFE_TYPES[type].label)),
    column(
      'cfe_status',
      words.status,
      'status',
      (cfe) =>
        html`${badge(status[cfe.status].label, TONES[cfe.status])}${
          cfe.stuckReason && html`<br />${badge(stuck[cfe.stuckReason].label, 'bad')}`
        }`,
    ),
    fileColumn('stuck_reason', words.stuck, 'stuckReason'),
    figureColumn('pay_amount', words.amount, 'payAmount', (cfe) =>
      amount(cfe.currency, cfe.payAmount, texts),
    ),
    fileColumn('currency', words.amount, 'currency'),
  ];
}

function partyColumns({ texts: { search: words, environments } }: Visit): Column<Cfe>[] {
  return [
    column(
      'receiver',
      words.receiver,
      ({ document: { receiver } }) => receiver?.legalName,
      ({ document: { receiver } }) => receiver?.legalName ?? receiver?.document?.number ?? null,
    ),
    fileColumn(
      'receiver_document',
      words.receiverDocument,
      ({ document: { receiver } }) => receiver?.document?.number,
    ),
    fileColumn('external_id', words.externalId, 'externalId'),
    column('emission_date', words.emitted, 'emissionDate', (cfe) => dateOf(cfe.emissionDate)),
    column('created_at', words.created, 'createdAt', (cfe) => timeOf(cfe.createdAt)),
    column(
      'rut',
      words.enterprise,
      'rut',
      (cfe) =>
        html`<a href="${enterprisePath(cfe.rut)}">${cfe.document.issuer?.legalName ?? cfe.rut}</a>
          <span class="soft">${cfe.rut} · ${environments[cfe.environment]}</span>`,
    ),
    fileColumn('environment', words.environment, 'environment'),
  ];
}
