import { Readable } from 'node:stream';
import * as z from 'zod';
import {
  fetchExport,
  requestExport,
  stopExport,
  TooManyToPrint,
} from '../../../commands/receipts/exports.ts';
import type { ReceiptExport } from '../../../db/entities/receipts.ts';
import {
  exportBytes,
  findExport,
  isExportKept,
  listExportableEnterprises,
  streamExport,
} from '../../../db/receipts/receiptExports.ts';
import { ENVIRONMENTS } from '../../../domain/receipts/cfeTypes.ts';
import { MOST_PRINTED, Month, monthBefore } from '../../../domain/receipts/receiptExport.ts';
import { decimalText } from '../../../domain/values/figures.ts';
import { montevideoDate } from '../../../domain/values/montevideo.ts';
import { Rut } from '../../../domain/values/rut.ts';
import { Refusal } from '../../../errors.ts';
import { EXPORTS } from '../../../lists/exports.ts';
import { filterValues } from '../../../lists/list.ts';
import { type Html, html } from '../../../page/html.ts';
import { findAccessAt } from '../../access/access.ts';
import { requireEnterprise } from '../../access/enterpriseContext.ts';
import { accountsFor, mayUse } from '../../access/permissions.ts';
import { choice, text, tick } from '../../fields.ts';
import { filterFields, filterSchemas, listQuery } from '../../filters.ts';
import { defineForm } from '../../form.ts';
import { figure, timeOf } from '../../format.ts';
import { link } from '../../links.ts';
import { figures, type Headings, showList } from '../../lists.ts';
import {
  type ConsoleDeps,
  definePage,
  LocalizedRefusal,
  redirect,
  type Sent,
  signedIn,
  type Visit,
  withActor,
} from '../../page.ts';
import { badge, optionsOf } from '../../parts.ts';

const ID = z.string().regex(/^\d{12}-(sandbox-)?\d{4}-\d{2}-[0-9a-f]{6}$/);
const MEGABYTE = 1_000_000;
/** Limit of enterprises suggested while typing. */
const MAX_SUGGESTIONS = 100;
const SUGGESTIONS_ID = 'enterprises-to-export';

/** Returns the path of the page with a prefilled form. */
export const exportsPath = (values: { rut?: string; environment?: string; month?: string }): string =>
  link('/exports', values);

const FILTERS = filterSchemas(EXPORTS);

/** GET /exports: the requested exports, and the form to request one. */
export const exportsPage = definePage({
  name: 'exports',
  route: 'GET /exports',
  query: listQuery(FILTERS),
  async handle({ query, visit }, deps) {
    const { exports: words, environments } = visit.texts;
    const accounts = accountsFor(signedIn(visit).viewer, 'GET /exports');
    return showList(visit, deps, EXPORTS, {
      title: words.title,
      search: { ...filterValues(EXPORTS, query), accounts },
      path: '/exports',
      query,
      above: await renderRequestForm(visit, deps, query),
      filters: filterFields(FILTERS, {
        rut: words.rut,
        month: { label: words.month, rule: 'month' },
        environment: [words.environment, environments],
      }),
      headings: headingsOf(visit, deps.businessClock()),
      empty: words.none,
      live: ['exports'],
    });
  },
});

type FormValues = { readonly [K in 'rut' | 'environment' | 'month']?: string | undefined };

/** Renders the form if the viewer may request an export of the enterprise in `values`; without one, of any enterprise. */
async function renderRequestForm(
  visit: Visit,
  { orm, businessClock }: ConsoleDeps,
  values: FormValues,
): Promise<Html> {
  const { rut, environment = 'production', month = monthBefore(montevideoDate(businessClock())) } = values;
  const { viewer } = signedIn(visit);
  const accounts = accountsFor(viewer, newExport.route);
  const suggestions =
    accounts === null ? [] : await listExportableEnterprises(orm.em.fork(), accounts, MAX_SUGGESTIONS);
  const mayExportAny = accounts === null || suggestions.length > 0;
  if (rut === undefined ? !mayExportAny : !mayUse(await findAccessAt(orm, viewer, rut), newExport.route))
    return html``;
  const onlyRut = suggestions.length === 1 ? suggestions[0]?.rut : undefined;
  const options = suggestions.map((one) => html`<option value="${one.rut}">${one.legalName}</option>`);
  const before = { environment: html`<datalist id="${SUGGESTIONS_ID}">${options}</datalist>` };
  return newExport.draw(visit, {}, { values: { rut: rut ?? onlyRut, environment, month }, before });
}

function headingsOf(visit: Visit, now: Date): Headings<ReceiptExport, typeof EXPORTS.columns> {
  const { exports: words, environments } = visit.texts;
  return {
    month: words.month,
    rut: words.rut,
    environment: [words.environment, ({ environment }) => environments[environment]],
    state: [words.state, (row) => renderState(visit, row, now)],
    with_pdfs: [words.withPdfs, ({ withPdfs }) => (withPdfs ? words.yes : words.no)],
    receipts: figures(words.receipts, ({ total }) => figure(total, visit.texts)),
    left_out: figures(words.leftOut, ({ leftOut }) => figure(leftOut, visit.texts)),
    created_at: [words.asked, ({ createdAt }) => timeOf(createdAt)],
  };
}

