import { createPrivateKey } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import {
  type AskedCfe,
  createAuthority,
  type PlacedCfe,
  type WrittenSobre,
} from '../../../src/activities/authority/authority.ts';
import { UnsealError } from '../../../src/crypto/sealed.ts';
import type { Orm } from '../../../src/db/orm.ts';
import type { AskVerdictAnswer, DgiClient, FindCfeAnswer, FindSobreAnswer } from '../../../src/dgi/client.ts';
import type { ReceiptVerdict } from '../../../src/dgi/xml/ack.ts';
import { rsaKey } from '../../support/receipts/papers.ts';

const cfe = {
  id: 'cfe-1',
  rut: '210154140015',
  environment: 'production',
  type: 'ETICKET',
  serie: 'A',
  numero: 12,
  signedAt: '2026-03-02T09:00:00-03:00',
  certificateId: 'c',
} as const satisfies AskedCfe;
const SOBRE = {
  environment: 'production' as const,
  idemisor: 7n,
  xml: '<EnvioCFE/>',
  idReceptor: '4242',
  token: 'dA==',
  createdAt: new Date('2026-03-02T12:00:00Z'),
  sendingAt: new Date('2026-03-02T12:00:05Z'),
};
const sobre: WrittenSobre & typeof SOBRE = SOBRE;
const RECEIPT: ReceiptVerdict = {
  ordinal: 1,
  typeCode: 101,
  serie: 'A',
  numero: 12,
  signedAt: '2026-03-02T09:00:00-03:00',
  state: 'AE',
  reasons: [],
  original: undefined,
};
const E02 = { code: 'E02', message: 'ya existe', detail: null };
const ORIGINAL = { idemisor: '3', idReceptor: '77', token: 'b3JpZw==' };
const CARATULA = {
  receiverRut: undefined,
  issuerRut: undefined,
  idemisor: undefined,
  idReceptor: undefined,
  signedAt: undefined,
};
const answered = (receipt: Partial<ReceiptVerdict>): AskVerdictAnswer => ({
  kind: 'answered',
  ack: { ...CARATULA, receipts: [{ ...RECEIPT, ...receipt }] },
});

/** An authority whose client gives these answers; `ours` are the numbers of the sobres that carried the CFE. */
function authorityWith(of: {
  verdict?: AskVerdictAnswer;
  /** Of the sobre in which the number was received first. */
  first?: AskVerdictAnswer;
  found?: FindCfeAnswer;
  shipments?: FindSobreAnswer[];
  ours?: bigint[];
  opensKey?: boolean;
}) {
  const asked: { from: Date; to: Date }[] = [];
  /** The sobres whose verdicts were asked for, by their numbers at the authority. */
  const questions: string[] = [];
  const shipments = [...(of.shipments ?? [])];
  const client = {
    askVerdict: async (_: unknown, __: unknown, { idReceptor }: { idReceptor: string }) => {
      questions.push(idReceptor);
      return idReceptor === sobre.idReceptor ? of.verdict : of.first;
    },
    findCfe: async () => of.found,
    findSobre: async (_: unknown, __: unknown, span: { from: Date; to: Date }) => {
      asked.push(span);
      return shipments.shift() ?? { kind: 'absent' };
    },
  } as unknown as DgiClient;
  const em = {
    findOne: async () => ({ certificate: Buffer.alloc(0) }),
    // Whether a sobre of that number carried the CFE, refused ones left out.
    execute: async (_: string, [id, idemisor, refused]: [string, string, boolean]) =>
      id === cfe.id && !refused && (of.ours ?? [7n]).includes(BigInt(idemisor)) ? [{}] : [],
  };
  const authority = createAuthority({
    client,
    orm: { em: { fork: () => em } } as unknown as Orm,
    privateKeyOf: () => {
      if (of.opensKey === false) throw new UnsealError('unknown_key', 'no key opens it');
      return createPrivateKey(rsaKey('company'));
    },
  });
  return { authority, asked, questions };
}
const ask = (of: Parameters<typeof authorityWith>[0], cfes: PlacedCfe[] = [{ ...cfe, place: 1 }]) =>
  authorityWith(of).authority.askVerdicts(cfes, sobre);
/** What is said of the one CFE of a sobre. */
async function judged(of: Parameters<typeof authorityWith>[0]) {
  const said = await ask(of);
  return said.kind === 'answered' ? said.outcomes[0] : said;
}

