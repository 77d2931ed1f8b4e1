import { get as httpGet } from 'node:http';
import type { Attack, Ground } from '../../support/api/abuse.ts';
import { linksOf } from '../../support/print/links.ts';

/** The status of a GET without a key, its body unread; `from` is the address that the proxy tells. */
export function ask({ api }: Ground, path: string, from = '192.0.2.10'): Promise<number> {
  const url = new URL(path, api.baseUrl);
  const headers = { 'x-forwarded-for': from, connection: 'close' };
  return new Promise((resolve, reject) => {
    httpGet(url, { headers }, (answer) => {
      answer.resume().once('end', () => resolve(answer.statusCode ?? 0));
      answer.once('error', reject);
    }).once('error', reject);
  });
}

/** Whoever wants many addresses has them. */
export const networkAt = (place: number): string => `10.7.${place >> 8}.${place & 255}`;

const search = (name: string, query: string): Attack => ({
  name,
  times: 200,
  atOnce: 10,
  send: (ground) => ask(ground, `/v1/docs/es/${query}`),
  answers: [200],
});

let links: string[] = [];
const prepare = async ({ stack }: Ground): Promise<void> => {
  if (links.length > 0) return;
  links = await linksOf(stack.orm, {
    enterprises: 1,
    count: 6,
    lines: 700,
    description: '<'.repeat(1_000),
  });
};
/** More files than are kept of one account: most are made anew. */
const files = (name: string, file: '' | '/xml'): Attack => ({
  name,
  times: 12,
  atOnce: 4,
  prepare,
  send: (ground, place) => ask(ground, (links[place % links.length] ?? '') + file, networkAt(place)),
  answers: [200],
});

/** What anybody may ask, at its dearest. */
export const WITHOUT_KEY: readonly Attack[] = [
  search('200 searches of fifty words in the guides', `search?q=${'a+'.repeat(50)}`),
  search('200 searches of eight words that are everywhere', 'search?q=e+a+o+s+n+r+i+l'),
  search('200 guides asked for with 3,700 parameters', `limits?${'q=a&'.repeat(3_700)}`),
  files('pages of receipts with 700 lines of signs that must be escaped', ''),
  files('the XML of such receipts', '/xml'),
];
