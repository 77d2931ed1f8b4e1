import * as z from 'zod';
import { createCustomer } from '../../commands/createCustomer.ts';
import { deleteCustomer } from '../../commands/deleteCustomer.ts';
import { updateCustomer } from '../../commands/updateCustomer.ts';
import { customersAfter, findCustomer } from '../../db/customers.ts';
import { findEnterprise } from '../../db/enterprises.ts';
import type { Customer } from '../../db/entities/Customer.ts';
import { type MailOfReceiver, mailsToReceiver } from '../../db/mails.ts';
import { Customer as CustomerBody } from '../../domain/customer.ts';
import { required } from '../../domain/faults.ts';
import { DOCUMENT_TYPES } from '../../domain/receiverDocument.ts';
import { Rut } from '../../domain/rut.ts';
import { Refusal } from '../../errors.ts';
import { type Html, html } from '../../page/html.ts';
import { type Audience, mayAt, standingAt } from '../access.ts';
import { figure, moment } from '../format.ts';
import { type Column, LIST_QUERY, listing } from '../lists.ts';
import {
  acting,
  type ConsoleDeps,
  definePage,
  go,
  show,
  signedIn,
  ToldRefusal,
  type Visit,
} from '../page.ts';
import { button, field, form, mark, nothing, panel, table } from '../parts.ts';

const READERS: Audience = { operators: 'VIEWER', members: 'VIEWER' };
const CHANGES: Audience = { operators: 'ADMIN', members: 'MEMBER' };
const OF = { params: z.object({ rut: Rut }), query: z.object({}) } as const;
const ONE = { params: z.object({ rut: Rut, id: z.uuid() }), query: z.object({}) } as const;
/** Lines for addresses beyond those that are there. */
const FREE_LINES = 2;
const MOST_RECEIPTS = 100;

const pathOf = (rut: string, id?: string): string =>
  `/enterprises/${rut}/customers${id === undefined ? '' : `/${id}`}`;

/** The name of the enterprise of a page: 404 where somebody has no role there, 403 where it does not do. */
async function enterpriseFor(
  visit: Visit,
  { orm }: ConsoleDeps,
  rut: string,
  audience: Audience,
): Promise<{ legalName: string; mayChange: boolean }> {
  const standing = await standingAt(orm, signedIn(visit).viewer, rut);
  const enterprise = standing && (await findEnterprise(orm.em.fork(), rut));
  if (!enterprise) throw new Refusal('NOT_FOUND', 'There is no such enterprise.');
  if (!mayAt(standing, audience)) throw new ToldRefusal('FORBIDDEN', visit.texts.refused.notForRole);
  return { legalName: enterprise.legalName, mayChange: mayAt(standing, CHANGES) };
}

async function customerFor({ orm }: ConsoleDeps, rut: string, id: string): Promise<Customer> {
  const customer = await findCustomer(orm.em.fork(), rut, id);
  if (!customer) throw new Refusal('NOT_FOUND', 'There is no such customer.');
  return customer;
}

/** GET /enterprises/{rut}/customers: to whom an enterprise issues. */
export const customersPage = definePage({
  ...OF,
  name: 'customers',
  method: 'GET',
  path: '/enterprises/{rut}/customers',
  audience: READERS,
  query: z.object({
    ...LIST_QUERY,
    name: z.string().max(255).optional(),
    document: z.string().max(255).optional(),
    country: z.string().max(20).optional(),
  }),
  form: z.object({}),
  async handle({ params: { rut }, query, visit }, deps) {
    const { customers: words } = visit.texts;
    const { legalName, mayChange } = await enterpriseFor(visit, deps, rut, READERS);
    const filter = { rut, legalName: query.name, docNumber: query.document, countryCode: query.country };
    return listing<Customer>(visit, deps, {
      title: `${words.title} · ${legalName}`,
      name: 'customers',
      label: words.title,
      path: pathOf(rut),
      query,
      filters: [
        { name: 'name', label: words.nameContains },
        { name: 'document', label: words.document },
        { name: 'country', label: words.countryCode },
      ],
      columns: columnsOf(visit),
      read: (page) => customersAfter(deps.orm.em.fork(), filter, page),
      key: {
        parts: ['text', 'text', 'text'],
        of: ({ legalNameSearch, docNumber, docType }) => [legalNameSearch, docNumber, docType],
      },
      href: ({ id }) => pathOf(rut, id),
      empty: words.none,
      below: html`${mayChange && panel(words.add, customerForm(visit, pathOf(rut), null))}`,
    });
  },
});

