import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createAuthority, toAskedCfe } from '../../../src/activities/authority/authority.ts';
import { createTakeToVerdict } from '../../../src/activities/authority/takeToVerdict.ts';
import { UnsealError } from '../../../src/crypto/sealed.ts';
import { listSobresOfCfe, loadSobre, type SobreOfCfe } from '../../../src/db/authority/sobres.ts';
import { Sobre } from '../../../src/db/entities/authority.ts';
import { Certificate } from '../../../src/db/entities/enterprises.ts';
import { Cfe } from '../../../src/db/entities/receipts.ts';
import { createDgiClient } from '../../../src/dgi/client.ts';
import type { CommonAnswer, Situation, SpecialAnswers } from '../../../src/dgi/outcomes.ts';
import { createRutLookUp } from '../../../src/dgi/rutLookUp.ts';
import { createGate } from '../../../src/gate/gate.ts';
import { anAccount, idleGatekeeper, idleOutbox } from '../../support/commandDeps.ts';
import { cloneDatabase, type TestDatabase } from '../../support/database/database.ts';
import {
  AUTHORITY_RUT,
  ackCfe,
  ackSobre,
  authorityKeys,
  consultationAnswer,
  credentialsOf,
  envelope,
  exception,
  fault,
  fingerprint,
  shipment,
  shipments,
  soapAnswer,
} from '../../support/dgi/answers.ts';
import { answers, aServer, type Behaviour } from '../../support/dgi/aServer.ts';
import { sendSobre } from '../../support/dgi/sendSobre.ts';
import { aReadyEnterprise } from '../../support/enterprises/enterprises.ts';
import { freePort } from '../../support/processes/services.ts';
import { aSobreOf, givePendingCfes } from '../../support/receipts/pendingCfes.ts';
import { asActivity } from '../../support/temporal/activityContext.ts';

type Asked = Exclude<Situation, 'duplicate'>;
/** What the server does at a question about a sobre of ours with that number. */
type Says = (idemisor: string) => Behaviour;

const credentials = credentialsOf();
const stranger = authorityKeys({ name: 'stranger' });
const ACTIONS: Readonly<Record<string, Asked>> = {
  EFACRECEPCIONSOBRE: 'send',
  EFACCONSULTARESTADOENVIO: 'ask',
  EFACCONSULTARENVIOSSOBRE: 'find',
  EFACCONSULTARESTADOCFE: 'findCfe',
  Execute: 'lookUp',
  EFACCONSULTARRUCEMISORESTRANSICIONCOMPRIMIDOPROV: 'listIssuers',
};

let db: TestDatabase;
let server: Awaited<ReturnType<typeof aServer>>;
let accountId: string;
let rut: string;
/** What the server answers, by what it is asked. */
let says: Partial<Record<Asked, Says>>;
let asked: Asked[];
let how: { isThere: boolean; isHeldBack: boolean; opensKey: boolean };
beforeAll(async () => {
  db = await cloneDatabase({ worker: true });
  server = await aServer();
  server.behaves((response, request) => {
    const action = String(request.headers['soapaction']).split('.').at(-1)?.replace('"', '') ?? '';
    const question = ACTIONS[action];
    if (!question) throw new Error(`asked for ${action}`);
    asked.push(question);
    const idemisor = /<idemisor>(\d+)</i.exec(server.requests.at(-1)?.body ?? '')?.[1] ?? '';
    says[question]?.(idemisor)(response, request);
  });
  accountId = await anAccount(db.orm);
  rut = await aReadyEnterprise(db.orm, accountId, { caes: [{ type: 'ETICKET' }] });
  await db.orm.em
    .fork()
    .nativeUpdate(Certificate, { rut }, { certificate: Buffer.from(credentials.certificateDer) });
});
afterAll(async () => {
  await server.stop();
  await db[Symbol.asyncDispose]();
});
beforeEach(() => {
  says = {};
  asked = [];
  how = { isThere: true, isHeldBack: false, opensKey: true };
});

