import { USUAL_CAPS } from '../../../src/domain/caps.ts';
import type { Account, Attack } from '../../support/abuse.ts';
import { enterpriseBody } from '../../support/enterprises.ts';
import { aRut } from '../../support/papers.ts';

const RUTS = 25;
let answered = 0;
let squatter: Account | undefined;
const registered: string[] = [];

/** What an account does with RUTs that are not its own. */
export const SQUATTING: readonly Attack[] = [
  {
    name: 'one RUT after the other is registered: 20 of an account, its first among them',
    times: RUTS,
    prepare: async ({ anAccount }) => {
      squatter = await anAccount();
      registered.push(squatter.rut);
    },
    async send({ attacker }) {
      const rut = aRut();
      const { status } = await (squatter ?? attacker).client.post('/enterprises', enterpriseBody(rut));
      if (status === 201) registered.push(rut);
      answered += 1;
      const most = USUAL_CAPS.unprovenEnterprises;
      if (answered === RUTS && registered.length !== most)
        throw new Error(`${registered.length} RUTs were registered`);
      return status;
    },
    answers: [201, 400],
  },
  {
    name: 'one password is tried on all of them, again and again: 50 failures a day',
    times: 70,
    atOnce: 10,
    async send({ attacker }, place) {
      const login = { username: 'contadora', password: `Primavera${Math.floor(place / registered.length)}` };
      const path = `/enterprises/${registered[place % registered.length]}/validate-efactura`;
      return (await (squatter ?? attacker).client.post(path, login)).status;
    },
    answers: [202, 429],
  },
];
