import * as z from 'zod';
import { creditByHand, previewCreditByHand } from '../../../commands/receipts/creditByHand.ts';
import { readCredit } from '../../../commands/receipts/creditCfe.ts';
import type { Cfe } from '../../../db/entities/receipts.ts';
import type { CreditNoteRow } from '../../../db/receipts/creditNotes.ts';
import { omitUndefined } from '../../../domain/receipts/cfeContent.ts';
import type { CfeContent } from '../../../domain/receipts/cfeDocument.ts';
import { formatCfeId } from '../../../domain/receipts/cfeId.ts';
import { CFE_TYPES } from '../../../domain/receipts/cfeTypes.ts';
import { type Figures, isUsedUp } from '../../../domain/receipts/credit/creditLeft.ts';
import { amountText, type JsonNumber, parseTypedNumber } from '../../../domain/values/decimal.ts';
import { decimalText, money } from '../../../domain/values/figures.ts';
import { readJson } from '../../../domain/values/json.ts';
import { LENGTHS } from '../../../domain/values/lengths.ts';
import { type Fault, invalidInput, Refusal } from '../../../errors.ts';
import { type Html, html } from '../../../page/html.ts';
import { withExactNumbers } from '../../../views/receipts/validation.ts';
import { CFE_WORDS } from '../../../words/cfeStates.ts';
import type { Texts } from '../../../words/console.ts';
import type { EnterpriseAccess } from '../../access/access.ts';
import { mayUse } from '../../access/permissions.ts';
import { type Field, onceKey, operatorsReason, reason, shownIf, state, subject, text } from '../../fields.ts';
import { defineForm } from '../../form.ts';
import { amount, dateOf } from '../../format.ts';
import { type ConsoleDeps, definePage, LocalizedRefusal, redirect, show, type Visit } from '../../page.ts';
import { badge, factList, panel, renderEmpty, table } from '../../parts.ts';
import { type CfeParams, cfePath, findVisibleCfe, paramsOf, TONES } from './cfe.ts';

/** Limit of lines that a form has a field for. */
const MAX_LINES = 100;
/** Limit of characters of a note's request in a form, enough for MAX_LINES. */
const MAX_REQUEST = 16_000;
const WAYS = ['all', 'percent', 'amount', 'counts', 'sums'] as const;
type Way = (typeof WAYS)[number];

const labelOf = ({ type, serie, numero }: Cfe): string => `${CFE_TYPES[type].label} ${serie}-${numero}`;
const accountOf = (access: EnterpriseAccess, cfe: Cfe): string =>
  access.kind === 'member' ? access.accountId : cfe.accountId;
/** Formats a quantity without thousands separators, because people type what they see. */
const quantityText = (count: string, { numerals }: Texts): string =>
  decimalText(count, 0, { ...numerals, thousands: '' });

/** GET …/credit: what is left of a receipt to credit, its credit notes, and the forms for another one. */
export const creditPage = definePage({
  name: 'credit',
  route: 'GET /cfes/{rut}/{environment}/{cfe_id}/credit',
  async handle({ params, visit }, { orm, businessClock }) {
    const { cfe, access } = await findVisibleCfe({ orm }, visit, params);
    const { left, notes } = await readCredit({ orm, clock: businessClock }, cfe);
    const { credit: words } = visit.texts;
    const body = html`<div class="panels">
      <div>
        ${panel(words.left, renderLeft(visit, cfe, left))}
        ${panel(words.notes, notesTable(visit, cfe, notes))}
      </div>
      <div>
        ${left && !isUsedUp(left) && mayUse(access, creditPreview.route) && formsOf(visit, cfe, left)}
      </div>
    </div>`;
    return show(words.title(labelOf(cfe)), body, { live: ['cfes'] });
  },
});

const receiptRow = (visit: Visit, cfe: Cfe): [string, Html] => [
  visit.texts.credit.receipt,
  html`<a href="${cfePath(paramsOf(cfe))}">${labelOf(cfe)}</a>
    <code class="soft">${formatCfeId(cfe)}</code>
    ${amount(cfe.currency, cfe.payAmount, visit.texts)}`,
];

