import type { Attack, Ground } from '../../support/api/abuse.ts';
import { linksOf } from '../../support/print/links.ts';
import { aCfeBody } from '../../support/receipts/cfeBodies.ts';
import { until } from '../../support/until.ts';
import { ask, networkAt } from './withoutKey.ts';

const PAPERS = ['A4', '80mm'];
/** Long enough to be heavy, short enough to be drawn while somebody waits for the suite. */
const LINES = 220;
const ENTERPRISES = 3;
const RECEIPTS = 5;
const OTHERS = 6;

let links: string[] = [];
let others: string[] = [];

/** Long receipts of one account that has three enterprises; and short ones of the victim's. None was drawn before. */
async function prepare({ stack, victim: { client, rut } }: Ground): Promise<void> {
  const description = 'Áspero, seco y de larga conservación. '.repeat(8);
  links = await linksOf(stack.orm, { enterprises: ENTERPRISES, count: RECEIPTS, lines: LINES, description });
  others = [];
  for (let place = 0; place < OTHERS; place += 1) {
    const { data } = await client.post<{ cfe_id: string }>(`/enterprises/${rut}/cfes`, aCfeBody());
    const path = `/enterprises/${rut}/cfes/${data.cfe_id}`;
    await until(`${path} at the authority`, 60, async () => (await client.get(`${path}/xml`)).status === 200);
    others.push(...PAPERS.map((paper) => `${path}/pdf?paper=${paper}`));
  }
}

/** Receipts that take long to print. */
export const PRINTS: readonly Attack[] = [
  {
    name: 'thirty prints of 220 lines by public links, of three enterprises of one account',
    times: ENTERPRISES * RECEIPTS * PAPERS.length,
    atOnce: ENTERPRISES * RECEIPTS * PAPERS.length,
    prepare,
    send: (ground, place) => {
      const paper = PAPERS[place % PAPERS.length] ?? '';
      const link = links[Math.floor(place / PAPERS.length)] ?? '';
      return ask(ground, `${link}/pdf?paper=${paper}`, networkAt(place));
    },
    answers: [200, 503],
    // A print of the victim's own is drawn beside them, each time another.
    probe: async ({ victim: { client } }, place) =>
      (await client.get(others[place % others.length] ?? '')).status,
  },
];