describe('askVerdicts of the authority', () => {
  test.each([
    ['AE', 'ACCEPTED'],
    ['BE', 'REJECTED'],
    ['CE', 'OBSERVED'],
  ])('%s is %s', async (state, status) => {
    const reasons = [{ code: 'X01', message: 'm', detail: null }];
    expect(await judged({ verdict: answered({ state, reasons }) })).toEqual({
      kind: 'verdict',
      status,
      reasons,
    });
  });

  test('a receipt that the authority could not parse is ours by its place', async () => {
    const unread = {
      typeCode: undefined,
      serie: undefined,
      numero: undefined,
      signedAt: undefined,
      state: 'BE',
    };
    expect(await judged({ verdict: answered(unread) })).toMatchObject({
      kind: 'verdict',
      status: 'REJECTED',
    });
  });

  test.each([{ typeCode: 111 }, { serie: 'B' }, { numero: 13 }, { signedAt: '2026-03-02T08:59:59-03:00' }])(
    'a verdict on another receipt (%j) needs a person',
    async (other) => {
      expect(await judged({ verdict: answered(other) })).toMatchObject({
        kind: 'stuck',
        reason: 'verdict.other_cfe',
      });
    },
  );

  test.each(['2026-03-02T09:00:00', '2026-03-02T09:00:00Z', '2026-03-02T12:00:00Z'])(
    'the moment of signing may be told as %s',
    async (signedAt) => {
      expect(await judged({ verdict: answered({ signedAt }) })).toMatchObject({ status: 'ACCEPTED' });
    },
  );

  test('a state that no rule covers needs a person', async () => {
    expect(await judged({ verdict: answered({ state: 'FE' }) })).toMatchObject({
      kind: 'stuck',
      reason: 'verdict.unknown_state',
    });
  });

  test('an answer without our receipt is not yet one', async () => {
    const verdict = answered({ ordinal: 2, numero: 99 });
    expect(await judged({ verdict })).toMatchObject({ kind: 'notYet' });
  });

  test('an earlier sobre of ours may have it at another place, with another receipt at this one', async () => {
    const receipts = [
      { ...RECEIPT, ordinal: 1, numero: 99 },
      { ...RECEIPT, ordinal: 2 },
    ];
    const verdict: AskVerdictAnswer = { kind: 'answered', ack: { ...CARATULA, receipts } };
    expect(await judged({ verdict })).toMatchObject({ kind: 'verdict', status: 'ACCEPTED' });
  });

  test('each CFE of a sobre has the verdict at its place, whatever the others have', async () => {
    const receipts = [
      {
        ...RECEIPT,
        ordinal: 3,
        numero: 14,
        state: 'BE',
        reasons: [{ code: 'E05', message: 'm', detail: null }],
      },
      { ...RECEIPT, ordinal: 1 },
      { ...RECEIPT, ordinal: 4, numero: 99 },
    ];
    const cfes = [12, 13, 14, 15].map((numero, index) => ({
      ...cfe,
      id: `cfe-${numero}`,
      numero,
      place: index + 1,
    }));
    const verdict: AskVerdictAnswer = { kind: 'answered', ack: { ...CARATULA, receipts } };
    expect(await ask({ verdict }, cfes)).toMatchObject({
      kind: 'answered',
      outcomes: [
        { kind: 'verdict', status: 'ACCEPTED' },
        { kind: 'notYet' },
        { kind: 'verdict', status: 'REJECTED', reasons: [{ code: 'E05' }] },
        { kind: 'stuck', reason: 'verdict.other_cfe' },
      ],
    });
  });

  test('one that an earlier sobre brought is found by what is said of it, wherever it stands there', async () => {
    const verdict = answered({ ordinal: 5 });
    expect(await ask({ verdict }, [{ ...cfe, place: null }])).toMatchObject({
      outcomes: [{ kind: 'verdict', status: 'ACCEPTED' }],
    });
    const unsure = answered({ signedAt: undefined });
    expect(await ask({ verdict: unsure }, [{ ...cfe, place: null }])).toMatchObject({
      outcomes: [{ kind: 'notYet' }],
    });
  });

  describe('of a number that was received before (E02)', () => {
    const duplicate = (original: ReceiptVerdict['original']) =>
      answered({ state: 'BE', reasons: [E02], original });

    test('the original counts when a sobre of ours carried the CFE there', async () => {
      const { idReceptor, token } = ORIGINAL;
      expect(await judged({ verdict: duplicate(ORIGINAL), ours: [3n, 7n] })).toEqual({
        kind: 'original',
        idReceptor,
        token,
      });
    });

    test('so it does when the receipt there is this very one: our sobre was lost with a restored database', async () => {
      const verdict = duplicate(ORIGINAL);
      expect(await judged({ verdict, first: answered({ ordinal: 3 }) })).toMatchObject({
        kind: 'original',
        idReceptor: '77',
      });
      expect(await judged({ verdict, first: { kind: 'notYet', code: '105' } })).toMatchObject({
        kind: 'notYet',
      });
    });

    test.each([{ signedAt: '2026-03-02T08:59:59-03:00' }, { signedAt: undefined }, { numero: 13 }])(
      'an original that is not surely ours (%j) needs a person',
      async (other) => {
        expect(await judged({ verdict: duplicate(ORIGINAL), first: answered(other) })).toMatchObject({
          kind: 'stuck',
          reason: 'duplicate.not_ours',
        });
      },
    );

    test('an original that is the very sobre asked about is none to ask', async () => {
      const itself = { ...ORIGINAL, idemisor: '7', idReceptor: '4242' };
      expect(await judged({ verdict: duplicate(itself) })).toMatchObject({
        kind: 'stuck',
        reason: 'duplicate.not_ours',
      });
    });

    test('however many they are, each sobre that brought some of them is asked about once for all of those', async () => {
      const cfes = Array.from({ length: 40 }, (_, i) => ({
        ...cfe,
        id: `cfe-${i}`,
        numero: 100 + i,
        place: i + 1,
      }));
      const original = (i: number) => (i % 2 === 0 ? ORIGINAL : { ...ORIGINAL, idReceptor: '78' });
      const receipts = cfes.map(({ numero, place }, i) => ({
        ...RECEIPT,
        ordinal: place,
        numero,
        state: 'BE',
        reasons: [E02],
        original: original(i),
      }));
      // The last one is there by somebody else.
      const there = receipts.slice(0, -1).map((receipt) => ({ ...receipt, state: 'AE', reasons: [] }));
      const { authority, questions } = authorityWith({
        verdict: { kind: 'answered', ack: { ...CARATULA, receipts } },
        first: { kind: 'answered', ack: { ...CARATULA, receipts: there } },
      });

      const said = await authority.askVerdicts(cfes, sobre);

      expect(said).toMatchObject({
        outcomes: cfes.map((_, i) =>
          i === 39
            ? { kind: 'stuck', reason: 'duplicate.not_ours' }
            : { kind: 'original', idReceptor: original(i).idReceptor },
        ),
      });
      expect(questions).toEqual([sobre.idReceptor, '77', '78']);
    });

    test('where the answer does not say, the consultation does', async () => {
      const found: FindCfeAnswer = { kind: 'found', state: 'AE', askFrom: null, ...ORIGINAL };
      expect(await judged({ verdict: duplicate(undefined), found, ours: [3n] })).toMatchObject({
        kind: 'original',
        idReceptor: '77',
      });
      expect(await judged({ verdict: duplicate(undefined), found: { kind: 'absent' } })).toMatchObject({
        kind: 'repeat',
        reached: true,
      });
    });
  });
});