const NOWHERE = freePort().then((port) => `http://127.0.0.1:${port}`);
async function aClient() {
  const url = how.isThere ? server.url : await NOWHERE;
  const endpoints = {
    receptionUrl: url,
    consultationUrl: url,
    registryUrl: url,
  };
  return createDgiClient({
    endpoints: { production: endpoints, sandbox: endpoints },
    timeouts: { connectSeconds: 5, answerSeconds: 20 },
    soapHash: 'sha1',
    trustedSigners: async () => new Set([fingerprint(authorityKeys())]),
    ...(how.isHeldBack ? { breakers: { permit: async () => null } } : {}),
  });
}
const anAuthority = async () =>
  createAuthority({
    client: await aClient(),
    orm: db.worker,
    privateKeyOf: () => {
      if (!how.opensKey) throw new UnsealError('unknown_key', 'no key opens it');
      return credentials.privateKey;
    },
  });
/** A CFE that is signed, in a sobre to itself whose slot has come. */
async function aCfe(): Promise<Cfe> {
  const [cfe] = (await givePendingCfes(db.orm, { accountId, rut, count: 1, from: new Date() })) as [Cfe];
  await db.orm.em.fork().nativeUpdate(Cfe, { id: cfe.id }, { signedXml: '<CFE/>', digest: 'eA==' });
  await aSobreOf(db.orm, [cfe]);
  return cfe;
}
/** The last sobre that it was put into. */
async function sobreOf({ id }: Cfe): Promise<SobreOfCfe> {
  const sobre = (await listSobresOfCfe(db.orm.em.fork(), id)).at(-1);
  if (!sobre) throw new Error('the CFE is in no sobre');
  return sobre;
}
async function storeInSobre(cfe: Cfe, values: Partial<Sobre>): Promise<void> {
  const { id } = await sobreOf(cfe);
  await db.orm.em.fork().nativeUpdate(Sobre, { id }, values);
}

/** One attempt to take a CFE's sobre to the verdict, in a word or two. */
async function attempt(cfe: Cfe): Promise<string> {
  const clock = () => new Date();
  const takeToVerdict = createTakeToVerdict({
    orm: db.worker,
    clock,
    outbox: idleOutbox,
    gatekeeper: idleGatekeeper,
    authority: await anAuthority(),
    gate: createGate({ orm: db.worker, clock, sendsPerSecond: 1_000, questionsPerSecond: 1_000 }),
    authorityRut: { production: AUTHORITY_RUT, sandbox: '219999830019' },
    signDocument: () => {
      throw new Error('it is signed');
    },
    pollLongestSeconds: 60,
    patienceSeconds: 60,
  });
  const { id } = await sobreOf(cfe);
  try {
    const result = await asActivity(() => takeToVerdict(id));
    switch (result.kind) {
      case 'ended':
        return Object.values(result.endings).join();
      case 'stuck':
        return result.stuck.map(({ reason }) => `stuck ${reason}`).join();
      case 'waits':
        return 'waits';
    }
  } catch (error) {
    const { type, message } = error as { type?: string; message: string };
    if (type !== 'AuthorityUnreachable' && type !== 'NotYet') throw error;
    return `${type}: ${message}`;
  }
}

/** A verdict on a CFE. */
const verdictOn =
  ({ numero }: Cfe, wishes: Parameters<typeof ackCfe>[0] = {}): Says =>
  () => {
    const receipt = `<TipoCFE>101</TipoCFE><Serie>A</Serie><NroCFE>${numero}</NroCFE>`;
    return answers(soapAnswer('EFACCONSULTARESTADOENVIO', ackCfe({ receipt, ...wishes })));
  };
const always =
  (behaviour: Behaviour): Says =>
  () =>
    behaviour;

/** The answers that may come whatever is asked, but for codes and what we meet before a call; `signed` by its answer. */
const common = (signed: { changed: Says; strangers: Says; ofOthers: Says }) =>
  ({
    'no answer': always((response) => response.destroy()),
    http: always(answers('<html>error', { status: 503 })),
    'too large': always(answers(' '.repeat(8 * 1024 * 1024 + 1))),
    unreadable: always(answers('<html>maintenance</html>')),
    fault: always(answers(fault('Internal Error'), { status: 500 })),
    'fault security': always(answers(fault('No signature in message!'), { status: 500 })),
    'bad signature': signed.changed,
    'untrusted signer': signed.strangers,
    'other subject': signed.ofOthers,
  }) satisfies Partial<Record<CommonAnswer, Says>>;
