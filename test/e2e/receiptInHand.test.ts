import { describe, expect, test } from '@jest/globals';
import { aCfeBody } from '../support/receipts/cfeBodies.ts';
import { aRut } from '../support/receipts/papers.ts';
import { portal } from '../support/simulator/world.ts';
import { sharedStack, verdictOf } from '../support/stacks.ts';
import { until } from '../support/until.ts';
import { useStack } from '../support/useStack.ts';

interface Issued {
  cfe_id: string;
  receipt_url: string;
  serie: string;
  numero: number;
}
interface Sent {
  items: { message_id: string; to: string; subject: string; attachments: { name: string }[] }[];
}

describe('the receipt in the receiver’s hands, through the whole stack', () => {
  let rut: string;
  const stack = useStack(sharedStack, async ({ onboard }) => {
    rut = await onboard([111], aRut());
  });

  test('an e-Factura: its page, its files, and the sobre in the mailbox of an electronic receiver', async () => {
    const simulator = stack.info().simulator_url;
    const [receiver, mailbox] = [aRut(), `cfe-${aRut()}@cliente.example`];
    await portal(simulator, 'PUT', `/portal/directory/${receiver}`, {
      name: 'Cliente S.A.',
      mail: mailbox,
      since: '2020-01-01',
    });
    const body = aCfeBody({ type: 'EFACTURA', extra: { adenda: 'Gracias' } });
    const header = body['header'] as { receiver: object };
    const issued = await stack.customer.send<Issued>('POST', `enterprises/${rut}/cfes`, {
      ...body,
      header: { ...header, receiver: { ...header.receiver, receiver_document: receiver } },
    });
    await verdictOf(stack.customer, rut, issued.cfe_id);

    const page = await fetch(issued.receipt_url);
    expect([page.status, (await page.text()).includes(`e-Factura ${issued.serie} ${issued.numero}`)]).toEqual(
      [200, true],
    );
    const pdf = await fetch(`${issued.receipt_url}/pdf?paper=80mm`);
    const start = Buffer.from(await pdf.arrayBuffer())
      .subarray(0, 5)
      .toString();
    expect([pdf.status, start]).toEqual([200, '%PDF-']);
    const xml = await (await fetch(`${issued.receipt_url}/xml`)).text();
    const held = await portal(simulator, 'GET', `/portal/ledger/${rut}/111/${issued.serie}/${issued.numero}`);
    expect(held.bytes.toString()).toBe(xml);

    const mail = await until('the sobre in the mailbox', 60, async () => {
      const { json } = await portal(simulator, 'GET', `/portal/mails?to=${encodeURIComponent(mailbox)}`);
      return (json as Sent).items[0];
    });
    const [file, ...more] = mail.attachments;
    expect([mail.subject, more]).toEqual([file?.name, []]);
    expect(file?.name).toMatch(new RegExp(`^Sob_${rut}_\\d{8}_\\d+\\.xml$`));
    const sobre = await portal(
      simulator,
      'GET',
      `/portal/mails/${encodeURIComponent(mail.message_id)}/${file?.name}`,
    );
    expect(sobre.bytes.toString()).toContain(`<CFE_Adenda>${xml}<Adenda>Gracias</Adenda></CFE_Adenda>`);
    const mails = await stack.customer.get<{ kind: string; destination: string }[]>(
      `enterprises/${rut}/cfes/${issued.cfe_id}/emails`,
    );
    expect(mails).toContainEqual(expect.objectContaining({ kind: 'EXCHANGE', destination: mailbox }));
  });
});
