import * as z from 'zod';
import { createCustomer, deleteCustomer, updateCustomer } from '../../../commands/enterprises/customers.ts';
import { Customer } from '../../../db/entities/enterprises.ts';
import type { Mail } from '../../../db/entities/mail.ts';
import type { ListedMail } from '../../../db/mail/mails.ts';
import { CUSTOMER_FIELDS, CustomerBody } from '../../../domain/enterprises/customer.ts';
import { DOCUMENT_TYPES } from '../../../domain/receipts/receiverDocument.ts';
import { parseOrRefuse } from '../../../domain/requests/faults.ts';
import { Refusal } from '../../../errors.ts';
import { CUSTOMERS } from '../../../lists/customers.ts';
import { filterValues } from '../../../lists/list.ts';
import { MAILS } from '../../../lists/mails.ts';
import { type Html, html } from '../../../page/html.ts';
import type { Texts } from '../../../words/console.ts';
import { type EnterpriseContext, requireEnterprise } from '../../access/enterpriseContext.ts';
import { mayUse } from '../../access/permissions.ts';
import { bodyOfSent, choice, confirm, type Field, inputsOf, many, tableFields, text } from '../../fields.ts';
import { filterFields, filterSchemas, LIST_QUERY, listQuery } from '../../filters.ts';
import { defineForm, formWords } from '../../form.ts';
import { figure, timeOf } from '../../format.ts';
import { columnsWithHeading, csvAnswer, figures, type Headings, listPart, showList } from '../../lists.ts';
import { type ConsoleDeps, definePage, redirect, show, type Visit } from '../../page.ts';
import { badge, factList, panel } from '../../parts.ts';

/** Number of empty inputs for more addresses. */
const EMPTY_LINES = 2;

const pathOf = (rut: string, id?: string): string =>
  `/enterprises/${rut}/customers${id === undefined ? '' : `/${id}`}`;

async function requireCustomer({ orm }: ConsoleDeps, rut: string, id: string): Promise<Customer> {
  const customer = await orm.em.fork().findOne(Customer, { rut, id });
  if (!customer) throw new Refusal('NOT_FOUND', 'There is no such customer.');
  return customer;
}

/** GET /enterprises/{rut}/customers: the customers of an enterprise. */
export const customersPage = definePage({
  name: 'customers',
  route: 'GET /enterprises/{rut}/customers',
  query: listQuery(filterSchemas(CUSTOMERS)),
  async handle({ params: { rut }, query, visit }, deps) {
    const { customers: words } = visit.texts;
    const { enterprise, access } = await requireEnterprise(visit, deps, rut);
    return showList(visit, deps, CUSTOMERS, {
      title: `${words.title} · ${enterprise.legalName}`,
      search: { ...filterValues(CUSTOMERS, query), rut },
      label: words.title,
      path: pathOf(rut),
      query,
      filters: filterFields(filterSchemas(CUSTOMERS), {
        legalName: words.nameContains,
        docNumber: words.document,
        countryCode: words.countryCode,
      }),
      headings: headingsOf(visit),
      href: ({ id }) => pathOf(rut, id),
      empty: words.none,
      below: html`${mayUse(access, newCustomer.route) && newCustomer.draw(visit, { rut })}`,
    });
  },
});

const headingsOf = ({
  texts: { customers: words },
}: Visit): Headings<Customer, typeof CUSTOMERS.columns> => ({
  legal_name: words.legalName,
  doc_type: words.type,
  doc_number: words.document,
  country_code: words.countryCode,
  emails: words.notifications,
});

