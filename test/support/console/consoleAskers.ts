/** Who asks which pages of a console with much in it (consoleData.ts): for the bench, and for the test of what the questions read. */
import { encodeCursor } from '../../../src/domain/values/cursor.ts';
import type { Browser, TestConsole } from './console.ts';
import { firstOf, idOf, OWNER_OF, rutOf } from './consoleData.ts';
import { CONSOLE_PAGES } from './consolePages.ts';
import type { Side, World } from './consoleWorld.ts';

const DAY_MILLISECONDS = 86_400_000;

/** Whoever asks: what is theirs, and a browser in which they are signed in. */
export interface Asker {
  readonly title: string;
  readonly side: Side;
  readonly browser: Browser;
  readonly isOperator: boolean;
}

/** An operator, and the owners of accounts of all sizes in a database that was filled with so many CFEs. */
export async function askers(world: World, cfes: number): Promise<Asker[]> {
  const { site } = world;
  const members = await Promise.all(
    (['large', 'accountant', 'few'] as const).map(async (size): Promise<Asker> => {
      const side = await sideOf(site, world, { size, cfes });
      const browser = await site.as(await site.aMember(side.accountId, 'OWNER'));
      return { title: `owner of ${size}`, side, browser, isOperator: false };
    }),
  );
  const [first] = members;
  if (!first) throw new Error('nobody asks');
  const operator = { title: 'operator', browser: world.browsers['operator ADMIN'], isOperator: true };
  return [{ ...operator, side: first.side }, ...members];
}

/** What an account of the large database has, as the pages' samples want it. */
async function sideOf(
  { deps: { orm } }: TestConsole,
  { ours }: World,
  { size, cfes }: { size: keyof typeof OWNER_OF; cfes: number },
): Promise<Side> {
  const rut = rutOf(firstOf(size, cfes));
  const webhookId = idOf('webhook', OWNER_OF[size] * 5);
  const em = orm.em.fork();
  const [cfe] = await em.execute<{ id: string; sequence: number }[]>(
    `select id, sequence from cfe where rut = ? and type = 'ETICKET' and status = 'ACCEPTED' order by created_at desc limit 1`,
    [rut],
  );
  const [delivery] = await em.execute<{ id: string }[]>(
    `select id from delivery where webhook_id = ? order by created_at desc limit 1`,
    [webhookId],
  );
  const [run] = await em.execute<{ id: string }[]>('select id from run where account_id = ? limit 1', [
    idOf('account', OWNER_OF[size]),
  ]);
  if (!cfe || !delivery || !run) throw new Error(`${size} has no CFE, delivery or run`);
  return {
    ...ours,
    rut,
    accountId: idOf('account', OWNER_OF[size]),
    cfeId: `101-${cfe.sequence}`,
    cfeUuid: cfe.id,
    webhookId,
    deliveryId: delivery.id,
    runId: run.id,
  };
}

const dayAgo = (days: number): string =>
  new Date(Date.now() - days * DAY_MILLISECONDS).toISOString().slice(0, 10);

