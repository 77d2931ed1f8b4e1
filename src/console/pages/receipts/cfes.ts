import * as z from 'zod';
import type { Cfe } from '../../../db/entities/receipts.ts';
import { type CfeSearch, searchCfes } from '../../../db/receipts/cfeSearch.ts';
import { STUCK_REASONS } from '../../../domain/authority/stuckReason.ts';
import { LAST_NUMBER, LONGEST_SEARCH, Serie } from '../../../domain/operations/parseSearch.ts';
import { formatCfeId } from '../../../domain/receipts/cfeId.ts';
import { CFE_STATUSES } from '../../../domain/receipts/cfeStatus.ts';
import { CFE_TYPE_NAMES, CFE_TYPES, ENVIRONMENTS } from '../../../domain/receipts/cfeTypes.ts';
import { dateSchema, spanOfMoment } from '../../../domain/values/dates.ts';
import { LENGTHS } from '../../../domain/values/lengths.ts';
import { textSchema } from '../../../domain/values/text.ts';
import { type Html, html } from '../../../page/html.ts';
import { CFE_WORDS } from '../../../words/cfeStates.ts';
import { accountsOf } from '../../access/access.ts';
import { enterprisePath } from '../../access/atEnterprise.ts';
import { mayOpen } from '../../access/permissions.ts';
import { amount, day, moment } from '../../format.ts';
import {
  type Column,
  column,
  type Filter,
  figureColumn,
  fileColumn,
  LIST_QUERY,
  SoughtRut,
  showList,
} from '../../lists.ts';
import { definePage, signedIn, type Visit } from '../../page.ts';
import { mark, optionsOf, wholeWords } from '../../parts.ts';
import { exportsPath } from './exports.ts';

const ANY = 'any';
/** Filters by their names in the query, with their schemas. */
const FILTERS = {
  q: z.string(),
  environment: z.enum(ENVIRONMENTS),
  rut: SoughtRut,
  type: z.enum(CFE_TYPE_NAMES),
  status: z.enum(CFE_STATUSES),
  stuck: z.enum([ANY, ...STUCK_REASONS]),
  annulled: z.literal('yes'),
  serie: Serie,
  numero: z.coerce.number().int().min(1).max(LAST_NUMBER),
  receiver: textSchema(LENGTHS.foreignDocument),
  external_id: textSchema(LENGTHS.externalId),
  key: textSchema(LONGEST_SEARCH),
  request: textSchema(LONGEST_SEARCH),
  from: dateSchema(),
  to: dateSchema(),
  created_from: dateSchema(),
  created_to: dateSchema(),
} as const;
type Name = keyof typeof FILTERS;
const NAMES = Object.keys(FILTERS) as Name[];
type Values = { readonly [N in Name]?: z.output<(typeof FILTERS)[N]> };
type Typed = Readonly<Partial<Record<Name, string | undefined>>>;

/** Checks each filter by its schema, but keeps the typed text. */
const Query = z.object({
  ...LIST_QUERY,
  ...(Object.fromEntries(NAMES.map((name) => [name, typed(FILTERS[name])])) as Record<
    Name,
    ReturnType<typeof typed>
  >),
});

function typed(schema: z.ZodType) {
  const fits = (value: string): boolean => value === '' || schema.safeParse(value).success;
  return z.string().max(LONGEST_SEARCH).trim().refine(fits).optional();
}

/** GET /cfes: the receipts that the viewer sees, filtered. */
export const cfesPage = definePage({
  name: 'cfes',
  route: 'GET /cfes',
  query: Query,
  async handle({ query, visit }, deps) {
    const { search: words } = visit.texts;
    const filter = filterOf(query);
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
function exportLink({ texts }: Visit, { rut, environment, from }: Typed): Html {
  const month = from?.slice(0, 7);
  return html`<p><a href="${exportsPath({ rut, environment, month })}">${texts.exports.link}</a></p>`;
}

/** Returns the path of a CFE's page. */
const cfePath = (cfe: Pick<Cfe, 'rut' | 'environment' | 'type' | 'sequence'>): string =>
  `/cfes/${cfe.rut}/${cfe.environment}/${formatCfeId(cfe)}`;

/** Returns the search of a query. */
function filterOf(query: Typed): CfeSearch {
  const parsed = NAMES.flatMap((name) => {
    const value = query[name];
    return value ? [[name, FILTERS[name].parse(value)] as const] : [];
  });
  // Each value was parsed by the schema of its name.
  const {
    q,
    stuck,
    annulled,
    key,
    external_id: externalId,
    request,
    created_from: since,
    created_to: until,
    ...same
  } = Object.fromEntries(parsed) as Values;
  return {
    ...same,
    text: q,
    needsSupport: stuck === ANY ? true : undefined,
    stuckReason: stuck === ANY ? undefined : stuck,
    annulled: annulled === undefined ? undefined : true,
    idempotencyKey: key,
    externalId,
    requestId: request,
    createdFrom: since === undefined ? undefined : spanOfMoment(since).from,
    createdBefore: until === undefined ? undefined : spanOfMoment(until).before,
  };
}

function labelsOf(visit: Visit): Readonly<Record<Name, string>> {
  const { search: words } = visit.texts;
  return {
    q: words.text,
    environment: words.environment,
    rut: words.rut,
    type: words.type,
    status: words.status,
    stuck: signedIn(visit).viewer.kind === 'operator' ? words.stuck : words.withSupport,
    annulled: words.annulled,
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
  };
}

const RULES: Partial<Record<Name, Pick<Filter, 'rule'>>> = {
  rut: { rule: 'rut' },
  numero: { rule: 'number' },
};

function fieldsOf(visit: Visit): Filter[] {
  const { search: words, environments } = visit.texts;
  const { status, stuck } = CFE_WORDS[visit.language];
  const options: Partial<Record<Name, Filter['options']>> = {
    environment: optionsOf(ENVIRONMENTS, environments),
    type: optionsOf(CFE_TYPE_NAMES, CFE_TYPES),
    status: optionsOf(CFE_STATUSES, status),
    stuck: [[ANY, words.stuckAny], ...optionsOf(STUCK_REASONS, stuck)],
    annulled: [['yes', words.yes]],
  };
  const days: readonly Name[] = ['from', 'to', 'created_from', 'created_to'];
  return NAMES.map((name) => ({
    name,
    label: labelsOf(visit)[name],
    ...(options[name] ? { options: options[name] } : {}),
    ...(days.includes(name) ? { type: 'date' as const } : {}),
    ...RULES[name],
  }));
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
        html`${mark(status[cfe.status].label, TONES[cfe.status])}${
          cfe.stuckReason && html`<br>${mark(stuck[cfe.stuckReason].label, 'bad')}`
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
    column('emission_date', words.emitted, 'emissionDate', (cfe) => day(cfe.emissionDate)),
    column('created_at', words.created, 'createdAt', (cfe) => moment(cfe.createdAt)),
    column(
      'rut',
      words.enterprise,
      'rut',
      (cfe) =>
        html`<a href="${enterprisePath(cfe.rut)}">${cfe.document.issuer?.legalName ?? cfe.rut}</a> <span class="soft">${
          cfe.rut
        } · ${environments[cfe.environment]}</span>`,
    ),
    fileColumn('environment', words.environment, 'environment'),
  ];
}