function columnsOf({ texts: { customers: words } }: Visit): Column<Customer>[] {
  const addresses = ({ notifications }: Customer): string =>
    notifications
      .filter(({ enabled }) => enabled)
      .map(({ destination }) => destination)
      .join(' ');
  return [
    { key: 'legal_name', head: words.name, cell: (c) => c.legalName, csv: (c) => c.legalName },
    { key: 'doc_type', head: words.type, cell: (c) => c.docType, csv: (c) => c.docType },
    { key: 'doc_number', head: words.document, cell: (c) => c.docNumber, csv: (c) => c.docNumber },
    {
      key: 'country_code',
      head: words.countryCode,
      cell: (c) => c.countryCode ?? '',
      csv: (c) => c.countryCode,
    },
    { key: 'emails', head: words.notifications, cell: addresses, csv: addresses },
  ];
}

function customerForm(visit: Visit, action: string, customer: Customer | null): Html {
  const { customers: words } = visit.texts;
  const optional = (label: string, name: string, value: string | null | undefined): Html =>
    field(label, { name, value: value ?? '', required: false });
  const types = DOCUMENT_TYPES.map((one) => html`<option value="${one}">${one}</option>`);
  const lines = [
    ...(customer?.notifications ?? []),
    ...Array.from({ length: FREE_LINES }, () => ({ destination: '', enabled: true })),
  ];
  return form(
    visit,
    action,
    html`${customer && html`<p class="soft">${words.changeAbout}</p>`}
${!customer && html`<label class="field"><span>${words.type}</span><select name="type">${types}</select></label>${field(words.document, { name: 'document' })}`}
${field(words.name, { name: 'name', value: customer?.legalName })}
${optional(words.address, 'address', customer?.fiscalAddress)}
${optional(words.city, 'city', customer?.city)}
${optional(words.department, 'department', customer?.department)}
${optional(words.country, 'country', customer?.country)}
${optional(words.countryCode, 'country_code', customer?.countryCode)}
<fieldset class="boxes"><legend>${words.notifications}</legend><p class="soft">${words.notificationsAbout}</p>${lines.map(
      ({ destination, enabled }, i) =>
        html`<div><input type="email" name="email" value="${destination}" maxlength="254" autocomplete="off" aria-label="${words.notifications} ${i + 1}"> <label><input type="checkbox" name="send" value="${i}"${enabled && html` checked`}> ${words.notify}</label></div>`,
    )}</fieldset>
${button(customer ? words.changeGo : words.addGo)}`,
  );
}

const Text = z.string().max(1_000).default('');
const Many = z
  .union([z.string(), z.array(z.string()).max(50)])
  .default([])
  .transform((values) => (typeof values === 'string' ? [values] : values));
const FIELDS = {
  name: Text,
  address: Text,
  city: Text,
  department: Text,
  country: Text,
  country_code: Text,
  email: Many,
  send: Many,
} as const;
const Fields = z.object(FIELDS);

/** What a form says of a customer, as the body of the API says it: what is empty is left out. */
function bodyOf(visit: Visit, key: { type: string; document: string }, sent: z.output<typeof Fields>) {
  const notifications = sent.email
    .map((destination, i) => ({
      type: 'EMAIL',
      destination: destination.trim(),
      enabled: sent.send.includes(String(i)),
    }))
    .filter(({ destination }) => destination !== '');
  const said = {
    doc_type: key.type,
    doc_number: key.document.trim(),
    legal_name: sent.name.trim(),
    fiscal_address: sent.address.trim(),
    city: sent.city.trim(),
    department: sent.department.trim(),
    country: sent.country.trim(),
    country_code: sent.country_code.trim().toUpperCase(),
  };
  const given = Object.fromEntries(Object.entries(said).filter(([, value]) => value !== ''));
  try {
    return required(CustomerBody, { ...given, notifications });
  } catch (error) {
    throw inWords(visit, error);
  }
}

/** A refusal with the name of its field, in the reader's language. */
function inWords({ texts: { customers: words } }: Visit, error: unknown): unknown {
  const [fault] = error instanceof Refusal ? error.faults : [];
  if (!(error instanceof Refusal) || !fault) return error;
  if (fault.code === 'customer.exists') return new ToldRefusal(error.code, words.exists);
  const names: Readonly<Record<string, string>> = {
    doc_number: words.document,
    legal_name: words.name,
    fiscal_address: words.address,
    city: words.city,
    department: words.department,
    country: words.country,
    country_code: words.countryCode,
    notifications: words.notifications,
  };
  const name = names[fault.path.split('/')[1] ?? ''];
  return name === undefined ? error : new ToldRefusal(error.code, words.wrong(name));
}