/** What a code comes to where the situation has no rule of its own. */
const GENERAL_CODES: Readonly<Record<string, readonly number[]>> = {
  'stuck authority.our_mistake': [1, 2, 3, 4, 111],
  'stuck authority.certificate': [5, 12],
  'stuck authority.caller': [6, 7],
  'stuck authority.user': [8, 9, 10],
  'stuck authority.no_permission': [101],
  'stuck authority.not_an_issuer': [103],
  'stuck authority.certification_stage': [201, 202, 211, 212, 221, 222, 223, 224, 225, 226, 227],
  'stuck authority.unknown_code': [0, 11, 13, 14, 42, 99, 100, 102, 104, 105, 108, 109, 777, 9999],
};
const ALL_CODES = Object.values(GENERAL_CODES).flat();
const outcomeOfCode = (own: Readonly<Record<string, readonly number[]>>, code: number): string => {
  const found = [own, GENERAL_CODES].flatMap(Object.entries).find(([, codes]) => codes.includes(code));
  return found?.[0] ?? '';
};
const INNER = [13, 99, 100, 102, 104, 105];
/** Tried again by itself: with patience counted where the authority was there. */
const AGAIN = 'again, patience counts';
const UNREACHED = 'again';
const COMMON_OUTCOMES = {
  unreached: UNREACHED,
  'held back': UNREACHED,
  'no answer': UNREACHED,
  http: AGAIN,
  'too large': AGAIN,
  unreadable: AGAIN,
  fault: AGAIN,
  'bad signature': AGAIN,
  'other subject': AGAIN,
  'fault security': 'stuck authority.signature_refused',
  'untrusted signer': 'stuck authority.untrusted_signer',
} as const;
type Named<S extends Situation> = SpecialAnswers[S] | keyof typeof COMMON_OUTCOMES;
/** What each answer comes to, and what makes the server give it: every answer of the table must stand here. */
type Cases<S extends Situation> = Readonly<Record<Named<S>, readonly [outcome: string, says: Says]>>;
const nothing: Says = () => () => {};

function meets(answer: string): void {
  how = { isThere: answer !== 'unreached', isHeldBack: answer === 'held back', opensKey: true };
}

const rowsOf = (
  named: Readonly<Record<string, readonly [string, Says]>>,
  ownCodes: Readonly<Record<string, readonly number[]>>,
  saysCode: (code: number) => Says,
) => [
  ...Object.entries(named).map(([answer, [outcome, said]]) => [answer, outcome, said] as const),
  ...ALL_CODES.map((code) => [`code ${code}`, outcomeOfCode(ownCodes, code), saysCode(code)] as const),
];
/** The cases that every situation shares, with the outcomes that differ. */
function shared(
  signed: { changed: Says; strangers: Says; ofOthers: Says },
  unclear = AGAIN,
  lost = UNREACHED,
) {
  const outcomes = COMMON_OUTCOMES;
  const all = { unreached: nothing, 'held back': nothing, ...common(signed) };
  const entries = Object.entries(all).map(([answer, said]) => {
    const usual = outcomes[answer as keyof typeof outcomes];
    const outcome = answer === 'no answer' ? lost : usual === AGAIN ? unclear : usual;
    return [answer, [outcome, said]] as const;
  });
  return Object.fromEntries(entries) as Record<keyof typeof outcomes, readonly [string, Says]>;
}
/** Unsigned answers have nobody to distrust. */
const unsigned = { changed: nothing, strangers: nothing, ofOthers: nothing };
const UNSIGNED = ['bad signature', 'untrusted signer', 'other subject'] as const;

