/** The e-mails of the demo: who is to have receipts, what arrived, and the printed forms as they were sent. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import got from 'got';
import type { Cfe } from '../../sdk/src/index.ts';
import type { Customer } from './customer.ts';
import { DEMO_RUT } from './onboarding.ts';
import { until } from './until.ts';

/** Whom the documents name, each with an address that gets receipts. */
const RECEIVERS = [
  {
    doc_type: 'RUC',
    doc_number: '219999820013',
    legal_name: 'Cooperativa El Ombú',
    destination: 'compras@cliente.example',
  },
  {
    doc_type: 'NIFE',
    doc_number: '12345678000195',
    legal_name: 'Importadora Demo Ltda.',
    destination: 'notas@importadora.example',
  },
];
/** How long the last e-mail may take. */
const MAILS_SECONDS = 120;

/** Registers the receivers of the documents as customers who get their receipts by e-mail; those that are there stay. */
export async function nameReceivers(customer: Customer, say: (line: string) => void): Promise<void> {
  const path = `enterprises/${DEMO_RUT}/customers`;
  for (const { destination, ...company } of RECEIVERS) {
    const there = await customer.get<unknown[]>(`${path}?doc_number=${company.doc_number}`);
    if (there.length > 0) continue;
    say(`register ${company.legal_name}, who gets receipts at ${destination}`);
    const notifications = [{ type: 'EMAIL', destination, enabled: true }];
    await customer.send('POST', path, { ...company, notifications });
  }
}

interface Email {
  mail_id: string;
  status: string;
}
interface Arrived {
  to: string;
  subject: string;
  attachments: { name: string }[];
}

/** Waits until every receipt that is on its way has been sent, and shows what arrived since `since`. */
export async function showMails(
  customer: Customer,
  { simulatorUrl, since, cfes }: { simulatorUrl: string; since: Date; cfes: readonly Cfe[] },
): Promise<void> {
  await until('the e-mails with the receipts', MAILS_SECONDS, async () => {
    const lists = await Promise.all(
      cfes.map(({ cfe_id }) => customer.get<Email[]>(`enterprises/${DEMO_RUT}/cfes/${cfe_id}/emails`)),
    );
    return lists.flat().every(({ status }) => status === 'SENT');
  });
  const { items } = await got
    .get('portal/mails', { prefixUrl: simulatorUrl, searchParams: { since: since.toISOString() } })
    .json<{ items: Arrived[] }>();
  console.log('\nE-mails that arrived:');
  console.table(
    items.map(({ to, subject, attachments }) => ({
      to,
      subject,
      attached: attachments.map(({ name }) => name).join(', '),
    })),
  );
}

/** Writes the printed form of each CFE that has one to `folder`, in a file named by its cfe_id. */
export async function savePdfs(customer: Customer, folder: string, cfes: readonly Cfe[]): Promise<void> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  for (const { cfe_id } of cfes) {
    const pdf = await customer.file(`enterprises/${DEMO_RUT}/cfes/${cfe_id}/pdf`);
    writeFileSync(join(folder, `${cfe_id}.pdf`), pdf);
  }
}