describe('findReceipt of the authority', () => {
  const found: FindCfeAnswer = { kind: 'found', state: 'AE', askFrom: null, ...ORIGINAL };
  const looked = (of: Parameters<typeof authorityWith>[0]) => authorityWith(of).authority.findReceipt(cfe);

  test.each<[string, Parameters<typeof authorityWith>[0], object]>([
    [
      'a number that is there by a sobre of ours',
      { found, ours: [3n] },
      { kind: 'received', idReceptor: '77', token: ORIGINAL.token },
    ],
    [
      'one that is there by a sobre of ours that a restored database lacks',
      { found, first: answered({}) },
      { kind: 'received', idReceptor: '77' },
    ],
    [
      'one that is there by a sobre of others',
      { found, first: answered({ signedAt: '2026-03-02T08:59:59-03:00' }) },
      { kind: 'others' },
    ],
    [
      'one whose sobre has no verdict that would tell',
      { found, first: { kind: 'notYet', code: '105' } },
      { kind: 'repeat', reached: true },
    ],
    ['one that is not there', { found: { kind: 'absent' } }, { kind: 'absent' }],
    ['one that nobody can ask for', { opensKey: false }, { kind: 'stuck', reason: 'signing' }],
  ])('%s', async (_, of, answer) => {
    expect(await looked(of)).toMatchObject(answer);
  });
});

describe('findSobre of the authority', () => {
  test('one question covers the days from the first to the last send', async () => {
    const { authority, asked } = authorityWith({});
    expect(await authority.findSobre(cfe, sobre)).toEqual({ kind: 'absent' });
    expect(asked.map(({ to, from }) => (to.getTime() - from.getTime()) / 3_600_000)).toEqual([
      expect.closeTo(48, 1),
    ]);
  });

  test('a send that was begun anew weeks later is looked for in spans that the list takes, the latest first', async () => {
    const later = { ...SOBRE, sendingAt: new Date('2026-05-01T12:00:00Z') };
    const { authority, asked } = authorityWith({
      shipments: [{ kind: 'absent' }, { kind: 'refused' }, { kind: 'absent' }],
    });
    expect(await authority.findSobre(cfe, later)).toEqual({ kind: 'refused' });
    expect(asked).toHaveLength(3);
    expect(asked.every(({ from, to }) => to.getTime() - from.getTime() <= 31 * 86_400_000)).toBe(true);
    expect(asked[0]?.to).toEqual(new Date('2026-05-02T12:00:00Z'));
    expect(asked.at(-1)?.from).toEqual(new Date('2026-03-01T12:00:00Z'));
  });
});

test('a key that cannot be opened needs a person, and nothing is sent', async () => {
  const { authority, asked } = authorityWith({ opensKey: false });
  expect(await authority.findSobre(cfe, sobre)).toMatchObject({ kind: 'stuck', reason: 'signing' });
  expect(asked).toEqual([]);
});