/** E-mail addresses, each with a box that says whether receipts are sent there. */
function addressFields({ customers: words }: Texts): {
  readonly email: Field<string[]>;
  readonly send: Field<string[]>;
} {
  const about = html`<legend>${words.notifications}</legend>
    <p class="soft">${words.notificationsAbout}</p>`;
  const draw: Field['draw'] = ({ values, fault }) => {
    const [email, send] = [values['email'] ?? [], values['send'] ?? []];
    const lines = [...[email].flat(), ...Array.from({ length: EMPTY_LINES }, () => '')].map(
      (destination, i) => {
        const isTicked = i >= email.length || send.includes(String(i));
        const address = html`<input
          type="email"
          name="email"
          value="${destination}"
          maxlength="254"
          autocomplete="off"
          aria-label="${words.notifications} ${i + 1}"
        />`;
        const box = html`<input type="checkbox" name="send" value="${i}" ${isTicked && html`checked`} />`;
        return html`<div>${address} <label>${box} ${words.notify}</label></div>`;
      },
    );
    const wrong = fault !== undefined && html`<p class="fault">${fault}</p>`;
    return html`<fieldset class="boxes">${about}${lines}${wrong}</fieldset>`;
  };
  return { email: { ...many(draw, words.notifications), path: '/notifications' }, send: many() };
}

const valuesOf = (customer: Customer) => ({
  ...inputsOf(CUSTOMER_FIELDS, customer),
  email: customer.notifications.map(({ destination }) => destination),
  send: customer.notifications.flatMap(({ enabled }, i) => (enabled ? [String(i)] : [])),
});

/** Returns a form as the API's body of a customer, with null for empty fields. */
function bodyOf(
  key: { type: string; document: string },
  sent: { email: string[]; send: string[]; country_code: string },
) {
  const notifications = sent.email
    .map((destination, i) => ({
      type: 'EMAIL',
      destination: destination.trim(),
      enabled: sent.send.includes(String(i)),
    }))
    .filter(({ destination }) => destination !== '');
  const fields = bodyOfSent(CUSTOMER_FIELDS, { ...sent, country_code: sent.country_code.toUpperCase() });
  const body = { doc_type: key.type, doc_number: key.document, ...fields, notifications };
  return parseOrRefuse(CustomerBody, body);
}

const describeDuplicate = ({ customers: words }: Texts, { faults: [fault] }: Refusal): string | undefined =>
  fault?.code === 'customer.exists' ? words.exists : undefined;

export const newCustomer = defineForm('POST /enterprises/{rut}/customers', {
  as: 'panel',
  words: (texts) => formWords(texts.customers, 'add'),
  fields: (texts) => ({
    type: choice(
      texts.customers.type,
      DOCUMENT_TYPES.map((one) => [one, one] as const),
    ),
    document: { ...text(texts.customers.document), path: '/doc_number' },
    ...tableFields(texts.customers, CUSTOMER_FIELDS),
    ...addressFields(texts),
  }),
  find: ({ params, visit }, deps) => requireEnterprise(visit, deps, params.rut),
  refused: describeDuplicate,
  back: ({ params }) => pathOf(params.rut),
  async run({ params: { rut }, form: sent, visit }, deps) {
    const { id } = await createCustomer(deps, { rut, customer: bodyOf(sent, sent) });
    return redirect(pathOf(rut, id), { kind: 'done', text: visit.texts.customers.added });
  },
});

/** GET /enterprises/{rut}/customers/{id}: one customer, and the e-mails sent to them. */
export const customerPage = definePage({
  name: 'customer',
  route: 'GET /enterprises/{rut}/customers/{id}',
  query: z.object(LIST_QUERY),
  async handle({ params: { rut, id }, query, visit }, deps) {
    const { customers: words } = visit.texts;
    const context = await requireEnterprise(visit, deps, rut);
    const customer = await requireCustomer(deps, rut, id);
    const { docNumber, docType } = customer;
    const mails = listPart(visit, deps, MAILS, {
      search: { rut, receiver: docNumber },
      label: words.mails,
      path: pathOf(rut, id),
      query,
      headings: mailHeadings(visit),
      empty: words.mailsNone,
    });
    const csv = csvAnswer(query, [mails]);
    if (csv) return csv;
    const { legalName } = context.enterprise;
    const body = html`<p class="soft">
        <a href="${pathOf(rut)}">${words.title} · ${legalName}</a> · ${docType} ${docNumber}
      </p>
      ${customerPanels(visit, context, customer)}
      ${panel(
        words.mails,
        html`<p class="soft">${words.mailsAbout}</p>
          ${await mails.render()}`,
      )}`;
    return show(customer.legalName, body);
  },
});