/** A line with a rest to credit. */
interface LeftLine {
  readonly number: number;
  readonly name: string;
  readonly count: string;
  readonly amount: string;
}

function leftLines({ document }: Cfe, { counts, amounts }: Figures, texts: Texts): LeftLine[] {
  return document.lines.flatMap(({ name }, i) => {
    const [quantity, sum] = [counts[i], amounts[i]];
    if (!quantity || !sum || (quantity.eq(0) && sum.eq(0))) return [];
    const count = quantityText(quantity.toFixed(3), texts);
    return [{ number: i + 1, name, count, amount: money(amountText(sum), texts.numerals) }];
  });
}

function renderLeft(visit: Visit, cfe: Cfe, left: Figures | null): Html {
  const { credit: words } = visit.texts;
  const receipt = receiptRow(visit, cfe);
  if (!left) return html`${factList([receipt])}${renderEmpty(words.never)}`;
  if (isUsedUp(left)) return html`${factList([receipt])}${renderEmpty(words.nothingLeft)}`;
  const facts = factList([receipt, [words.left, amount(cfe.currency, amountText(left.pay), visit.texts)]]);
  const lines = leftLines(cfe, left, visit.texts);
  const rows = lines.map(({ number, name, count, amount: sum }) => [String(number), name, count, sum]);
  const heads = [words.line, words.item, words.count, words.lineAmount];
  return html`${facts}
    <p class="soft">${words.leftAbout}</p>
    ${table(words.lines, heads, rows, [0, 2, 3])}`;
}

function notesTable(visit: Visit, cfe: Cfe, notes: readonly CreditNoteRow[]): Html {
  const { credit: words, cfe: own } = visit.texts;
  if (notes.length === 0) return renderEmpty(words.notesNone);
  const { status: states } = CFE_WORDS[visit.language];
  const rows = notes.map((note) => {
    const id = formatCfeId(note);
    return [
      html`<a href="${cfePath(paramsOf(cfe, id))}">${id}</a>`,
      badge(states[note.status].label, TONES[note.status]),
      amount(cfe.currency, note.amount, visit.texts),
    ];
  });
  return table(words.notes, [words.note, own.status, own.amount], rows, [2]);
}

/** Renders a form for each way to choose how much to credit. */
function formsOf(visit: Visit, cfe: Cfe, left: Figures): Html {
  const { credit: words } = visit.texts;
  const lines = leftLines(cfe, left, visit.texts).filter(({ number }) => number <= MAX_LINES);
  const values = Object.fromEntries(lines.map(({ number }) => [lineName(number), '']));
  const before = Object.fromEntries(
    lines.map((one) => [
      lineName(one.number),
      html`<p class="soft">${words.leftOfLine(one.name, one.count, one.amount)}</p>`,
    ]),
  );
  const more = cfe.document.lines.length > MAX_LINES && words.moreLines(MAX_LINES);
  return html`${WAYS.map((take) => {
    const isOfLines = take === 'counts' || take === 'sums';
    const what = isOfLines && html`<p>${words.linesAbout[take]}${more && ` ${more}`}</p>`;
    return creditPreview.draw(visit, paramsOf(cfe), {
      title: words.ways[take],
      about: html`${what}
        <p>${words.lookAbout}</p>`,
      values: { take, ...(isOfLines ? values : {}) },
      ...(isOfLines ? { before } : {}),
    });
  })}`;
}

const LINE_NUMBERS = Array.from({ length: MAX_LINES }, (_, i) => i + 1);
const lineName = (number: number): `line_${number}` => `line_${number}`;

/** A field for each line, shown if the page gives it a value. */
const lineFields = ({ credit: words }: Texts): Record<`line_${number}`, Field<string>> =>
  Object.fromEntries(
    LINE_NUMBERS.map((number) => {
      const name = lineName(number);
      const field = text(words.lineOf(number), { optional: true, maxlength: 20 });
      return [name, shownIf(field, ({ values }) => values[name] !== undefined)];
    }),
  );