describe('a sobre is sent', () => {
  const FATE_UNKNOWN = 'fate unknown';
  const document =
    (xml: (idemisor: string) => string): Says =>
    (idemisor) =>
      answers(soapAnswer('EFACRECEPCIONSOBRE', xml(idemisor)));
  const ack = (wishes: Parameters<typeof ackSobre>[0]): Says =>
    document((idemisor) => ackSobre({ idemisor, ...wishes }));
  const refused = (...codes: string[]): Says => ack({ state: 'BS', codes });
  const signed = {
    changed: document((idemisor) => ackSobre({ idemisor }).replace('4242', '4243')),
    strangers: ack({ keys: stranger }),
    ofOthers: ack({ rut: '219000090011' }),
  };
  const named: Cases<'send'> = {
    ...shared(signed, FATE_UNKNOWN, FATE_UNKNOWN),
    AS: ['received', ack({})],
    'AS without token': [FATE_UNKNOWN, ack({ ticket: '' })],
    S01: ['REJECTED', refused('S01')],
    S02: ['REJECTED', refused('S02')],
    S03: ['REJECTED', refused('S03')],
    S04: ['REJECTED', refused('S04')],
    S05: ['REJECTED', refused('S05')],
    S06: ['REJECTED', refused('S06')],
    S07: ['REJECTED', refused('S07')],
    S08: ['renumbered', refused('S08')],
    BS: ['stuck sobre.unknown_refusal', refused('S09')],
  };
  const ownCodes = { REJECTED: [11], renumbered: [108], [FATE_UNKNOWN]: INNER };
  const code = (code: number): Says => document(() => exception(code));
  const also = [
    ['S08 beside another reason', 'renumbered', refused('S04', 'S08')],
    ['a refusal without a reason', 'stuck sobre.unknown_refusal', refused()],
    ['BA', 'stuck sobre.unknown_refusal', ack({ state: 'BA' })],
  ] as const;

  test.each([...rowsOf(named, ownCodes, code), ...also])('%s: %s', async (answer, outcome, said) => {
    meets(answer);
    const cfe = await aCfe();
    says = { send: said, ask: verdictOn(cfe) };

    const first = await attempt(cfe);

    const { state, undecidedSince, idemisor } = await sobreOf(cfe);
    if (!first.startsWith('AuthorityUnreachable') && first !== 'LEFT') {
      expect(state === 'RECEIVED' ? 'received' : first).toBe(outcome);
      expect(asked).toEqual(state === 'RECEIVED' ? ['send', 'ask'] : ['send']);
      return;
    }
    const isUnknown = first.includes('asked before it is sent again') && undecidedSince !== null;
    const is = first === 'LEFT' ? 'renumbered' : isUnknown ? FATE_UNKNOWN : UNREACHED;
    expect(is).toBe(outcome);
    // Whatever became of it, the authority is asked before the same bytes go; a new sobre goes at once.
    meets('');
    asked = [];
    says = { find: always(answers(shipments())), send: ack({}), ask: verdictOn(cfe) };
    if (is === 'renumbered') {
      expect(state).toBe('REFUSED');
      await aSobreOf(db.orm, [cfe]);
    }
    expect(await attempt(cfe)).toBe('ACCEPTED');
    expect(asked).toEqual(is === 'renumbered' ? ['send', 'ask'] : ['find', 'send', 'ask']);
    expect((await sobreOf(cfe)).idemisor === idemisor).toBe(is !== 'renumbered');
  });

  test('explanations hold nothing of the authority’s own text', async () => {
    says = {
      send: document(() => exception(777).replace('<descripcion>d<', '<descripcion>EMPRESA DE JUAN PEREZ<')),
    };
    const answer = await sendSobre(await aClient(), credentials, 'production', {
      idemisor: 1n,
      xml: '<a/>',
    });
    expect(answer).toMatchObject({ kind: 'stuck', explanation: expect.stringContaining('code 777') });
    expect(JSON.stringify(answer)).not.toContain('JUAN');
  });
});

