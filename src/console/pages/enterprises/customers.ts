import * as z from 'zod';
import { createCustomer, deleteCustomer, updateCustomer } from '../../../commands/enterprises/customers.ts';
import { listCustomersAfter } from '../../../db/enterprises/customers.ts';
import { Customer } from '../../../db/entities/enterprises.ts';
import type { Mail } from '../../../db/entities/mail.ts';
import { listMailsToReceiver, type MailOfReceiver } from '../../../db/mail/mails.ts';
import { CUSTOMER_FIELDS, CustomerBody } from '../../../domain/enterprises/customer.ts';
import { DOCUMENT_TYPES } from '../../../domain/receipts/receiverDocument.ts';
import { parseOrRefuse } from '../../../domain/requests/faults.ts';
import { Rut } from '../../../domain/values/rut.ts';
import { Refusal } from '../../../errors.ts';
import { type Html, html } from '../../../page/html.ts';
import { type AtEnterprise, fieldFault, requireEnterprise } from '../../access/atEnterprise.ts';
import { mayAt } from '../../access/permissions.ts';
import { bodyOfSent, inputsOf, labelsByPath, renderFields, sentShape } from '../../fieldForms.ts';
import { figure, moment } from '../../format.ts';
import { type Column, column, LIST_QUERY, showList } from '../../lists.ts';
import {
  type ConsoleDeps,
  definePage,
  go,
  LocalizedRefusal,
  show,
  type Visit,
  withActor,
} from '../../page.ts';
import { button, choice, field, form, mark, nothing, panel, table } from '../../parts.ts';

const OF = { params: z.object({ rut: Rut }) } as const;
const ONE = { params: z.object({ rut: Rut, id: z.uuid() }) } as const;
/** Empty inputs for more addresses. */
const FREE_LINES = 2;
const MAX_MAILS = 100;

const pathOf = (rut: string, id?: string): string =>
  `/enterprises/${rut}/customers${id === undefined ? '' : `/${id}`}`;

async function customerFor({ orm }: ConsoleDeps, rut: string, id: string): Promise<Customer> {
  const customer = await orm.em.fork().findOne(Customer, { rut, id });
  if (!customer) throw new Refusal('NOT_FOUND', 'There is no such customer.');
  return customer;
}