/** Lists by what they are asked for, alone and together, beside the pages themselves; found often, seldom or never. */
const asked = ({ rut, webhookId, accountId }: Side): readonly string[] => [
  '/cfes?status=ACCEPTED',
  '/cfes?status=REJECTED',
  '/cfes?status=OBSERVED',
  '/cfes?status=PENDING',
  '/cfes?stuck=any',
  '/cfes?stuck=signing',
  '/cfes?annulled=yes',
  '/cfes?type=EFACTURA_EXPORT',
  '/cfes?type=EFACTURA_EXPORT_ND',
  '/cfes?environment=sandbox',
  `/cfes?rut=${rut}`,
  `/cfes?rut=${rut}&status=REJECTED`,
  `/cfes?rut=${rut}&type=EFACTURA_NC`,
  `/cfes?rut=${rut}&type=EFACTURA_EXPORT`,
  `/cfes?rut=${rut}&type=EFACTURA_EXPORT_ND`,
  `/cfes?rut=${rut}&from=${dayAgo(330)}&to=${dayAgo(300)}`,
  `/cfes?rut=${rut}&status=REJECTED&from=${dayAgo(330)}&to=${dayAgo(300)}`,
  `/cfes?from=${dayAgo(365)}&to=${dayAgo(0)}`,
  `/cfes?from=${dayAgo(365)}&to=${dayAgo(365)}`,
  `/cfes?from=2020-01-01&to=2020-12-31`,
  `/cfes?createdFrom=${dayAgo(200)}&createdTo=${dayAgo(199)}`,
  `/cfes?status=REJECTED&from=${dayAgo(365)}&to=${dayAgo(350)}`,
  `/cfes?type=EFACTURA_EXPORT&from=${dayAgo(365)}&to=${dayAgo(350)}`,
  '/cfes?receiver=219000090011',
  '/cfes?receiver=210000000777',
  '/cfes?receiver=999999999999',
  '/cfes?receiver=219000090011&status=REJECTED',
  '/cfes?serie=A',
  '/cfes?serie=ZZ',
  '/cfes?serie=A&numero=777',
  '/cfes?numero=777',
  '/cfes?q=101-777',
  '/cfes?q=A-777',
  '/cfes?q=request-777',
  '/cfes?q=nothing',
  '/cfes?idempotencyKey=key%20778',
  '/cfes?requestId=request-777',
  '/search?q=219000090011',
  '/deliveries?status=FAILED',
  '/deliveries?status=PENDING',
  '/deliveries?event=receipt.delivered',
  '/deliveries?event=receipt.failed',
  '/deliveries?event=receipt.delivered&status=FAILED',
  '/deliveries?event=receipt.delivered&status=PENDING',
  `/deliveries?webhook=${webhookId}`,
  `/deliveries?webhook=${webhookId}&status=FAILED`,
  `/deliveries?webhook=${webhookId}&status=PENDING`,
  `/deliveries?webhook=${webhookId}&event=receipt.failed`,
  `/deliveries?rut=${rut}`,
  `/deliveries?rut=${rut}&status=FAILED`,
  `/deliveries?rut=${rut}&status=PENDING`,
  `/deliveries?cfe_id=101-777&rut=${rut}`,
  '/deliveries?cfe_id=101-777',
  '/deliveries?environment=sandbox',
  `/deliveries?from=${dayAgo(300)}&to=${dayAgo(299)}`,
  `/deliveries?status=FAILED&to=${dayAgo(395)}`,
  `/webhooks/${webhookId}?status=FAILED`,
  `/webhooks/${webhookId}?status=PENDING`,
  `/webhooks/${webhookId}?event=receipt.failed`,
  `/runs/new?kind=redeliver&webhook=${webhookId}&since=${dayAgo(5)}`,
  '/stuck',
  `/stuck?rut=${rut}`,
  '/stuck?stuck_reason=authority.user',
  '/reports?status=DIFFERS',
  '/reports?status=REFUSED',
  '/reports?status=SUPERSEDED',
  '/reports?status=OPEN',
  '/reports?needs=person',
  '/reports?needs=late',
  '/reports?needs=late&environment=production',
  '/reports?environment=sandbox',
  `/reports?rut=${rut}`,
  `/reports?rut=${rut}&status=SUPERSEDED`,
  `/reports?from=${dayAgo(300)}&to=${dayAgo(299)}`,
  `/reports?status=DIFFERS&to=${dayAgo(200)}`,
  `/reports/${rut}/production/${dayAgo(1)}`,
  `/reports/${rut}/production/${dayAgo(30)}`,
  `/enterprises?q=${rut}`,
  '/enterprises?q=comercio',
  '/enterprises?q=nobody',
  '/enterprises?status=PENDING',
  '/enterprises?lacks=okCae',
  '/enterprises?ends=30',
  '/warnings?within=7',
  '/warnings?within=30&kind=cae',
  '/warnings?kind=low',
  '/accounts?q=estudio',
  '/accounts?q=nobody',
  `/webhooks?account=${accountId}`,
  `/enterprises/${rut}/customers?q=cliente`,
  `/enterprises/${rut}/customers?q=nobody`,
  '/audit?action=cfe.retry',
  '/audit?action=webhook.test',
  '/audit?person=ana7@example.com',
  '/audit?person=nobody@example.com',
  '/audit?person=ana7@example.com&action=webhook.test',
  `/audit?rut=${rut}`,
  `/audit?rut=${rut}&action=webhook.test`,
  `/audit?account=${accountId}`,
  `/audit?account=${accountId}&action=webhook.test`,
  `/audit?from=${dayAgo(300)}&to=${dayAgo(299)}`,
  `/audit?action=webhook.test&from=${dayAgo(300)}`,
];

/** Every page that somebody may open, and the lists as they are asked for. */
export async function pathsOf({ side, isOperator }: Asker, world: World): Promise<string[]> {
  const paths = new Set<string>();
  for (const [name, row] of Object.entries(CONSOLE_PAGES)) {
    const { may, isFile } = row;
    if (name.startsWith('GET') && !isFile && (isOperator ? may.operators : may.members) !== null)
      paths.add((await row.sample(side, world)).path);
  }
  for (const path of asked(side)) paths.add(path);
  return [...paths];
}

/** Where a page leads: to the page that follows it, and to the file of all that matches. */
export const nextIn = (text: string): string | undefined =>
  /href="([^"]+)" rel="next"/.exec(text)?.[1]?.replaceAll('&amp;', '&');
export const fileIn = (text: string): string | undefined =>
  /class="csv" href="([^"]+)"/.exec(text)?.[1]?.replaceAll('&amp;', '&');

/** The same list from a place a year back; null where there is no such place. */
export function farBehind(next: string, cfes: number): string | null {
  const url = new URL(next, 'http://console');
  const key = JSON.parse(
    Buffer.from(url.searchParams.get('after') ?? '', 'base64url').toString(),
  ) as string[];
  const far = key.map((part) => {
    if (/^\d{4}-\d\d-\d\d$/.test(part)) return dayAgo(360);
    if (/^\d{4}-\d\d-\d\d./.test(part)) return new Date(Date.now() - 390 * DAY_MILLISECONDS).toISOString();
    return part;
  });
  if (url.pathname === '/cfes') far[0] = idOf('cfe', cfes / 50);
  if (url.pathname === '/audit') far[0] = String(cfes / 50);
  if (url.pathname === '/reports') far[0] = '0';
  if (url.pathname === '/enterprises') far[0] = rutOf(Math.round(cfes / 530));
  if (String(far) === String(key)) return null;
  url.searchParams.set('after', encodeCursor(far));
  return url.pathname + url.search;
}