describe('the sobre is looked for, for its fate is unknown', () => {
  const listed =
    (...entries: Parameters<typeof shipment>[]): Says =>
    (idemisor) =>
      answers(shipments(...entries.map(([state, wishes]) => shipment(state, { idemisor, ...wishes }))));
  const { 'bad signature': _, 'untrusted signer': __, 'other subject': ___, ...named } = shared(unsigned);
  const cases: Omit<Cases<'find'>, (typeof UNSIGNED)[number] | 'signed for and not listed'> = {
    ...named,
    listed: ['received', listed(['AS'])],
    'listed as refused': ['sent again', listed(['BS', { ticket: '' }])],
    'listed without token': [AGAIN, listed(['AS', { ticket: '' }])],
    'not listed': ['sent again', listed()],
  };
  const code = (code: number): Says =>
    always(
      answers(consultationAnswer('EFACCONSULTARENVIOSSOBRE', exception(code).replace(/^<\?.*?\?>/, ''))),
    );

  /** A CFE whose first send had no answer. */
  async function sentOnce(): Promise<Cfe> {
    const cfe = await aCfe();
    says = { send: always((response) => response.destroy()) };
    await attempt(cfe);
    await storeInSobre(cfe, { undecidedSince: null });
    asked = [];
    return cfe;
  }
  const received: Says = (idemisor) => answers(soapAnswer('EFACRECEPCIONSOBRE', ackSobre({ idemisor })));
  const duplicate: Says = (idemisor) =>
    answers(soapAnswer('EFACRECEPCIONSOBRE', ackSobre({ idemisor, state: 'BS', codes: ['S08'] })));

  test.each(rowsOf(cases as Readonly<Record<string, readonly [string, Says]>>, { [AGAIN]: INNER }, code))(
    '%s: %s',
    async (answer, outcome, said) => {
      const cfe = await sentOnce();
      meets(answer);
      says = { find: said, send: received, ask: verdictOn(cfe) };

      const first = await attempt(cfe);

      const { undecidedSince, state } = await sobreOf(cfe);
      const patience = undecidedSince === null ? UNREACHED : AGAIN;
      const isReceived = state === 'RECEIVED' ? 'received' : first;
      const is = first.startsWith('AuthorityUnreachable') ? patience : isReceived;
      expect(is).toBe(outcome === 'sent again' ? 'received' : outcome);
      expect(asked.includes('send')).toBe(outcome === 'sent again');
    },
  );

  test.each([
    ['not listed', 'NotYet: The authority has this sobre already; it is asked for its receipt.', listed()],
    ['listed as refused', 'stuck sobre.refused_without_reasons', listed(['BS', { ticket: '' }])],
  ])('%s, and yet a duplicate: %s', async (_, outcome, find) => {
    const cfe = await sentOnce();
    says = { find, send: duplicate };
    expect(await attempt(cfe)).toBe(outcome);
  });

  test('no answer that decides it for longer than our patience: stuck undecided', async () => {
    const cfe = await sentOnce();
    const undecidedSince = new Date(Date.now() - 61_000);
    await storeInSobre(cfe, { undecidedSince });
    says = { find: always(answers('<html>error', { status: 503 })) };
    expect(await attempt(cfe)).toBe('stuck undecided');
  });

  test('a key that cannot be opened: stuck signing, and nothing is asked', async () => {
    const cfe = await sentOnce();
    how = { ...how, opensKey: false };
    expect(await attempt(cfe)).toBe('stuck signing');
    expect(asked).toEqual([]);
  });
});

