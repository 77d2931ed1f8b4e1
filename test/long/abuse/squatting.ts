import { LOCAL_DEVELOPER } from '../../../local/stack/prepareStack.ts';
import { transferEnterprise } from '../../../src/commands/enterprises/transferEnterprise.ts';
import { Mail } from '../../../src/db/entities/mail.ts';
import { USUAL_CAPS } from '../../../src/domain/people/caps.ts';
import type { Account, Attack, Ground } from '../../support/api/abuse.ts';
import { idleOutbox } from '../../support/commandDeps.ts';
import { customerBody } from '../../support/enterprises/customers.ts';
import { enterpriseBody } from '../../support/enterprises/enterprises.ts';
import { aCfeBody } from '../../support/receipts/cfeBodies.ts';
import { aRut } from '../../support/receipts/papers.ts';
import { until } from '../../support/until.ts';

const RUTS = 25;
let answered = 0;
let squatter: Account | undefined;
const registered: string[] = [];

/** Where the squatter of a company would have its receipts. */
const MAILBOX = 'facturas@trampa.example';
const trap = customerBody({ notifications: [{ type: 'EMAIL', destination: MAILBOX, enabled: true }] });
let lost: Account | undefined;

/** Somebody names a company's client and an address of their own for it; an operator gives the company to its owner, who goes on. */
async function squatAndTransfer({ stack, anAccount }: Ground): Promise<void> {
  lost = await anAccount();
  const { client, rut } = lost;
  const { status } = await client.post(`/enterprises/${rut}/customers`, trap);
  await client.put(`/enterprises/${rut}`, { email: MAILBOX });
  if (status !== 201) throw new Error(`the squatter's customer: ${status}`);
  const deps = { orm: stack.orm, clock: () => new Date(), outbox: idleOutbox };
  const to = { rut, accountId: LOCAL_DEVELOPER, reason: 'Poder notarial' };
  await transferEnterprise({ ...deps, certificateAuthorities: 'any' }, to);
  await stack.onboard([111], rut);
}

/** The owner's receipt for that client is accepted, and goes to nobody. */
async function issueToTrap({ stack, victim }: Ground): Promise<number> {
  const place = `/enterprises/${lost?.rut}`;
  const receiver = {
    receiver_doc_type: trap.doc_type,
    receiver_document: trap.doc_number,
    legal_name: trap.legal_name,
    fiscal_address: 'Sarandí 690',
    city: 'Montevideo',
    department: 'Montevideo',
    country: 'Uruguay',
    country_code: 'UY',
  };
  const { data } = await victim.client.post<{ cfe_id: string }>(
    `${place}/cfes`,
    aCfeBody({ type: 'EFACTURA', receiver }),
  );
  await until('the verdict on a receipt of the owner', 60, async () => {
    const read = await victim.client.get<{ items: { cfe_status: string }[] }>(`${place}/cfes/${data.cfe_id}`);
    return read.data.items[0]?.cfe_status === 'ACCEPTED';
  });
  const told = await stack.orm.em.fork().count(Mail, { destination: MAILBOX });
  if (told > 0) throw new Error(`${told} receipts go to the squatter`);
  return 200;
}

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
  {
    name: 'a company’s clients with addresses of the squatter, who goes on after the transfer',
    times: 30,
    prepare: squatAndTransfer,
    async send({ attacker }, place) {
      const { client, rut } = lost ?? attacker;
      const at = `/enterprises/${rut}`;
      const answer =
        place % 2 === 0 ? client.post(`${at}/customers`, trap) : client.put(at, { email: MAILBOX });
      return (await answer).status;
    },
    answers: [403],
    probe: issueToTrap,
  },
];