/** GET /enterprises/{rut}/customers: the customers of an enterprise. */
export const customersPage = definePage({
  ...OF,
  name: 'customers',
  route: 'GET /enterprises/{rut}/customers',
  query: z.object({
    ...LIST_QUERY,
    name: z.string().max(255).optional(),
    document: z.string().max(255).optional(),
    country: z.string().max(20).optional(),
  }),
  async handle({ params: { rut }, query, visit }, deps) {
    const { customers: words } = visit.texts;
    const { enterprise, access } = await requireEnterprise(visit, deps, rut);
    const mayAdd = mayAt(access, 'POST /enterprises/{rut}/customers');
    const filter = { rut, legalName: query.name, docNumber: query.document, countryCode: query.country };
    return showList<Customer>(visit, deps, {
      title: `${words.title} · ${enterprise.legalName}`,
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
      read: (page) => listCustomersAfter(deps.orm.em.fork(), filter, page),
      key: {
        parts: ['text', 'text', 'text'],
        of: ({ legalNameSearch, docNumber, docType }) => [legalNameSearch, docNumber, docType],
      },
      href: ({ id }) => pathOf(rut, id),
      empty: words.none,
      below: html`${mayAdd && panel(words.add, customerForm(visit, pathOf(rut), null))}`,
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
    column('legal_name', words.legalName, 'legalName'),
    column('doc_type', words.type, 'docType'),
    column('doc_number', words.document, 'docNumber'),
    column('country_code', words.countryCode, 'countryCode'),
    column('emails', words.notifications, addresses),
  ];
}

function customerForm(visit: Visit, action: string, customer: Customer | null): Html {
  const { customers: words } = visit.texts;
  const lines = [
    ...(customer?.notifications ?? []),
    ...Array.from({ length: FREE_LINES }, () => ({ destination: '', enabled: true })),
  ];
  const addresses = lines.map(({ destination, enabled }, i) => {
    const attributes = html`maxlength="254" autocomplete="off" aria-label="${words.notifications} ${i + 1}"`;
    const address = html`<input type="email" name="email" value="${destination}" ${attributes}>`;
    const box = html`<input type="checkbox" name="send" value="${i}"${enabled && html` checked`}>`;
    return html`<div>${address} <label>${box} ${words.notify}</label></div>`;
  });
  const about = html`<legend>${words.notifications}</legend><p class="soft">${words.notificationsAbout}</p>`;
  return form(visit, action, [
    customer && html`<p class="soft">${words.changeAbout}</p>`,
    !customer && choice(words.type, { name: 'type', options: DOCUMENT_TYPES.map((one) => [one, one]) }),
    !customer && field(words.document, { name: 'document' }),
    ...renderFields(words, CUSTOMER_FIELDS, inputsOf(CUSTOMER_FIELDS, customer)),
    html`<fieldset class="boxes">${about}${addresses}</fieldset>`,
    button(customer ? words.changeGo : words.addGo),
  ]);
}

const Text = z.string().max(1_000).default('');
const Many = z
  .union([z.string(), z.array(z.string()).max(50)])
  .default([])
  .transform((values) => (typeof values === 'string' ? [values] : values));
const FIELDS = {
  ...sentShape(CUSTOMER_FIELDS, Text),
  email: Many,
  send: Many,
} as const;
const Fields = z.object(FIELDS);

/** Returns the API's body of a customer from the form; null for empty fields. */
function bodyOf(visit: Visit, key: { type: string; document: string }, sent: z.output<typeof Fields>) {
  const notifications = sent.email
    .map((destination, i) => ({
      type: 'EMAIL',
      destination: destination.trim(),
      enabled: sent.send.includes(String(i)),
    }))
    .filter(({ destination }) => destination !== '');
  const { country_code: code, ...others } = sent;
  const document = { doc_type: key.type, doc_number: key.document.trim() };
  const fields = bodyOfSent(CUSTOMER_FIELDS, { ...others, country_code: code.toUpperCase() });
  try {
    return parseOrRefuse(CustomerBody, { ...document, ...fields, notifications });
  } catch (error) {
    throw translateError(visit, error);
  }
}

/** Translates an error, with the name of its field, into the reader's language. */
function translateError({ texts }: Visit, error: unknown): unknown {
  const { customers: words } = texts;
  const [fault] = error instanceof Refusal ? error.faults : [];
  if (!(error instanceof Refusal) || !fault) return error;
  if (fault.code === 'customer.exists') return new LocalizedRefusal(error.code, words.exists);
  const names: Readonly<Record<string, string>> = {
    ...labelsByPath(words, CUSTOMER_FIELDS),
    '/doc_number': words.document,
    '/notifications': words.notifications,
  };
  const name = names[`/${fault.path.split('/')[1]}`];
  return name === undefined ? error : new LocalizedRefusal(error.code, fieldFault(texts, name, fault.code));
}

/** POST /enterprises/{rut}/customers: adds a customer. */
export const sendCustomer = definePage({
  ...OF,
  name: 'customer-add',
  route: 'POST /enterprises/{rut}/customers',
  form: z.object({ ...FIELDS, type: z.enum(DOCUMENT_TYPES), document: Text }),
  back: ({ params }) => pathOf(params.rut),
  async handle({ params: { rut }, form: sent, visit }, deps) {
    await requireEnterprise(visit, deps, rut);
    const customer = bodyOf(visit, sent, sent);
    const made = await createCustomer(withActor(deps, visit), { rut, customer }).catch((error: unknown) => {
      throw translateError(visit, error);
    });
    return go(pathOf(rut, made.id), { kind: 'done', text: visit.texts.customers.added });
  },
});

/** GET /enterprises/{rut}/customers/{id}: one customer, and the e-mails sent to them. */
export const customerPage = definePage({
  ...ONE,
  name: 'customer',
  route: 'GET /enterprises/{rut}/customers/{id}',
  async handle({ params: { rut, id }, visit }, deps) {
    const { customers: words } = visit.texts;
    const at = await requireEnterprise(visit, deps, rut);
    const customer = await customerFor(deps, rut, id);
    const { docNumber, docType } = customer;
    const mails = await listMailsToReceiver(deps.orm.em.fork(), { rut, docNumber }, MAX_MAILS);
    const { legalName } = at.enterprise;
    const body = html`<p class="soft"><a href="${pathOf(rut)}">${words.title} · ${legalName}</a> · ${docType} ${docNumber}</p>
${customerPanels(visit, at, customer)}
${panel(words.mails, mailsTable(visit, rut, mails))}`;
    return show(customer.legalName, body);
  },
});

/** Renders the forms of a customer if the viewer may send them, else the stored data. */
function customerPanels(
  visit: Visit,
  { enterprise: { rut }, access }: AtEnterprise,
  customer: Customer,
): Html {
  const { customers: words } = visit.texts;
  const path = pathOf(rut, customer.id);
  const mayChange = mayAt(access, 'POST /enterprises/{rut}/customers/{id}');
  const mayDelete = mayAt(access, 'POST /enterprises/{rut}/customers/{id}/delete');
  if (!mayChange && !mayDelete) {
    const shown = columnsOf(visit).map(
      (column) => html`<div><dt>${column.head}</dt><dd>${column.cell(customer)}</dd></div>`,
    );
    return panel(null, html`<dl class="facts">${shown}</dl>`);
  }
  const sure = html`<p>${words.deleteAbout}</p>
<label class="field"><input type="checkbox" name="sure" value="yes" required> ${words.deleteSure}</label>
${button(words.delete)}`;
  return html`<div class="panels">${mayChange && panel(words.change, customerForm(visit, path, customer))}${
    mayDelete && panel(words.delete, form(visit, `${path}/delete`, sure))
  }</div>`;
}

/** Renders the state of an e-mail, and the error of its last attempt. */
export const mailMark = ({ texts }: Visit, { status, error }: Pick<Mail, 'status' | 'error'>): Html => {
  const tone = status === 'SENT' ? 'good' : status === 'FAILED' ? 'bad' : 'wait';
  const { statuses, errors, retrying } = texts.customers;
  const word = status === 'PENDING' && error ? retrying : statuses[status];
  return html`${mark(word, tone)}${error && html` <span class="soft">${errors[error]}</span>`}`;
};

function mailsTable(visit: Visit, rut: string, mails: readonly MailOfReceiver[]): Html {
  const { customers: words } = visit.texts;
  if (mails.length === 0) return nothing(words.mailsNone);
  const rows = mails.map(({ mail, cfeId }) => [
    html`<a href="/cfes/${rut}/${mail.environment}/${cfeId}">${cfeId}</a>`,
    mail.destination,
    moment(mail.createdAt),
    mailMark(visit, mail),
    figure(mail.attempts, visit.texts),
  ]);
  const heads = [words.receipt, words.to, words.at, words.status, words.attempts];
  return html`<p class="soft">${words.mailsAbout}</p>${table(words.mails, heads, rows, [4])}`;
}

/** POST /enterprises/{rut}/customers/{id}: replaces the stored data. */
export const sendCustomerChange = definePage({
  ...ONE,
  name: 'customer-change',
  route: 'POST /enterprises/{rut}/customers/{id}',
  form: Fields,
  back: ({ params }) => pathOf(params.rut, params.id),
  async handle({ params: { rut, id }, form: sent, visit }, deps) {
    await requireEnterprise(visit, deps, rut);
    const { docType, docNumber } = await customerFor(deps, rut, id);
    const customer = bodyOf(visit, { type: docType, document: docNumber }, sent);
    await updateCustomer(withActor(deps, visit), { rut, docType, docNumber, customer });
    return go(pathOf(rut, id), { kind: 'done', text: visit.texts.customers.changed });
  },
});

/** POST /enterprises/{rut}/customers/{id}/delete. */
export const sendCustomerDelete = definePage({
  ...ONE,
  name: 'customer-delete',
  route: 'POST /enterprises/{rut}/customers/{id}/delete',
  form: z.object({ sure: z.literal('yes') }),
  back: ({ params }) => pathOf(params.rut, params.id),
  async handle({ params: { rut, id }, visit }, deps) {
    await requireEnterprise(visit, deps, rut);
    const { docType, docNumber } = await customerFor(deps, rut, id);
    await deleteCustomer(withActor(deps, visit), { rut, docType, docNumber });
    return go(pathOf(rut), { kind: 'done', text: visit.texts.customers.deleted });
  },
});