describe('the verdict is asked for', () => {
  const NOT_YET = 'not yet';
  const document = (xml: string): Says => always(answers(soapAnswer('EFACCONSULTARESTADOENVIO', xml)));
  let cfe: Cfe;
  const verdict =
    (wishes: Parameters<typeof ackCfe>[0] = {}): Says =>
    (idemisor) =>
      verdictOn(cfe, wishes)(idemisor);
  const original = (idemisor: string, idReceptor: string) =>
    `<InfoRespOri><IDRespSobre>1</IDRespSobre><IDEmisorSobre>${idemisor}</IDEmisorSobre><IDReceptorSobre>${idReceptor}</IDReceptorSobre><IDTokenSobre>b3JpZw==</IDTokenSobre></InfoRespOri>`;
  const taken = (where: string): Says => verdict({ state: 'BE', codes: ['E02'], original: where });
  const signed = {
    changed: document(ackCfe().replace('<IDReceptor>4242<', '<IDReceptor>4243<')),
    strangers: verdict({ keys: stranger }),
    ofOthers: verdict({ idReceptor: '4243' }),
  };
  const named: Cases<'ask'> = {
    ...shared(signed),
    AE: ['ACCEPTED', verdict()],
    BE: ['REJECTED', verdict({ state: 'BE', codes: ['E05'] })],
    CE: ['OBSERVED', verdict({ state: 'CE', codes: ['C06'] })],
    'other state': ['stuck verdict.unknown_state', verdict({ state: 'FE' })],
    'other receipt': [
      'stuck verdict.other_cfe',
      verdict({ receipt: '<TipoCFE>111</TipoCFE><Serie>A</Serie><NroCFE>1</NroCFE>' }),
    ],
    'no verdict on it': [
      NOT_YET,
      verdict({ receipts: '<ACKCFE_Det><Nro_ordinal>2</Nro_ordinal><Estado>AE</Estado></ACKCFE_Det>' }),
    ],
    'E02 of ours': [NOT_YET, (idemisor) => taken(original(String(ours), '77'))(idemisor)],
    'E02 of others': ['stuck duplicate.not_ours', taken(original('1', '4242'))],
    // It is said of one CFE, and holds up no other of its sobre.
    'E02 without its original': [NOT_YET, taken('')],
  };
  let ours = 0n;
  const code = (code: number): Says => document(exception(code));
  const none =
    '<Ackconsultaestadocfe><EstadoCFE/><IdEmisor>0</IdEmisor><IdReceptor>0</IdReceptor></Ackconsultaestadocfe>';
  const ownCodes = { [NOT_YET]: [13, 99, 105], recovered: [104], [AGAIN]: [100, 102] };

  test.each(rowsOf(named, ownCodes, code))('%s: %s', async (answer, outcome, said) => {
    cfe = await aCfe();
    // It was received a minute ago, so that a question that brings nothing ends the attempt.
    const receivedAt = new Date(Date.now() - 60_000);
    ours = 1_000_000n + BigInt(cfe.numero);
    const ticket = { idReceptor: '4242', token: 'dG9rZW4=' };
    await storeInSobre(cfe, { state: 'RECEIVED', idemisor: ours, xml: '<EnvioCFE/>', receivedAt, ...ticket });
    await db.orm.em.fork().nativeUpdate(Cfe, { id: cfe.id }, { status: 'RECEIVED' });
    meets(answer);
    says = {
      ask: said,
      find: (idemisor) => answers(shipments(shipment('AS', { idemisor }).replace('4242', '4343'))),
      findCfe: always(answers(consultationAnswer('EFACCONSULTARESTADOCFE', none))),
    };

    const first = await attempt(cfe);

    const { id, undecidedSince, idReceptor } = await sobreOf(cfe);
    if (first.startsWith('AuthorityUnreachable'))
      expect(undecidedSince === null ? UNREACHED : AGAIN).toBe(outcome);
    else if (first.startsWith('NotYet')) {
      expect(idReceptor === '4343' ? 'recovered' : NOT_YET).toBe(outcome);
      expect(undecidedSince === null).toBe(answer === 'E02 of ours');
    } else expect(first).toBe(outcome);
    // The verdict that counts is asked for at the sobre that was received first.
    if (answer === 'E02 of ours') {
      expect((await loadSobre(db.worker.em.fork(), id)).cfes[0]?.ticket?.idReceptor).toBe('77');
    }
  });
});

describe('a fiscal number is looked for', () => {
  const state = (ticket: string, idReceptor = '77'): Says =>
    always(
      answers(
        consultationAnswer(
          'EFACCONSULTARESTADOCFE',
          `<Ackconsultaestadocfe><EstadoCFE>AE</EstadoCFE><IdEmisor>99999</IdEmisor><IdReceptor>${idReceptor}</IdReceptor><ParamConsulta>${ticket}</ParamConsulta></Ackconsultaestadocfe>`,
        ),
      ),
    );
  const token = '<Token>dA==</Token>';
  const { 'bad signature': _, 'untrusted signer': __, 'other subject': ___, ...named } = shared(unsigned);
  const cases = {
    ...named,
    found: ['others', state(token)],
    'found without token': [AGAIN, state('')],
    'found without a verdict': [AGAIN, state(token)],
    'not found': ['absent', state(token, '0')],
  } as const satisfies Omit<Cases<'findCfe'>, (typeof UNSIGNED)[number]>;
  const code = (code: number): Says =>
    always(answers(consultationAnswer('EFACCONSULTARESTADOCFE', exception(code).replace(/^<\?.*?\?>/, ''))));

  test.each(rowsOf(cases, { [AGAIN]: INNER }, code))('%s: %s', async (answer, outcome, said) => {
    const cfe = await aCfe();
    meets(answer);
    const undecided = answer === 'found without a verdict';
    says = {
      findCfe: said,
      ask: always(
        answers(
          soapAnswer('EFACCONSULTARESTADOENVIO', undecided ? exception(105) : ackCfe({ idReceptor: '77' })),
        ),
      ),
    };
    const found = await (await anAuthority()).findReceipt(toAskedCfe(cfe));
    if (found.kind === 'repeat') expect(found.reached ? AGAIN : UNREACHED).toBe(outcome);
    else expect(found.kind === 'stuck' ? `stuck ${found.reason}` : found.kind).toBe(outcome);
  });
});