type CreditForm = { readonly take: Way; readonly percent: string; readonly amount: string } & {
  readonly reason: string;
} & Readonly<Record<`line_${number}`, string>>;

/** Reads a typed amount. Throws INVALID_INPUT for `1.500`, which may mean 1,500. */
function readMoney(typed: string, name: string): JsonNumber | string {
  if (!/^\d+[.,]\d{3}$/.test(typed)) return parseTypedNumber(typed);
  const message = `${name}: must have at most 2 decimals and no sign for thousands, found "${typed}".`;
  throw invalidInput([{ path: `/${name}`, code: 'credit.ambiguous', message }]);
}

/** Returns a form as the body of POST …/credit-notes, with the line numbers that the body's lines have. */
function bodyOf(form: CreditForm): { body: unknown; numbers: readonly number[] } {
  const { take } = form;
  const field = take === 'counts' ? 'count' : 'amount';
  const isOfLines = take === 'counts' || take === 'sums';
  const numbers = LINE_NUMBERS.filter((number) => form[lineName(number)]);
  const lines = numbers.map((number) => {
    const [name, typed] = [lineName(number), form[lineName(number)] ?? ''];
    return {
      line_number: parseTypedNumber(String(number)),
      [field]: field === 'count' ? parseTypedNumber(typed) : readMoney(typed, name),
    };
  });
  if (isOfLines && lines.length === 0)
    throw invalidInput([{ path: '', code: 'credit.line', message: 'No line has an amount.' }]);
  const body = omitUndefined({
    reason: form.reason,
    percent: take === 'percent' ? parseTypedNumber(form.percent) : undefined,
    amount: take === 'amount' ? readMoney(form.amount, 'amount') : undefined,
    lines: isOfLines ? lines : undefined,
  });
  return { body, numbers };
}

/** Moves the fault of a line in the body to the form's field for it. */
function moveToLineField(fault: Fault, numbers: readonly number[]): Fault {
  const [, index] = /^\/lines\/(\d+)/.exec(fault.path) ?? [];
  const number = index === undefined ? undefined : numbers[Number(index)];
  return number === undefined ? fault : { ...fault, path: `/${lineName(number)}` };
}

const handDeps = (deps: ConsoleDeps) => ({ ...deps, equipped: () => deps });

const creditPath = (params: CfeParams): string => `${cfePath(params)}/credit`;
const FORM = {
  onBusinessClock: true,
  back: ({ params }: { params: CfeParams }): string => creditPath(params),
  find: ({ params, visit }: { params: CfeParams; visit: Visit }, deps: ConsoleDeps) =>
    findVisibleCfe(deps, visit, params),
} as const;

/** POST …/credit: computes the note and shows it; nothing is stored. */
export const creditPreview = defineForm('POST /cfes/{rut}/{environment}/{cfe_id}/credit', {
  ...FORM,
  as: 'folded',
  words: ({ credit: words }) => ({ submit: words.look }),
  fields: (texts) => {
    const { credit: words } = texts;
    const shownFor = (take: Way, field: Field<string>) =>
      shownIf(field, ({ values }) => values['take'] === take);
    return {
      take: subject(z.enum(WAYS)),
      percent: shownFor('percent', text(words.percent, { maxlength: 6 })),
      amount: shownFor('amount', text(words.amount, { maxlength: 20 })),
      ...lineFields(texts),
      reason: reason(words.reason, LENGTHS.referenceReason),
      // The preview passes the key on, so that sending this form again cannot issue a second note.
      once: onceKey(),
    };
  },
  async run({ params, target: { cfe, access }, form, visit }, deps) {
    const { body, numbers } = bodyOf(form);
    try {
      const { content, basis } = await previewCreditByHand(handDeps(deps), {
        cfe,
        accountId: accountOf(access, cfe),
        body,
      });
      const { once } = form;
      return show(
        visit.texts.credit.preview,
        renderPreview(visit, { cfe, params, content, basis, body, once }),
      );
    } catch (error) {
      if (!(error instanceof Refusal) || error.faults.length === 0) throw error;
      throw invalidInput(error.faults.map((fault) => moveToLineField(fault, numbers)));
    }
  },
});

