import * as z from 'zod';
import { updateEnterprise } from '../../../commands/enterprises/updateEnterprise.ts';
import type { Plan } from '../../../db/entities/enterprises.ts';
import {
  listPayments,
  listPlannedEnterprises,
  listPlans,
  type PlannedEnterprise,
} from '../../../db/people/payments.ts';
import { checkoutUrl } from '../../../domain/people/payment.ts';
import { montevideoDate, startOfDay } from '../../../domain/values/montevideo.ts';
import { Refusal } from '../../../errors.ts';
import { PAYMENTS, PLANNED_ENTERPRISES } from '../../../lists/payments.ts';
import { type Html, html } from '../../../page/html.ts';
import type { Texts } from '../../../words/console.ts';
import { findAccessAt } from '../../access/access.ts';
import { requireRole } from '../../access/enterpriseContext.ts';
import { mayUse } from '../../access/permissions.ts';
import { ACCOUNT, accountPagePath, chooseAccount, renderAccountSwitch } from '../../accounts.ts';
import { type Field, subject } from '../../fields.ts';
import { LIST_QUERY } from '../../filters.ts';
import { defineForm, formWords } from '../../form.ts';
import { amount as amountText, figure, timeOf } from '../../format.ts';
import { link } from '../../links.ts';
import { csvAnswer, figures, type Headings, type ListPart, listPart } from '../../lists.ts';
import {
  type ConsoleDeps,
  definePage,
  readSentJson,
  redirect,
  show,
  signedIn,
  type Visit,
} from '../../page.ts';
import { badge, factList, panel } from '../../parts.ts';

const PENDING = 'PENDING' as const;

/** Returns the start of the month in Montevideo. */
const monthStart = (now: Date): Date => startOfDay(`${montevideoDate(now).slice(0, 7)}-01`);

/** Describes the price of a plan and its frequency. */
function priceOf(
  { texts }: Visit,
  { amount, currency, frequencyId }: { amount: string; currency: string; frequencyId: string | null },
): string {
  const { plan: words } = texts.members;
  if (Number(amount) === 0) return words.free;
  const frequencies: Readonly<Record<string, string>> = words.frequencies;
  return `${amountText(currency, amount, texts)} ${frequencies[frequencyId ?? ''] ?? frequencyId ?? ''}`;
}

/** Describes a plan by name and frequency; a plan without a name here, by id. */
export function planName(
  { texts: { members } }: Visit,
  { planId, frequencyId }: { planId: string; frequencyId?: string | null | undefined },
): string {
  const names: Readonly<Record<string, string>> = members.plan.names;
  const paid: Readonly<Record<string, string>> = members.plan.paid;
  const frequency = frequencyId ? [paid[frequencyId] ?? frequencyId] : [];
  return [names[planId] ?? planId, ...frequency].join(' · ');
}

const priceOfEnterprise = (visit: Visit, { amount, currency, frequencyId }: PlannedEnterprise): string =>
  amount === null || currency === null ? '' : priceOf(visit, { amount, currency, frequencyId });

/** GET /plan: the plans of an account's enterprises. */
export const planPage = definePage({
  name: 'plan',
  route: 'GET /plan',
  query: z.object({ ...LIST_QUERY, ...ACCOUNT }),
  async handle({ query, visit }, deps) {
    const { plan: words } = visit.texts.members;
    const account = chooseAccount(visit, query.account);
    const { accountId } = account;
    const list = listPart(visit, deps, PLANNED_ENTERPRISES, {
      label: words.title,
      path: '/plan',
      query: { ...query, account: accountId },
      search: { accountId, monthStart: monthStart(visit.now) },
      filters: [{ name: 'account', label: visit.texts.members.account }],
      headings: planHeadings(visit),
      href: ({ rut }) => link(`/plan/${rut}`, { account: accountId }),
      empty: words.none,
    });
    const csv = csvAnswer(query, [list]);
    if (csv) return csv;
    const body = html`${renderAccountSwitch(visit, '/plan', account)}${panel(null, await list.render())}`;
    return show(words.title, body, { live: ['payments'] });
  },
});

