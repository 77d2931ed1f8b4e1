import type { Attack, Ground } from '../../support/abuse.ts';
import { aCfeBody } from '../../support/cfeBodies.ts';
import { aRut } from '../../support/papers.ts';
import { until } from '../../support/until.ts';

const PAPERS = ['A4', '80mm', '58mm'];
const RECEIPTS = 3;
const LINES = 700;

/** An e-Ticket with as many lines as there may be, each with a description. */
function aLongBody() {
  const body = aCfeBody({ net: LINES }) as { header: { totals: { line_count: number } }; details: object[] };
  const [line] = body.details;
  body.details = Array.from({ length: LINES }, (_, index) => ({
    ...line,
    line_number: index + 1,
    unit_price: 1,
    item_amount: 1,
    item_description: 'Áspero, seco y de larga conservación. '.repeat(5),
  }));
  body.header.totals.line_count = LINES;
  return body;
}

let addresses: string[] = [];

/** Receipts of 700 lines that were sent, each asked for on each paper: none was drawn before. */
async function prepare({ stack, victim: { client } }: Ground): Promise<void> {
  const rut = await stack.onboard([101], aRut());
  addresses = [];
  for (let receipt = 0; receipt < RECEIPTS; receipt += 1) {
    const { data } = await client.post<{ cfe_id: string }>(`/enterprises/${rut}/cfes`, aLongBody());
    const address = `/enterprises/${rut}/cfes/${data.cfe_id}`;
    await until(
      `${data.cfe_id} at the authority`,
      60,
      async () => (await client.get(`${address}/xml`)).status === 200,
    );
    addresses.push(...PAPERS.map((paper) => `${address}/pdf?paper=${paper}`));
  }
}

/** Receipts that take long to print. */
export const PRINTS: readonly Attack[] = [
  {
    name: 'nine prints of 700 lines at once',
    times: RECEIPTS * PAPERS.length,
    atOnce: RECEIPTS * PAPERS.length,
    prepare,
    send: async ({ victim: { client } }, place) => (await client.get(addresses[place] ?? '')).status,
    answers: [200],
  },
];