/** Data of the preview. */
interface Preview {
  readonly cfe: Cfe;
  readonly params: CfeParams;
  readonly content: CfeContent;
  readonly basis: string;
  readonly body: unknown;
  readonly once: string;
}

function renderPreview(visit: Visit, { cfe, params, content, basis, body, once }: Preview): Html {
  const { credit: words, never, numerals } = visit.texts;
  const { totals, receiver, lines } = content;
  const sum = (value: string): string => amount(totals.currency, value, visit.texts);
  const vat = [totals.minimumVat, totals.basicVat, totals.otherVat];
  const facts = factList([
    receiptRow(visit, cfe),
    [words.type, CFE_TYPES[content.type].label],
    [words.date, dateOf(content.emissionDate)],
    [words.receiver, [receiver?.legalName, receiver?.document?.number].filter(Boolean).join(' · ') || never],
    [words.reason, content.references?.[0]?.reason ?? never],
    [
      words.vat,
      vat
        .filter((one) => Number(one) !== 0)
        .map(sum)
        .join(' + ') || sum('0.00'),
    ],
    [words.total, sum(totals.total)],
    [words.pays, html`<strong>${sum(totals.pay)}</strong>`],
  ]);
  const rows = lines.map((line) => [
    line.name,
    quantityText(line.quantity, visit.texts),
    money(line.unitPrice, numerals),
    money(line.amount, numerals),
  ]);
  const adjusted = (content.adjustments ?? []).map(({ kind, description, amount: sum }) => [
    description,
    '',
    '',
    `${kind === 'DISCOUNT' ? '−' : ''}${money(sum, numerals)}`,
  ]);
  const heads = [words.item, words.count, words.price, words.lineAmount];
  const issue = creditIssue.draw(visit, params, {
    about: words.issueAbout,
    submit: words.submit(sum(totals.pay)),
    values: { once, request: JSON.stringify(withExactNumbers(body)), expected: basis },
    beside: html`<a href="${creditPath(params)}">${words.back}</a>`,
  });
  return html`${panel(
    null,
    html`<p>${words.previewAbout}</p>
      ${facts}`,
  )}
  ${panel(words.noteLines, table(words.noteLines, heads, [...rows, ...adjusted], [1, 2, 3]))}
  ${panel(null, issue)}`;
}

/** POST …/credit-notes: issues the previewed note. */
export const creditIssue = defineForm('POST /cfes/{rut}/{environment}/{cfe_id}/credit-notes', {
  ...FORM,
  fields: (texts) => ({
    once: state(z.uuid()),
    request: state(z.string().max(MAX_REQUEST)),
    expected: state(z.string().max(MAX_REQUEST)),
    why: operatorsReason(texts),
  }),
  refused: ({ credit: words }, { code }) =>
    code === 'IDEMPOTENCY_IN_PROGRESS' ? words.inProgress : undefined,
  async run({ params, target: { cfe, access }, form, visit }, deps) {
    const { once: key, request, expected, why } = form;
    const { credit: words } = visit.texts;
    const read = readJson(request);
    if (!read.ok) throw new LocalizedRefusal('INVALID_INPUT', words.unreadable);
    const { note } = await creditByHand(handDeps(deps), {
      cfe,
      accountId: accountOf(access, cfe),
      body: read.value,
      why,
      expected,
      idempotencyKey: `console:${key}`,
      requestId: visit.requestId,
    });
    const text = words.done(amount(note.currency, note.payAmount, visit.texts));
    return redirect(cfePath({ ...params, cfe_id: formatCfeId(note) }), { kind: 'done', text });
  },
});