/** Renders the forms of a customer if the viewer may send them, else the stored data. */
function customerPanels(
  visit: Visit,
  { enterprise: { rut }, access }: EnterpriseContext,
  customer: Customer,
): Html {
  const params = { rut, id: customer.id };
  const mayChange = mayUse(access, customerChange.route);
  const mayDelete = mayUse(access, customerDeletion.route);
  if (!mayChange && !mayDelete) {
    return panel(
      null,
      factList(
        columnsWithHeading(CUSTOMERS, headingsOf(visit)).map(
          (one) => [one.head, one.cell(customer)] as const,
        ),
      ),
    );
  }
  return html`<div class="panels">
    ${
      mayChange && customerChange.draw(visit, params, { values: valuesOf(customer) })
    }${mayDelete && customerDeletion.draw(visit, params)}
  </div>`;
}

/** Renders the state of an e-mail, and the error of its last attempt. */
export const mailMark = ({ texts }: Visit, { status, error }: Pick<Mail, 'status' | 'error'>): Html => {
  const tone = status === 'SENT' ? 'good' : status === 'FAILED' ? 'bad' : 'wait';
  const { statuses, errors, retrying } = texts.customers;
  const word = status === 'PENDING' && error ? retrying : statuses[status];
  return html`${badge(word, tone)}${error && html` <span class="soft">${errors[error]}</span>`}`;
};

function mailHeadings(visit: Visit): Headings<ListedMail, typeof MAILS.columns> {
  const { customers: words } = visit.texts;
  return {
    cfe_id: [
      words.receipt,
      ({ mail: { rut, environment }, cfeId }) =>
        html`<a href="/cfes/${rut}/${environment}/${cfeId}">${cfeId}</a>`,
    ],
    destination: words.to,
    created_at: [words.at, ({ mail }) => timeOf(mail.createdAt)],
    status: [words.status, ({ mail }) => mailMark(visit, mail)],
    attempts: figures(words.attempts, ({ mail }) => figure(mail.attempts, visit.texts)),
  };
}

type CustomerParams = { readonly rut: string; readonly id: string };

const findCustomer = async (
  { params: { rut, id }, visit }: { params: CustomerParams; visit: Visit },
  deps: ConsoleDeps,
): Promise<Customer> => {
  await requireEnterprise(visit, deps, rut);
  return requireCustomer(deps, rut, id);
};
const FORM = {
  as: 'panel',
  find: findCustomer,
  back: ({ params: { rut, id } }: { params: CustomerParams }): string => pathOf(rut, id),
} as const;

export const customerChange = defineForm('POST /enterprises/{rut}/customers/{id}', {
  ...FORM,
  words: (texts) => formWords(texts.customers, 'change'),
  fields: (texts) => ({ ...tableFields(texts.customers, CUSTOMER_FIELDS), ...addressFields(texts) }),
  refused: describeDuplicate,
  async run({ params: { rut }, target: { docType, docNumber }, form: sent, visit }, deps) {
    const customer = bodyOf({ type: docType, document: docNumber }, sent);
    await updateCustomer(deps, { rut, docType, docNumber, customer });
    return visit.texts.customers.changed;
  },
});

export const customerDeletion = defineForm('POST /enterprises/{rut}/customers/{id}/delete', {
  ...FORM,
  words: ({ customers: words }) => formWords(words, 'delete'),
  fields: ({ customers: words }) => ({ sure: confirm(words.deleteSure) }),
  async run({ params: { rut }, target: { docType, docNumber }, visit }, deps) {
    await deleteCustomer(deps, { rut, docType, docNumber });
    return redirect(pathOf(rut), { kind: 'done', text: visit.texts.customers.deleted });
  },
});