/** POST /enterprises/{rut}/customers: adds one. */
export const sendCustomer = definePage({
  ...OF,
  name: 'customer-add',
  method: 'POST',
  path: '/enterprises/{rut}/customers',
  audience: CHANGES,
  form: z.object({ ...FIELDS, type: z.enum(DOCUMENT_TYPES), document: Text }),
  back: ({ params }) => pathOf(params.rut),
  async handle({ params: { rut }, form: sent, visit }, deps) {
    await enterpriseFor(visit, deps, rut, CHANGES);
    const customer = bodyOf(visit, sent, sent);
    const made = await createCustomer(acting(deps, visit), { rut, customer }).catch((error: unknown) => {
      throw inWords(visit, error);
    });
    return go(pathOf(rut, made.id), { kind: 'done', text: visit.texts.customers.added });
  },
});

/** GET /enterprises/{rut}/customers/{id}: one customer, and the e-mails that went there. */
export const customerPage = definePage({
  ...ONE,
  name: 'customer',
  method: 'GET',
  path: '/enterprises/{rut}/customers/{id}',
  audience: READERS,
  form: z.object({}),
  async handle({ params: { rut, id }, visit }, deps) {
    const { customers: words } = visit.texts;
    const { mayChange, legalName } = await enterpriseFor(visit, deps, rut, READERS);
    const customer = await customerFor(deps, rut, id);
    const { docNumber, docType } = customer;
    const mails = await mailsToReceiver(deps.orm.em.fork(), { rut, docNumber }, MOST_RECEIPTS);
    const sure = html`<p>${words.deleteAbout}</p><label class="field"><input type="checkbox" name="sure" value="yes" required> ${words.deleteSure}</label>${button(words.delete)}`;
    const shown = columnsOf(visit).map(
      (column) => html`<div><dt>${column.head}</dt><dd>${column.cell(customer)}</dd></div>`,
    );
    const body = html`<p class="soft"><a href="${pathOf(rut)}">${words.title} · ${legalName}</a> · ${docType} ${docNumber}</p>
${
  mayChange
    ? html`<div class="panels">${panel(words.change, customerForm(visit, pathOf(rut, id), customer))}${panel(words.delete, form(visit, `${pathOf(rut, id)}/delete`, sure))}</div>`
    : panel(null, html`<dl class="facts">${shown}</dl>`)
}
${panel(words.mails, mailsTable(visit, rut, mails))}`;
    return show(customer.legalName, body);
  },
});

function mailsTable(
  { texts: { customers: words } }: Visit,
  rut: string,
  mails: readonly MailOfReceiver[],
): Html {
  if (mails.length === 0) return nothing(words.mailsNone);
  const rows = mails.map(({ mail, cfeId }) => [
    html`<a href="/cfes/${rut}/${mail.environment}/${cfeId}">${cfeId}</a>`,
    mail.destination,
    moment(mail.createdAt),
    mark(
      words.statuses[mail.status],
      mail.status === 'SENT' ? 'good' : mail.status === 'FAILED' ? 'bad' : 'wait',
    ),
    figure(mail.attempts),
  ]);
  const heads = [words.receipt, words.to, words.at, words.status, words.attempts];
  return html`<p class="soft">${words.mailsAbout}</p>${table(words.mails, heads, rows, [4])}`;
}

/** POST /enterprises/{rut}/customers/{id}: puts what the form says in the place of what was kept. */
export const sendCustomerChange = definePage({
  ...ONE,
  name: 'customer-change',
  method: 'POST',
  path: '/enterprises/{rut}/customers/{id}',
  audience: CHANGES,
  form: Fields,
  back: ({ params }) => pathOf(params.rut, params.id),
  async handle({ params: { rut, id }, form: sent, visit }, deps) {
    await enterpriseFor(visit, deps, rut, CHANGES);
    const { docType, docNumber } = await customerFor(deps, rut, id);
    const customer = bodyOf(visit, { type: docType, document: docNumber }, sent);
    await updateCustomer(acting(deps, visit), { rut, docType, docNumber, customer });
    return go(pathOf(rut, id), { kind: 'done', text: visit.texts.customers.changed });
  },
});

/** POST /enterprises/{rut}/customers/{id}/delete. */
export const sendCustomerDelete = definePage({
  ...ONE,
  name: 'customer-delete',
  method: 'POST',
  path: '/enterprises/{rut}/customers/{id}/delete',
  audience: CHANGES,
  form: z.object({ sure: z.literal('yes') }),
  back: ({ params }) => pathOf(params.rut, params.id),
  async handle({ params: { rut, id }, visit }, deps) {
    await enterpriseFor(visit, deps, rut, CHANGES);
    const { docType, docNumber } = await customerFor(deps, rut, id);
    await deleteCustomer(acting(deps, visit), { rut, docType, docNumber });
    return go(pathOf(rut), { kind: 'done', text: visit.texts.customers.deleted });
  },
});
