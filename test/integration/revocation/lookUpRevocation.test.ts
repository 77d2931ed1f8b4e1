import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createRevocationLookUp } from '../../../src/revocation/lookUpRevocation.ts';
import {
  type AnswerWishes,
  aHolder,
  aList,
  anAnswer,
  type Handler,
  type Holder,
  type ListWishes,
  openServer,
} from '../../support/enterprises/revocation.ts';

const root = aHolder({ name: 'Raiz de prueba', ca: true });
const sibling = aHolder({ name: 'Otra empresa', issuer: root });
const delegate = aHolder({ name: 'Delegado', issuer: root, ocspSigning: true });
const stranger = aHolder({ name: 'Extrana', ca: true });

let server: Awaited<ReturnType<typeof openServer>>;
beforeAll(async () => {
  server = await openServer();
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
});

const link = (holder: Holder, issuer: Holder = root) => ({ certificate: holder.der, issuer: issuer.der });
const lookUp = createRevocationLookUp({ localServers: true });
const stateOf = async (holder: Holder, owner = 'one') => (await lookUp([[link(holder)]], owner))[0];

let paths = 0;
const path = (): string => `/${(paths += 1)}`;
/** A certificate whose list is the one wished for. */
function listed(wishes: (own: () => Holder) => Partial<ListWishes>): Holder {
  const list = server.at(path(), () => aList({ issuer: root, ...wishes(() => holder) }));
  const holder: Holder = aHolder({ name: 'Empresa', issuer: root, list });
  return holder;
}
/** A certificate about which the responder answers as wished for. */
const answered = (wishes: AnswerWishes): Holder =>
  aHolder({
    name: 'Empresa',
    issuer: root,
    responder: server.at(path(), (question) => anAnswer(question, wishes)),
  });
const served = (handler: Handler): Holder =>
  aHolder({ name: 'Empresa', issuer: root, list: server.at(path(), handler) });

test.each<[string, string, () => Holder]>([
  ['is in the list', 'revoked', () => listed((own) => ({ revoked: ['01', own().serial] }))],
  ['is not in the list', 'good', () => listed(() => ({ revoked: ['01', '02'] }))],
  ['is in no list that is empty', 'good', () => listed(() => ({}))],
  ['was taken out again', 'good', () => listed((own) => ({ revoked: [own().serial], removed: true }))],
  [
    'is in a list that is over',
    'unknown',
    () => listed((own) => ({ revoked: [own().serial], nextUpdate: new Date(Date.now() - 60_000) })),
  ],
  [
    'is in a list of a stranger',
    'unknown',
    () => listed((own) => ({ revoked: [own().serial], signer: stranger })),
  ],
  ['is told revoked', 'revoked', () => answered({ state: 'revoked', signer: root })],
  ['is told good', 'good', () => answered({ state: 'good', signer: root })],
  ['is not known to the responder', 'unknown', () => answered({ state: 'unknown', signer: root })],
  [
    'is told by whom the authority let',
    'revoked',
    () => answered({ state: 'revoked', signer: delegate, brings: true }),
  ],
  [
    'is told by another company',
    'unknown',
    () => answered({ state: 'revoked', signer: sibling, brings: true }),
  ],
  ['is told by a stranger', 'unknown', () => answered({ state: 'revoked', signer: stranger, brings: true })],
  [
    'was told until a minute ago',
    'unknown',
    () => answered({ state: 'revoked', signer: root, nextUpdate: new Date(Date.now() - 60_000) }),
  ],
  ['names no place', 'unknown', () => aHolder({ name: 'Empresa', issuer: root })],
  ['gets what is no list', 'unknown', () => served(() => Buffer.from('no list'))],
  ['gets a list without end', 'unknown', () => served(() => Buffer.alloc(2 * 1024 * 1024))],
  [
    'is sent elsewhere',
    'unknown',
    () =>
      served((_body, _request, response) => {
        response.writeHead(302, { location: '/elsewhere' }).end();
        return null;
      }),
  ],
])('a certificate that %s is %s', async (_what, state, holder) => {
  expect(await stateOf(holder())).toBe(state);
  expect(server.asked('/elsewhere')).toBe(0);
});

test('the list decides where the responder is silent', async () => {
  const list = server.at(path(), () => aList({ issuer: root, revoked: [holder.serial] }));
  const holder: Holder = aHolder({
    name: 'Empresa',
    issuer: root,
    list,
    responder: server.at(path(), () => Buffer.from('?')),
  });
  expect(await stateOf(holder)).toBe('revoked');
});

test('silence ends in bounded time, and holds up nobody', async () => {
  const silent = served(() => null);
  const other = listed(() => ({}));
  const waits = stateOf(silent, 'another');
  expect(await stateOf(other)).toBe('good');
  expect(await waits).toBe('unknown');
});

test('many certificates of one account take no place from others; those that find none of its own are unknown at once', async () => {
  const asked = Promise.withResolvers<void>();
  let release = (): void => {};
  const held = served((_body, _request, response) => {
    release = () => void response.writeHead(200).end(aList({ issuer: root }));
    asked.resolve();
    return null;
  });
  const first = stateOf(held, 'many');
  await asked.promise;
  const next = stateOf(
    listed(() => ({})),
    'many',
  );
  const more = Array.from({ length: 20 }, () =>
    stateOf(
      listed(() => ({})),
      'many',
    ),
  );
  expect(new Set(await Promise.all(more))).toEqual(new Set(['unknown']));
  expect(
    await stateOf(
      listed(() => ({})),
      'another',
    ),
  ).toBe('good');

  release();
  expect(await Promise.all([first, next])).toEqual(['good', 'good']);
});

test('what was found is remembered, and a list is fetched once for all that are asked about together', async () => {
  const at = path();
  const list = server.at(at, () => aList({ issuer: root }));
  const [one, other] = ['Una', 'Otra'].map((name) => aHolder({ name, issuer: root, list })) as [
    Holder,
    Holder,
  ];
  expect(await lookUp([[link(one)], [link(other)]], 'one')).toEqual(['good', 'good']);
  expect(await lookUp([[link(other)], [link(one)]], 'one')).toEqual(['good', 'good']);
  expect(server.asked(at)).toBe(1);
});

test('a revoked intermediate revokes what is below it', async () => {
  const list = server.at(path(), () => aList({ issuer: root, revoked: [between.serial] }));
  const between: Holder = aHolder({ name: 'Intermedia', issuer: root, ca: true, list });
  const holder = aHolder({ name: 'Empresa', issuer: between });
  expect(await lookUp([[link(holder, between), link(between)]], 'one')).toEqual(['revoked']);
});

test('no server inside is asked', async () => {
  const at = path();
  const list = server.at(at, () => aList({ issuer: root }));
  const holder = aHolder({ name: 'Empresa', issuer: root, list });
  const named = aHolder({ name: 'Empresa', issuer: root, list: list.replace('127.0.0.1', 'localhost') });
  const outside = createRevocationLookUp({ localServers: false });
  expect(await outside([[link(holder)], [link(named)]], 'one')).toEqual(['unknown', 'unknown']);
  expect(server.asked(at)).toBe(0);
});
