import * as z from 'zod';
import { createCustomer } from '../../commands/createCustomer.ts';
import { deleteCustomer } from '../../commands/deleteCustomer.ts';
import { updateCustomer } from '../../commands/updateCustomer.ts';
import { type CustomerKey, listCustomers } from '../../db/customers.ts';
import { findEnterprise } from '../../db/enterprises.ts';
import { Customer } from '../../domain/customer.ts';
import { readRows } from '../../domain/operatorFiles.ts';
import { DOCUMENT_TYPES } from '../../domain/receiverDocument.ts';
import { Rut } from '../../domain/rut.ts';
import { Refusal } from '../../errors.ts';
import { type CliDeps, defineVerb, type Group } from '../verb.ts';

const RUT = { RUT: 'RUT of the enterprise' };
const DOCUMENT = { TYPE: `kind of its document: ${DOCUMENT_TYPES.join(' or ')}`, NUMBER: 'its number' };
const FILE = { FILE: 'JSON as POST …/customers takes it; - for standard input' };
const KEY = z.strictObject({ rut: Rut, type: z.enum(DOCUMENT_TYPES), number: z.string() });
const MOST = 1_000;
const USUAL = 100;

const keyOf = ({ rut, type, number }: z.output<typeof KEY>): CustomerKey => ({
  rut,
  docType: type,
  docNumber: number,
});

async function requireEnterprise({ orm }: CliDeps, rut: string): Promise<void> {
  if (await findEnterprise(orm.em.fork(), rut)) return;
  throw new Refusal('NOT_FOUND', `No enterprise with RUT ${rut} is registered.`);
}

const list = defineVerb({
  name: 'list',
  summary: 'List the customers of an enterprise by name',
  reads: true,
  args: RUT,
  options: [
    {
      flags: '--legal-name <part>',
      about: 'only with this part in their names; accents and case are ignored',
    },
    { flags: '--doc-number <number>', about: 'only with this document' },
    { flags: '--country-code <code>', about: 'only of this country' },
    { flags: '--skip <n>', about: 'leave out so many; default: 0', wholeNumber: [0, 1_000_000] },
    { flags: '--limit <n>', about: `at most this many; default: ${USUAL}`, wholeNumber: [1, MOST] },
  ],
  columns: ['doc_type', 'doc_number', 'legal_name', 'city', 'country_code'],
  examples: ['219999830019', '219999830019 --legal-name panader --json'],
  input: z.strictObject({
    rut: Rut,
    legalName: z.string().optional(),
    docNumber: z.string().optional(),
    countryCode: z.string().optional(),
    skip: z.int().optional(),
    limit: z.int().optional(),
  }),
  async run(deps, { skip = 0, limit = USUAL, ...filter }) {
    await requireEnterprise(deps, filter.rut);
    return (await listCustomers(deps.orm.em.fork(), filter, { skip, limit })).map(deps.customerObject);
  },
});

const add = defineVerb({
  name: 'add',
  summary: 'Keep a customer of an enterprise',
  args: { ...RUT, ...FILE },
  examples: ['219999830019 customer.json'],
  input: z.strictObject({ rut: Rut, file: z.string() }),
  async run(deps, { rut, file }) {
    const customer = readRows(Customer, deps.readFile(file));
    await requireEnterprise(deps, rut);
    return deps.customerObject(await createCustomer(deps, { rut, customer }));
  },
});

const update = defineVerb({
  name: 'update',
  summary: 'Put a customer in the place of what was kept of it',
  args: { ...RUT, ...DOCUMENT, ...FILE },
  examples: ['219000090011 RUC 219999820013 customer.json'],
  input: KEY.extend({ file: z.string() }),
  async run(deps, { file, ...key }) {
    const customer = readRows(Customer, deps.readFile(file));
    return deps.customerObject(await updateCustomer(deps, { ...keyOf(key), customer }));
  },
});

const remove = defineVerb({
  name: 'remove',
  summary: 'Forget a customer; its CFEs stay',
  args: { ...RUT, ...DOCUMENT },
  examples: ['219000090011 RUC 219999820013'],
  input: KEY,
  async run(deps, key) {
    await deleteCustomer(deps, keyOf(key));
    return { rut: key.rut, doc_type: key.type, doc_number: key.number, removed: true };
  },
});

/** `cfe customer`: whom enterprises sell to. */
export const customer: Group = {
  name: 'customer',
  summary: 'The customers that enterprises keep, and where receipts are e-mailed',
  verbs: [list, add, update, remove],
};
