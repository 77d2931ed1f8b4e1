import * as z from 'zod';
import type { Cfe } from '../../../db/entities/receipts.ts';
import { STUCK_REASONS } from '../../../domain/authority/stuckReason.ts';
import { CFE_TYPES, ENVIRONMENTS } from '../../../domain/receipts/cfeTypes.ts';
import { CFES } from '../../../lists/cfes.ts';
import { filterValues } from '../../../lists/list.ts';
import { type Html, html } from '../../../page/html.ts';
import { CFE_WORDS } from '../../../words/cfeStates.ts';
import { accountsOf } from '../../access/access.ts';
import { enterprisePath } from '../../access/enterpriseContext.ts';
import { mayOpen } from '../../access/permissions.ts';
import { type Filter, filterFields, filterSchemas, listQuery } from '../../filters.ts';
import { amount, dateOf, timeOf } from '../../format.ts';
import { figures, type Headings, showList } from '../../lists.ts';
import { definePage, signedIn, type Visit } from '../../page.ts';
import { badge, optionsOf, wholeWords } from '../../parts.ts';
import { cfePathOf, TONES } from './cfe.ts';
import { exportsPath } from './exports.ts';

const ANY = 'any';
const FILTERS = {
  ...filterSchemas(CFES),
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
    const { q: text, stuck, annulled, environment } = query;
    return showList(visit, deps, CFES, {
      title: words.title,
      label: words.label,
      path: '/cfes',
      query,
      search: {
        ...filterValues(CFES, query),
        environment,
        accounts: accountsOf(signedIn(visit).viewer),
        text,
        needsSupport: stuck === ANY ? true : undefined,
        stuckReason: stuck === ANY ? undefined : stuck,
        annulled: annulled && true,
      },
      filters: fieldsOf(visit),
      headings: { ...receiptHeadings(visit), ...partyHeadings(visit) },
      href: (cfe) => cfePathOf(cfe),
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
    externalId: words.externalId,
    idempotencyKey: words.key,
    requestId: words.request,
    from: words.from,
    to: words.to,
    createdFrom: words.createdFrom,
    createdTo: words.createdTo,
  });
}

type CfeHeadings = Headings<Cfe, typeof CFES.columns>;

function receiptHeadings({ texts, language }: Visit): CfeHeadings {
  const { search: words } = texts;
  const { status, stuck } = CFE_WORDS[language];
  return {
    cfe_id: words.cfe,
    serie: [words.number, ({ serie, numero }) => html`<span class="nowrap">${serie} ${numero}</span>`],
    cfe_type: [words.type, ({ type }) => wholeWords(CFE_TYPES[type].label)],
    cfe_status: [
      words.status,
      (cfe) =>
        html`${badge(status[cfe.status].label, TONES[cfe.status])}${
          cfe.stuckReason && html`<br />${badge(stuck[cfe.stuckReason].label, 'bad')}`
        }`,
    ],
    pay_amount: figures(words.amount, (cfe) => amount(cfe.currency, cfe.payAmount, texts)),
  };
}

function partyHeadings({ texts: { search: words, environments } }: Visit): CfeHeadings {
  return {
    receiver: [
      words.receiver,
      ({ document: { receiver } }) => receiver?.legalName ?? receiver?.document?.number ?? null,
    ],
    emission_date: [words.emitted, (cfe) => dateOf(cfe.emissionDate)],
    created_at: [words.created, (cfe) => timeOf(cfe.createdAt)],
    rut: [
      words.enterprise,
      (cfe) =>
        html`<a href="${enterprisePath(cfe.rut)}">${cfe.document.issuer?.legalName ?? cfe.rut}</a>
          <span class="soft">${cfe.rut} · ${environments[cfe.environment]}</span>`,
    ],
  };
}