/** Renders the progress with a button to stop, or the link to the file. */
function renderState(visit: Visit, row: ReceiptExport, now: Date): Html {
  const { exports: words } = visit.texts;
  const { id, state, done, total } = row;
  if (state === 'RUNNING') {
    const progress = words.of(figure(done, visit.texts), figure(total, visit.texts));
    const bar = html`<progress max="${String(total)}" value="${String(done)}">${progress}</progress>`;
    return html`<label>${badge(words.running, 'wait')} ${progress} ${bar}</label>
      ${exportStop.draw(visit, { id })}`;
  }
  if (state === 'STOPPED') return badge(words.stopped, 'calm');
  if (!isExportKept(row, now)) return badge(words.gone, 'calm');
  const size = `${decimalText((exportBytes(row) / MEGABYTE).toFixed(1), undefined, visit.texts.numerals)} MB`;
  return html`${badge(words.done, 'good')} <a href="/exports/${id}/zip" download>${words.fetch}</a>
    <span class="soft">${size}</span>`;
}

export const newExport = defineForm('POST /exports', {
  as: 'panel',
  onBusinessClock: true,
  words: ({ exports: words }) => ({ title: words.ask, about: words.about, submit: words.submit }),
  fields: ({ exports: words, environments, numerals }) => ({
    rut: text(words.rut, { schema: Rut, inputmode: 'numeric', maxlength: 12, list: SUGGESTIONS_ID }),
    environment: choice(words.environment, optionsOf(ENVIRONMENTS, environments)),
    month: text(words.monthAs, {
      schema: Month,
      type: 'month',
      maxlength: 7,
      placeholder: words.monthForm,
    }),
    pdfs: tick(words.pdfs(figure(MOST_PRINTED, { numerals }))),
  }),
  find: ({ form: { rut }, visit }, deps) => requireEnterprise(visit, deps, rut),
  back: ({ sent }) => exportsPath(validValues(sent)),
  async run({ form: { pdfs, ...request }, visit }, deps) {
    const { exports: words } = visit.texts;
    try {
      await requestExport(deps, { ...request, withPdfs: pdfs });
    } catch (error) {
      if (!(error instanceof TooManyToPrint)) throw error;
      const text = words.tooManyToPrint(figure(error.count, visit.texts), figure(MOST_PRINTED, visit.texts));
      throw new LocalizedRefusal(error.code, text, { cause: error });
    }
    return redirect('/exports', { kind: 'done', text: words.askedFor(request.month) });
  },
});

/** Returns the valid values of a sent form. */
function validValues(sent: Sent): { rut?: string; environment?: string; month?: string } {
  const schemas = { rut: Rut, environment: z.enum(ENVIRONMENTS), month: Month };
  return Object.fromEntries(
    Object.entries(schemas).flatMap(([name, schema]) => {
      const read = schema.safeParse(sent[name]);
      return read.success ? [[name, read.data]] : [];
    }),
  );
}

/** Returns an export. Throws NOT_FOUND if the viewer has no role at its enterprise. */
async function findVisibleExport(visit: Visit, deps: ConsoleDeps, id: string): Promise<ReceiptExport> {
  const found = await findExport(deps.orm.em.fork(), id);
  if (!found) throw new Refusal('NOT_FOUND', 'NOT_FOUND');
  await requireEnterprise(visit, deps, found.rut);
  return found;
}

export const exportStop = defineForm('POST /exports/{id}/stop', {
  as: 'inline',
  params: { id: ID },
  onBusinessClock: true,
  words: ({ exports: words }) => ({ submit: words.stop, isQuiet: true }),
  find: ({ params: { id }, visit }, deps) => findVisibleExport(visit, deps, id),
  async run({ params: { id }, visit }, deps) {
    await stopExport(deps, id);
    return redirect('/exports', { kind: 'done', text: visit.texts.exports.stopAsked });
  },
});

/** GET /exports/{id}/zip: the file. */
export const exportZip = definePage({
  name: 'export-zip',
  route: 'GET /exports/{id}/zip',
  // Counted because each download adds an entry to the audit.
  counted: true,
  params: { id: ID },
  async handle({ params: { id }, visit }, deps) {
    const found = await findVisibleExport(visit, deps, id);
    if (!isExportKept(found, deps.businessClock()))
      throw new LocalizedRefusal('NOT_FOUND', visit.texts.exports.notThere);
    return {
      kind: 'file',
      name: `${id}.zip`,
      type: 'application/zip',
      length: exportBytes(found),
      content: Readable.from(streamExport(() => deps.orm.em.fork(), found)),
      onBegin: () => fetchExport(withActor(deps, visit), found),
    };
  },
});
