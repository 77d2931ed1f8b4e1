import got from 'got';
import { issue, type TestStack } from '../stacks.ts';
import { until } from '../until.ts';

/** At most so many requests at a time. */
const AT_ONCE = 10;

/** As if the key of an enterprise's certificates were taken out of the configuration: what it issues is stuck, `signing`. */
const loseKeys = ({ orm }: TestStack, rut: string): Promise<unknown> =>
  orm.em
    .fork()
    .execute(
      `update certificate set sealed_key = regexp_replace(sealed_key, '^(v[12])\\.[^.]+', '\\1.lost') where rut = ?`,
      [rut],
    );

/** Uploads another certificate of an enterprise, with which what is stuck for its lost key can go on. */
export async function renewCertificate({ info, customer }: TestStack, rut: string): Promise<void> {
  const certificate = await got
    .post(`${info().simulator_url}/portal/certificates`, { json: { rut, password: 'another' } })
    .json();
  await customer.send('POST', `enterprises/${rut}/certificate`, certificate);
}

/** CFEs of an enterprise that are all stuck for one reason, its lost key, and wait for support; their cfe_ids. */
export async function giveStuckCfes(stack: TestStack, rut: string, count: number): Promise<string[]> {
  await loseKeys(stack, rut);
  const ids: string[] = [];
  const lane = async (): Promise<void> => {
    while (ids.length < count) {
      const place = ids.push('') - 1;
      ids[place] = (await issue(stack.customer, rut)).cfe_id;
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
  await until(`${count} CFEs to be stuck`, 300, async () => (await stuckOf(stack, rut)) === count);
  return ids;
}

/** How many CFEs of an enterprise wait for support. */
export async function stuckOf({ orm }: TestStack, rut: string): Promise<number> {
  const [row] = await orm.em
    .fork()
    .execute<{ n: number }[]>(
      'select count(*)::int as n from cfe where rut = ? and stuck_reason is not null',
      [rut],
    );
  return row?.n ?? 0;
}
