import * as z from 'zod';
import { cancelPayment, loadPlans, settlePayment } from '../../commands/people/payments.ts';
import { fetchExchangeRate, loadExchangeRates, loadUiValues } from '../../commands/receipts/rates.ts';
import type { Payment, Plan } from '../../db/entities/enterprises.ts';
import type { UiValue } from '../../db/entities/operations.ts';
import { listPlans } from '../../db/people/payments.ts';
import { listUiValues } from '../../db/receipts/rates.ts';
import type { KnownRate } from '../../domain/receipts/exchangeRate.ts';
import { CURRENCIES } from '../../domain/requests/enums.ts';
import { dateSchema } from '../../domain/values/dates.ts';
import { exactNumber } from '../../domain/values/exactNumber.ts';
import { PAYMENTS } from '../../lists/payments.ts';
import { RATES } from '../../lists/reports.ts';
import { listedRow, listVerb } from '../listVerb.ts';
import { actingVerb, readVerb, verbGroup } from '../verb.ts';

const planRow = ({ planId, frequencyId, amount, currency }: Plan) => ({
  plan_id: planId,
  frequency_id: frequencyId,
  amount: exactNumber(amount),
  currency,
});

export const planGroup = verbGroup('plan', 'Plans and their prices', {
  list: readVerb({
    summary: 'List all plans on sale',
    run: async ({ orm }) => (await listPlans(orm.em.fork())).map(planRow),
  }),
  'load FILE': actingVerb({
    summary: 'Put plans on sale, or change their prices',
    takes: { file: z.string().describe('JSON: [{"plan_id", "frequency_id", "amount", "currency"}]') },
    examples: ['plans.json'],
    run: async (deps, { file }) => (await loadPlans(deps, { file: deps.readFile(file) })).map(planRow),
  }),
});

const PaymentId = z.string().describe('id of the payment');
const PAYMENT_EXAMPLES = ['7f0c2a2e-6f0b-4d53-9d7e-2f1f0a6f3f11'];
/** Returns a payment with the link to pay it, which only the owners of its account see in the console. */
const paymentRow = (one: Payment) => ({ ...listedRow(PAYMENTS, one), redirect_url: one.redirectUrl });

export const paymentGroup = verbGroup('payment', 'Payments of enterprises for their plans', {
  list: listVerb(PAYMENTS, {
    summary: 'List payments, newest first: all, or those of one enterprise',
    examples: ['', '--rut 219999830019'],
    rows: async (_, payments) => payments.map(paymentRow),
    search: (_, filter) => filter,
  }),
  'settle PAYMENT': actingVerb({
    summary: 'Mark a payment as paid',
    takes: { payment: PaymentId },
    examples: PAYMENT_EXAMPLES,
    run: async (deps, { payment: paymentId }) => paymentRow(await settlePayment(deps, { paymentId })),
  }),
  'cancel PAYMENT': actingVerb({
    summary: 'Cancel a payment',
    takes: { payment: PaymentId },
    examples: PAYMENT_EXAMPLES,
    run: async (deps, { payment: paymentId }) => paymentRow(await cancelPayment(deps, { paymentId })),
  }),
});

const uiRow = ({ year, value, source, estimate }: UiValue) => ({
  year,
  value: exactNumber(value),
  source,
  estimate,
});

/** Pesos of one indexed unit by year, for the limit above which e-Tickets name their receiver. */
export const uiValueGroup = verbGroup('ui-value', 'Pesos of one indexed unit (UI), by year', {
  list: readVerb({
    summary: 'List the UI value of every year that has one',
    run: async ({ orm }) => (await listUiValues(orm.em.fork())).map(uiRow),
  }),
  'load FILE': actingVerb({
    summary: 'Set the UI values of one or more years',
    takes: {
      file: z
        .string()
        .describe(
          'JSON: [{"year", "value", "source", "estimate"}]; the value is that of 31 December of the previous year',
        ),
    },
    examples: ['ui-values.json'],
    run: async (deps, { file }) => (await loadUiValues(deps, { file: deps.readFile(file) })).map(uiRow),
  }),
});

const rateRow = ({ currency, date: day, rate, source }: KnownRate) => ({ currency, date: day, rate, source });

/** Pesos of one unit of a foreign currency at the closing of a day, for the daily report. */
export const exchangeRateGroup = verbGroup('exchange-rate', 'Rates of foreign currencies, by day', {
  list: listVerb(RATES, {
    summary: 'List the known exchange rates, the latest day first',
    search: (_, filter) => filter,
  }),
  'load FILE': actingVerb({
    summary: 'Set the rates of one or more days, when the central bank cannot be queried',
    takes: {
      file: z
        .string()
        .describe(
          'JSON: [{"currency", "date", "rate", "source"}]; the rate is text: pesos at the closing of that day',
        ),
    },
    examples: ['rates.json'],
    run: async (deps, { file }) =>
      (await loadExchangeRates(deps, { file: deps.readFile(file) })).map(rateRow),
  }),
  'fetch CURRENCY DATE': actingVerb({
    summary: 'Fetch the rate of a day from the central bank, unless it is stored, and store it',
    takes: {
      currency: z.enum(CURRENCIES).exclude(['UYU']).describe('USD or EUR'),
      date: dateSchema().describe('the day of the closing rate, YYYY-MM-DD'),
    },
    examples: ['USD 2026-03-09'],
    run: async (deps, wanted) =>
      rateRow(await fetchExchangeRate({ ...deps, lookUpRates: deps.lookUpRates() }, wanted)),
  }),
});
