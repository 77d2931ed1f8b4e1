import * as authority from './authority.ts';
import * as enterprises from './enterprises.ts';
import * as mail from './mail.ts';
import * as numbers from './numbers.ts';
import * as operations from './operations.ts';
import * as people from './people.ts';
import * as receipts from './receipts.ts';
import * as reports from './reports.ts';
import * as webhooks from './webhooks.ts';

/** Every entity, one per table: these files export only entities and types. */
export const ENTITIES = [
  authority,
  enterprises,
  mail,
  numbers,
  operations,
  people,
  receipts,
  reports,
  webhooks,
].flatMap((subject) => Object.values(subject));