function planHeadings(visit: Visit): Headings<PlannedEnterprise, typeof PLANNED_ENTERPRISES.columns> {
  const { plan: words, roles } = visit.texts.members;
  return {
    rut: [words.enterprise, (e) => html`${e.legalName} <span class="soft">${e.rut}</span>`],
    plan_id: [
      words.plan,
      ({ planId, frequencyId }) =>
        planId === null
          ? html`<span class="soft">${words.noPlan}</span>`
          : planName(visit, { planId, frequencyId }),
    ],
    amount: [words.price, (e) => priceOfEnterprise(visit, e)],
    used: figures(words.used, ({ used }) => figure(used, visit.texts)),
    due: figures(words.due, ({ due }) => due > 0 && badge(figure(due, visit.texts), 'wait')),
    role: [words.role, ({ role }) => roles[role]],
  };
}

/** Returns the enterprise of a page. Throws NOT_FOUND if the account has no role there. */
async function requirePlannedEnterprise(
  visit: Visit,
  deps: ConsoleDeps,
  accountId: string,
  rut: string,
): Promise<PlannedEnterprise> {
  const only = { after: null, limit: 1, only: rut };
  const em = deps.orm.em.fork();
  const [enterprise] = await listPlannedEnterprises(em, accountId, monthStart(visit.now), only);
  if (!enterprise) throw new Refusal('NOT_FOUND', 'There is no such enterprise.');
  return enterprise;
}

/** GET /plan/{rut}: plan and payments of one enterprise. */
export const enterprisePlanPage = definePage({
  name: 'enterprise-plan',
  route: 'GET /plan/{rut}',
  query: z.object({ ...LIST_QUERY, ...ACCOUNT }),
  async handle({ params, query, visit }, deps) {
    const { plan: words } = visit.texts.members;
    const account = chooseAccount(visit, query.account);
    const enterprise = await requirePlannedEnterprise(visit, deps, account.accountId, params.rut);
    const plans = await listPlans(deps.orm.em.fork());
    const access = await findAccessAt(deps.orm, signedIn(visit).viewer, enterprise.rut);
    const mayChoose = mayUse(access, planChoice.route);
    const mayPay = mayUse(access, 'GET /plan/{rut}/payments/{id}');
    const list = paymentList(visit, deps, { rut: enterprise.rut, query, mayPay });
    const csv = csvAnswer(query, [list]);
    if (csv) return csv;
    const rows: [string, Html | string][] = [
      [words.enterprise, `${enterprise.legalName} · ${enterprise.rut}`],
      [
        words.plan,
        enterprise.planId === null
          ? words.noPlan
          : planName(visit, { planId: enterprise.planId, frequencyId: enterprise.frequencyId }),
      ],
      [words.price, priceOfEnterprise(visit, enterprise)],
      [words.used, figure(enterprise.used, visit.texts)],
      [words.role, visit.texts.members.roles[enterprise.role]],
    ];
    const body = html`${renderAccountSwitch(visit, '/plan', account)}${panel(null, factList(rows))}
    ${mayChoose && planChoice.draw(visit, params, planDrawing(visit, enterprise, plans, account.accountId))}
    ${panel(
      words.payments,
      html`${await list.render()}
        <p class="soft">${words.cancelAbout}</p>`,
    )}`;
    return show(`${words.title} · ${enterprise.legalName}`, body, { live: ['payments'] });
  },
});

/** Returns what the page gives the form to choose a plan. */
function planDrawing(
  visit: Visit,
  { planId, frequencyId }: PlannedEnterprise,
  plans: readonly Plan[],
  account: string,
) {
  const options = plans.map((plan): [string, string] => [
    planValue(plan.planId, plan.frequencyId),
    `${planName(visit, plan)}: ${priceOf(visit, plan)}`,
  ]);
  return { values: { account, plan: planValue(planId, frequencyId) }, options: { plan: options } };
}

function paymentList(
  visit: Visit,
  deps: Pick<ConsoleDeps, 'orm'>,
  {
    rut,
    query,
    mayPay,
  }: { rut: string; query: Readonly<Record<string, string | undefined>>; mayPay: boolean },
): ListPart {
  const { plan: words } = visit.texts.members;
  return listPart(visit, deps, PAYMENTS, {
    label: words.payments,
    path: `/plan/${rut}`,
    query,
    search: { rut },
    headings: {
      created_at: [words.made, ({ createdAt }) => timeOf(createdAt)],
      plan_id: [words.plan, (one) => planName(visit, one)],
      amount: figures(words.amount, ({ currency, amount }) => amountText(currency, amount, visit.texts)),
      status: [
        words.status,
        ({ status }) =>
          badge(words.statuses[status], status === 'PAID' ? 'good' : status === PENDING ? 'wait' : 'calm'),
      ],
      settled_at: [words.settled, ({ settledAt }) => settledAt && timeOf(settledAt)],
      payment_id: mayPay && [
        words.pay,
        ({ id, status }) =>
          status === PENDING && html`<a href="/plan/${rut}/payments/${id}">${words.pay}</a>`,
      ],
    },
    empty: words.paymentsNone,
  });
}

