import { setGrant } from '../../../src/commands/people/grants.ts';
import { type Attack, aKeyWithLimit, type Ground } from '../../support/api/abuse.ts';
import { createHttpClient, type HttpClient } from '../../support/api/http.ts';
import { idleOutbox } from '../../support/commandDeps.ts';
import { aCfeBody } from '../../support/receipts/cfeBodies.ts';
import { until } from '../../support/until.ts';

const RECEIPTS = 6;
/** To one mailbox, of an account that may make ten requests an hour. */
const ROOM = 2;
let addresses: string[] = [];
let sender: HttpClient | undefined;
let answered = 0;
let taken = 0;

/** Receipts that were sent, and a small account that may mail them. */
async function prepare({ api, stack, victim: { client, rut } }: Ground): Promise<void> {
  const apiKey = await aKeyWithLimit(stack, 10);
  const [account] = await stack.orm.em
    .fork()
    .execute<{ id: string }[]>('select account_id as id from api_key order by created_at desc limit 1');
  if (!account) throw new Error('the key has no account');
  const deps = { orm: stack.orm, clock: () => new Date(), outbox: idleOutbox };
  await setGrant(deps, { accountId: account.id, rut, role: 'MEMBER' });
  const key = { 'x-api-key': apiKey };
  const { data } = await createHttpClient(api.baseUrl, key).post<{ access_token: string }>('/tokens', {});
  sender = createHttpClient(api.baseUrl, { ...key, authorization: `Bearer ${data.access_token}` });
  const issued = await Promise.all(
    Array.from({ length: RECEIPTS }, () =>
      client.post<{ cfe_id: string }>(`/enterprises/${rut}/cfes`, aCfeBody()),
    ),
  );
  addresses = issued.map(({ data: { cfe_id } }) => `/enterprises/${rut}/cfes/${cfe_id}`);
  for (const address of addresses)
    await until(`${address} at the authority`, 60, async () => {
      return (await client.get(`${address}/xml`)).status === 200;
    });
}

/** What e-mails could be used for. */
export const MAILS: readonly Attack[] = [
  {
    name: 'one receipt after the other mailed to a stranger: two of a small account in a day',
    times: RECEIPTS,
    prepare,
    async send({ attacker }, place) {
      const body = { destination: `vecino+${place}@ajeno.example` };
      const { status } = await (sender ?? attacker.client).post(`${addresses[place]}/emails`, body);
      answered += 1;
      if (status === 202) taken += 1;
      if (answered === RECEIPTS && taken !== ROOM) throw new Error(`${taken} e-mails were taken`);
      return status;
    },
    answers: [202, 429],
  },
];
