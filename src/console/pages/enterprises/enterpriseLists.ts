/** Lists of an enterprise's page. */
import type { ListedBranch } from '../../../db/enterprises/enterprises.ts';
import type { AnnulledSpan } from '../../../db/numbers/numbers.ts';
import type { ListedCae } from '../../../domain/enterprises/enterpriseObject.ts';
import type { LowNumbers } from '../../../domain/enterprises/warnings.ts';
import { CFE_TYPES, type CfeType } from '../../../domain/receipts/cfeTypes.ts';
import { montevideoDate } from '../../../domain/values/montevideo.ts';
import { BRANCHES } from '../../../lists/enterprises.ts';
import { ANNULMENTS, CAES } from '../../../lists/numbers.ts';
import { html } from '../../../page/html.ts';
import { type EnterpriseContext, enterprisePath } from '../../access/enterpriseContext.ts';
import { mayUse } from '../../access/permissions.ts';
import { age, dateOf, figure, timeOf } from '../../format.ts';
import { figures, type Headings, type ListPart, listPart } from '../../lists.ts';
import type { ConsoleDeps, Visit } from '../../page.ts';
import { badge, wholeWords } from '../../parts.ts';
import { branchForm, branchForms } from './enterpriseForms.ts';
import { renderExpiry } from './enterprises.ts';

type Query = Readonly<Record<string, string | undefined>>;
type Deps = Pick<ConsoleDeps, 'orm'>;

const listAddress = ({ enterprise: { rut } }: EnterpriseContext, query: Query) =>
  ({ path: enterprisePath(rut), query, isPart: true }) as const;

/** Returns the list of CAEs for production. `low`: types whose numbers run low. */
export function caeList(
  visit: Visit,
  deps: Deps,
  page: EnterpriseContext & { readonly now: Date; readonly low: readonly LowNumbers[] },
  query: Query,
): ListPart {
  const { enterprises: words } = visit.texts;
  return listPart(visit, deps, CAES, {
    ...listAddress(page, query),
    label: words.caes,
    search: { rut: page.enterprise.rut, environment: 'production', now: page.now },
    headings: caeHeadings(visit, page),
    empty: words.caesNone,
  });
}

function caeHeadings(
  { texts }: Visit,
  { now, low }: { readonly now: Date; readonly low: readonly LowNumbers[] },
): Headings<ListedCae, typeof CAES.columns> {
  const { enterprises: words, never } = texts;
  const isLow = (type: CfeType): boolean => low.some((one) => one.type === type);
  return {
    cfe_type: [words.type, (cae) => wholeWords(cae.cfe_type_label)],
    series: words.serie,
    number_start: figures(words.range, (cae) => `${cae.number_start}–${cae.number_end}`),
    last_number: figures(words.last, (cae) =>
      cae.last_number < cae.number_start ? never : String(cae.last_number),
    ),
    numbers_left: figures(words.left, ({ cfe_type, numbers_left }) => {
      const left = figure(numbers_left, texts);
      return isLow(cfe_type) ? badge(left, numbers_left === 0 ? 'bad' : 'wait') : left;
    }),
    days_left: figures(words.lasts, ({ days_left }) => {
      if (days_left === null) return never;
      return days_left > 365 ? words.lastsLong : age(days_left * 86_400_000, texts);
    }),
    expiration_date: [words.ends, (cae) => renderExpiry(texts, cae.expiration_date, montevideoDate(now))],
    authorization_number: [words.authorization, (cae) => html`<code>${cae.authorization_number}</code>`],
  };
}

/** Returns the list of branches. */
export function branchList(visit: Visit, deps: Deps, page: EnterpriseContext, query: Query): ListPart {
  const { enterprises: words } = visit.texts;
  const { rut } = page.enterprise;
  const headings: Headings<ListedBranch, typeof BRANCHES.columns> = {
    branch: [
      words.branch,
      ({ branch, isFirst, closedAt }) =>
        html`${branch}
        ${isFirst && html`<span class="soft">${words.ownBranch}</span>`}${closedAt && badge(words.closed, 'calm')}`,
    ],
    street_name: words.streetName,
    locality_name: words.localityName,
    department_name: words.departmentName,
    phone_number: words.phoneNumber,
    closed_at: mayUse(page.access, branchForm.route) && [
      words.acting,
      (one) => one.closedAt === null && branchForms(visit, rut, one),
    ],
  };
  return listPart(visit, deps, BRANCHES, {
    ...listAddress(page, query),
    label: words.branches,
    search: { rut },
    headings,
    empty: words.branches,
  });
}

const soft = (text: string | null) => text && html`<span class="soft">${text}</span>`;
/** Describes the details of an annulment: the authority's codes, or the typed reason. */
const describeReason = ({ authorityCodes, typedReason }: AnnulledSpan): string | null =>
  authorityCodes.join(', ') || typedReason;

/** Returns the list of annulled numbers. */
export function annulmentList(visit: Visit, deps: Deps, page: EnterpriseContext, query: Query): ListPart {
  const { enterprises: words, environments } = visit.texts;
  return listPart(visit, deps, ANNULMENTS, {
    ...listAddress(page, query),
    label: words.annulments,
    search: { rut: page.enterprise.rut, isOperator: page.access.kind === 'operator' },
    headings: {
      cfe_type: [words.type, ({ type }) => CFE_TYPES[type].label],
      serie: words.serie,
      from: figures(words.fromNumber),
      to: figures(words.toNumber),
      reason: [
        words.reason,
        (span) => html`${words.annulReasons[span.reason]} ${soft(describeReason(span))}`,
      ],
      report_date: [words.reportDay, ({ reportDate }) => dateOf(reportDate)],
      annulled_at: [words.annulledAt, ({ annulledAt }) => timeOf(annulledAt)],
      environment: [words.environment, ({ environment }) => environments[environment]],
    },
    empty: words.annulmentsNone,
  });
}