/** GET /plan/{rut}/payments/{id}: redirects to the page where the payment is made. */
export const payPage = definePage({
  name: 'pay',
  route: 'GET /plan/{rut}/payments/{id}',
  async handle({ params: { rut, id }, visit }, deps) {
    const access = await findAccessAt(deps.orm, signedIn(visit).viewer, rut);
    const payments = access ? await listPayments(deps.orm.em.fork(), { rut }) : [];
    const payment = payments.find((one) => one.id === id);
    if (payment?.status !== PENDING) throw new Refusal('NOT_FOUND', 'There is no such pending payment.');
    requireRole(visit, access);
    return redirect(checkoutUrl(deps.checkoutUrl, id));
  },
});

/** A plan and its frequency, as the value of a choice. */
export const planValue = (
  planId: string | null | undefined,
  frequencyId: string | null | undefined,
): string => (planId && frequencyId ? JSON.stringify([planId, frequencyId]) : '');
/** Returns the plan and frequency of a choice; null for another value. */
export const parsePlanValue = (value: string): [string, string] | null =>
  readSentJson(z.tuple([z.string(), z.string()]).nullable(), value, null);
const PlanChoice = z
  .string()
  .max(500)
  .transform((value, ctx) => {
    const pair = parsePlanValue(value);
    if (pair) return pair;
    ctx.addIssue({ code: 'custom', message: 'must be a plan and its frequency.' });
    return z.NEVER;
  });

/** The plans on sale, as radio buttons. */
const planField = ({ members: { plan: words } }: Texts): Field<[string, string]> => ({
  label: words.plan,
  schema: PlanChoice,
  path: '/plan_id',
  draw: ({ name, value, options = [] }) =>
    html`<fieldset class="boxes">
      <legend>${words.plan}</legend>
      ${options.map(([one, text]) => {
        const isCurrent = one === value;
        const note = isCurrent && html` <span class="soft">(${words.present})</span>`;
        return html`<label>
          <input type="radio" name="${name}" value="${one}" required ${isCurrent && html`checked`} />
          ${text}${note}
        </label>`;
      })}
    </fieldset>`,
});

/** Describes the pending payment for a plan; null without one. */
async function describePendingPayment(
  { texts }: Visit,
  { orm }: ConsoleDeps,
  { rut, planId, frequencyId }: { rut: string; planId: string; frequencyId: string },
): Promise<string | null> {
  const payments = await listPayments(orm.em.fork(), { rut });
  const due = payments.find(
    (one) => one.status === PENDING && one.planId === planId && one.frequencyId === frequencyId,
  );
  return due ? amountText(due.currency, due.amount, texts) : null;
}

export const planChoice = defineForm('POST /plan/{rut}', {
  as: 'panel',
  words: (texts) => formWords(texts.members.plan, 'choose'),
  fields: (texts) => ({ account: subject(z.uuid().optional()), plan: planField(texts) }),
  async find({ params: { rut }, form, visit }, deps) {
    const account = chooseAccount(visit, form.account);
    await requirePlannedEnterprise(visit, deps, account.accountId, rut);
    requireRole(visit, await findAccessAt(deps.orm, signedIn(visit).viewer, rut));
    return account;
  },
  back: ({ params: { rut }, sent }) => accountPagePath(`/plan/${rut}`, sent),
  async run({ params: { rut }, form: { plan }, visit }, deps) {
    const [planId, frequencyId] = plan;
    await updateEnterprise(deps, { rut, update: { plan_id: planId, frequency_id: frequencyId } });
    const due = await describePendingPayment(visit, deps, { rut, planId, frequencyId });
    return visit.texts.members.plan.chosen(planName(visit, { planId, frequencyId }), due);
  },
});
