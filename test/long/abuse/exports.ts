import { requestExport, stopExport } from '../../../src/commands/receipts/exports.ts';
import { Cfe, ReceiptExport } from '../../../src/db/entities/receipts.ts';
import { findExport } from '../../../src/db/receipts/receiptExports.ts';
import { MOST_RUNNING_EXPORTS } from '../../../src/domain/receipts/receiptExport.ts';
import { Refusal } from '../../../src/errors.ts';
import type { Attack, Ground } from '../../support/api/abuse.ts';
import { idleOutbox } from '../../support/commandDeps.ts';
import { linksOf } from '../../support/print/links.ts';
import { day } from '../../support/receipts/papers.ts';
import { until } from '../../support/until.ts';

const ENTERPRISES = MOST_RUNNING_EXPORTS + 1;
/** Prints of a sixth of a second each: a file takes longer than that of the other, which has none. */
const RECEIPTS = 48;
const LINES = 220;
const MINUTE = 60_000;

/** The enterprises of one account whose receipts take long to print. */
let ruts: string[] = [];
let isSeen = false;

const ask = ({ stack }: Ground, rut: string, withPdfs: boolean): Promise<ReceiptExport> => {
  const deps = { orm: stack.orm, clock: () => new Date(), outbox: idleOutbox };
  return requestExport(deps, { rut, environment: 'production', month: day(0).slice(0, 7), withPdfs });
};

async function prepare({ stack }: Ground): Promise<void> {
  const of = { enterprises: ENTERPRISES, count: RECEIPTS, lines: LINES, description: 'Áspero. '.repeat(40) };
  const links = await linksOf(stack.orm, of);
  const em = stack.orm.em.fork();
  const heavy = { receiptToken: { $in: links.map((link) => link.slice('/r/'.length)) } };
  await em.nativeUpdate(Cfe, heavy, { emissionDate: day(0), createdAt: new Date(Date.now() - MINUTE) });
  ruts = [...new Set((await em.find(Cfe, heavy)).map(({ rut }) => rut))];
}

/** A file of the victim's is made while those of the other account are; these are stopped then, for it has been seen. */
async function probe(ground: Ground): Promise<number> {
  if (isSeen) return 200;
  const { orm } = ground.stack;
  const heavy = () => orm.em.fork().find(ReceiptExport, { rut: { $in: ruts } });
  await until('heavy files', 30, async () => (await heavy()).length === MOST_RUNNING_EXPORTS);
  const { id } = await ask(ground, ground.victim.rut, false);
  await until('the file of another', 60, async () => (await findExport(orm.em.fork(), id))?.state === 'DONE');
  const states = (await heavy()).map(({ state }) => state);
  isSeen = true;
  const deps = { orm, clock: () => new Date(), outbox: idleOutbox };
  for (const one of await heavy()) await stopExport(deps, one.id);
  if (states.some((state) => state !== 'RUNNING')) throw new Error(`the heavy files were ${states.join()}`);
  return 200;
}

/** Months of receipts as files. */
export const EXPORTS: readonly Attack[] = [
  {
    name: 'months of receipts of 220 lines with their prints, of three enterprises of one account: two at a time',
    times: ENTERPRISES,
    atOnce: 1,
    prepare,
    send: (ground, place) =>
      ask(ground, ruts[place] ?? '', true).then(
        () => 202,
        (error: unknown) => {
          if (error instanceof Refusal && error.code === 'INVALID_INPUT') return 400;
          throw error;
        },
      ),
    answers: [202, 400],
    probe,
  },
];
