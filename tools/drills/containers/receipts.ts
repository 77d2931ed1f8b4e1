import { type CfeView, logIn, verdictOf } from '../../../local/demo/customer.ts';
import { onboard } from '../../../local/demo/onboarding.ts';
import { until } from '../../../local/demo/until.ts';
import { aCfeBody } from '../../../test/support/receipts/cfeBodies.ts';
import { aRut } from '../../../test/support/receipts/papers.ts';
import { same } from './checks.ts';

const API = 'http://127.0.0.1:3000';
const SIMULATOR = 'http://127.0.0.1:8090';
/** Long, for a machine that does other work too: whether it comes is what is asked. */
const VERDICT_SECONDS = 600;

/** What the simulator's ledger says of a receipt, as far as we look. */
interface LedgerRow {
  numero: number;
  verdict: string | null;
  times_received: number;
}

/** A customer with an enterprise that is READY, over the published ports. */
export interface Receipts {
  /** Issues a receipt; the ids of all that were issued stand in `issued`. */
  issue(): Promise<CfeView>;
  issued: readonly CfeView[];
  /** Waits until every receipt has its verdict. Throws unless each is ACCEPTED, and was received once. */
  allAccepted(): Promise<void>;
  /** Fetches the printed form of the first. Throws unless it is a PDF. */
  printed(): Promise<void>;
}

/** Takes an enterprise to READY under an API key. */
export async function openReceipts(apiKey: string): Promise<Receipts> {
  const rut = aRut();
  const customer = await logIn(`${API}/v1`, apiKey);
  await onboard(customer, { simulatorUrl: SIMULATOR, typeCodes: [101], rut });
  const issued: CfeView[] = [];
  return {
    issued,
    async issue() {
      // A connection that is kept may be one to a container that is gone.
      await until('the API to answer', 60, () =>
        customer.get(`enterprises/${rut}`).then(
          () => true,
          () => false,
        ),
      );
      const cfe = await customer.send<CfeView>('POST', `enterprises/${rut}/cfes`, aCfeBody());
      issued.push(cfe);
      return cfe;
    },
    async allAccepted() {
      for (const { cfe_id } of issued) {
        const { cfe_status } = await verdictOf(customer, rut, cfe_id, VERDICT_SECONDS);
        same(cfe_status, 'ACCEPTED', cfe_id);
      }
      const ledger = await fetch(`${SIMULATOR}/portal/ledger?rut=${rut}`);
      const { items } = (await ledger.json()) as { items: LedgerRow[] };
      const received = items.map(({ numero, verdict, times_received }) => [numero, verdict, times_received]);
      const wanted = issued.map(({ numero }) => [numero, 'AE', 1]);
      const byNumber = (a: unknown[], b: unknown[]): number => Number(a[0]) - Number(b[0]);
      same(received.toSorted(byNumber), wanted.toSorted(byNumber), 'the ledger');
    },
    async printed() {
      const pdf = await customer.file(`enterprises/${rut}/cfes/${issued[0]?.cfe_id}/pdf`);
      same(Buffer.from(pdf.subarray(0, 5)).toString('latin1'), '%PDF-', 'how the file begins');
    },
  };
}
