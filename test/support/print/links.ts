import { Cfe } from '../../../src/db/entities/receipts.ts';
import type { Orm } from '../../../src/db/orm.ts';
import { anAccount } from '../commandDeps.ts';
import { aReadyEnterprise } from '../enterprises/enterprises.ts';
import { giveCfes } from '../mail/receipts.ts';
import { printable } from './printable.ts';
import { aReceiptOf } from './samples.ts';

/**
 * The paths of the pages of accepted e-Tickets with so many lines, each with `description`: `count` of each of so many
 * enterprises of one account.
 */
export async function linksOf(
  orm: Orm,
  of: { enterprises: number; count: number; lines: number; description: string },
): Promise<string[]> {
  const accountId = await anAccount(orm);
  const document = aReceiptOf('ETICKET', of.lines);
  document.lines = document.lines.map((line) => ({ ...line, description: of.description }));
  const { xml: signedXml } = printable(document);
  const links: string[] = [];
  for (let enterprise = 0; enterprise < of.enterprises; enterprise += 1) {
    const rut = await aReadyEnterprise(orm, accountId, { caes: [{ type: 'ETICKET' }] });
    const cfes = await giveCfes(orm, { accountId, rut }, { status: 'ACCEPTED', count: of.count });
    for (const { id, receiptToken } of cfes) {
      await orm.em.fork().nativeUpdate(Cfe, { id }, { document, signedXml });
      links.push(`/r/${receiptToken}`);
    }
  }
  return links;
}