describe('a RUT is looked up', () => {
  const data =
    '<Data><![CDATA[<WS_PersonaActEmpresarial xmlns="DGI_Modernizacion_Consolidado"><RUT>219000090011</RUT><EstadoActividad>AA</EstadoActividad></WS_PersonaActEmpresarial>]]></Data>';
  const record = envelope(
    `<WS_PersonaGetActEmpresarial.ExecuteResponse xmlns="DGI_Modernizacion_Consolidado">${data}</WS_PersonaGetActEmpresarial.ExecuteResponse>`,
  );
  const { 'bad signature': _, 'untrusted signer': __, 'other subject': ___, ...named } = shared(unsigned);
  const cases = { ...named, record: ['found AA', always(answers(record))] } as const satisfies Omit<
    Cases<'lookUp'>,
    (typeof UNSIGNED)[number]
  >;
  const ownCodes = {
    'found null': [8, 9],
    'found NT': [10],
    'found CC': [11],
    'found AF': [12],
    unregistered: [5, 6, 7, 14],
    [AGAIN]: [1],
  };
  const code = (code: number): Says => always(answers(fault('Error', code), { status: 500 }));

  test.each(rowsOf(cases, ownCodes, code))('%s: %s', async (answer, outcome, said) => {
    meets(answer);
    says = { lookUp: said };
    const lookUp = createRutLookUp({ client: await aClient(), credentials });
    const found = await lookUp('219000090011').then(
      (record) => (record === null ? 'unregistered' : `found ${record.activityStatus}`),
      (error: { code: string }) => (error.code === 'UNAVAILABLE' ? 'again' : `stuck ${error.code}`),
    );
    expect(found).toBe(outcome.replace(/^again.*/, 'again'));
  });
});

describe('electronic issuers are listed', () => {
  const OPERATION = 'EFACCONSULTARRUCEMISORESTRANSICIONCOMPRIMIDOPROV';
  const zipped = gzipSync(
    '<List><Item><RUC>219000090011</RUC><MAIL>a@b.example</MAIL></Item></List>',
  ).toString('base64');
  const { 'bad signature': _, 'untrusted signer': __, 'other subject': ___, ...named } = shared(unsigned);
  const cases = {
    ...named,
    'too large': [AGAIN, always(answers(' '.repeat(64 * 1024 * 1024 + 1)))],
    list: ['listed 1', always(answers(consultationAnswer(OPERATION, `<Lista>${zipped}</Lista>`)))],
  } as const satisfies Omit<Cases<'listIssuers'>, (typeof UNSIGNED)[number]>;
  const code = (code: number): Says =>
    always(answers(consultationAnswer(OPERATION, exception(code).replace(/^<\?.*?\?>/, ''))));
  const also = [
    [
      'what is no compressed list',
      AGAIN,
      always(answers(consultationAnswer(OPERATION, '<Lista>H4sI</Lista>'))),
    ],
  ] as const;

  test.each([...rowsOf(cases, { [AGAIN]: INNER }, code), ...also])(
    '%s: %s',
    async (answer, outcome, said) => {
      meets(answer);
      says = { listIssuers: said };
      const listed = await (await aClient()).listIssuers(credentials, 'production', { since: new Date(0) });
      if (listed.kind === 'listed') expect(`listed ${[...listed.issuers].length}`).toBe(outcome);
      else if (listed.kind === 'repeat') expect(listed.reached ? AGAIN : UNREACHED).toBe(outcome);
      else expect(`stuck ${listed.reason}`).toBe(outcome);
    },
  );
});
