import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { prepareSobre, signWaitingCfes } from '../../../../src/activities/authority/prepareSobre.ts';
import { issueCfe } from '../../../../src/commands/receipts/issueCfe.ts';
import { UnsealError } from '../../../../src/crypto/sealed.ts';
import { listSobresOfCfe, loadSobre } from '../../../../src/db/authority/sobres.ts';
import { findCurrentCertificate, replaceCertificate } from '../../../../src/db/enterprises/certificates.ts';
import { Certificate } from '../../../../src/db/entities/enterprises.ts';
import { OutboxMessage } from '../../../../src/db/entities/operations.ts';
import { Cfe } from '../../../../src/db/entities/receipts.ts';
import { markStuck } from '../../../../src/db/receipts/cfes.ts';
import { firstIdemisor, MOST_SOBRE_BYTES } from '../../../../src/domain/authority/sobre.ts';
import { formatCfeId } from '../../../../src/domain/receipts/cfeId.ts';
import { montevideoDate, montevideoTimestamp } from '../../../../src/domain/values/montevideo.ts';
import { anAccount } from '../../../support/commandDeps.ts';
import { cloneDatabase, type TestDatabase } from '../../../support/database/database.ts';
import { CLOSED, sobreRow, take, takeDeps } from '../../../support/database/taking.ts';
import { aReadyEnterprise, giveCae } from '../../../support/enterprises/enterprises.ts';
import { aCfeBody } from '../../../support/receipts/cfeBodies.ts';
import { fromJson } from '../../../support/receipts/exactJson.ts';
import { day } from '../../../support/receipts/papers.ts';
import { aSobreOf, givePendingCfes } from '../../../support/receipts/pendingCfes.ts';
import { referTo } from '../../../support/receipts/references.ts';
import { decideCfe } from '../../../support/temporal/verdicts.ts';
import { webhookDeps } from '../../../support/webhooks/deliveries.ts';

const TAKEN = new Date();
const LATER = new Date(TAKEN.getTime() + 3_600_000);
const DAY = 86_400_000;
/** Signed, and waiting for its slot. */
const WRITTEN = { kind: 'waits' };
const stuckAt = (explanation: unknown) => ({
  kind: 'stuck',
  step: 'sign',
  stuck: [{ reason: 'signing', explanation, cfeIds: ['101-1'] }],
  goesOn: false,
});

describe('signing a CFE that has a sobre to itself', () => {
  let db: TestDatabase;
  let accountId: string;
  beforeAll(async () => {
    db = await cloneDatabase({ worker: true });
    accountId = await anAccount(db.orm);
  });
  afterAll(() => db[Symbol.asyncDispose]());

  /** A CFE as it was taken, with the certificate that is to sign it; its CAE expires in so many days. */
  async function aCfe(caeDays = 365) {
    const rut = await aReadyEnterprise(db.orm, accountId, {
      caes: [{ type: 'ETICKET', expirationDate: day(caeDays) }],
    });
    const deps = { ...webhookDeps(db.orm), clock: () => TAKEN };
    const body = fromJson(JSON.stringify(aCfeBody()));
    const cfe = await issueCfe(deps, { accountId, rut, environment: 'production', body });
    const { id, certificateId, sobreId } = cfe;
    if (sobreId === null) throw new Error('it was to go at once');
    return { id, rut, certificateId, sobreId };
  }
  /** Uploads another certificate, past the checks of an upload; its id. */
  async function replace(rut: string, dates: { notBefore?: Date; notAfter?: Date } = {}): Promise<string> {
    const { id } = await db.orm.em.fork().transactional((em) =>
      replaceCertificate(em, {
        id: randomUUID(),
        rut,
        environment: 'production',
        subject: 'Comercial Ñandú S.A.',
        notBefore: new Date(TAKEN.getTime() - DAY),
        notAfter: new Date(TAKEN.getTime() + DAY),
        certificate: Buffer.from('another'),
        sealedKey: 'sealed',
        createdAt: LATER,
        ...dates,
      }),
    );
    return id;
  }
  /** Signs at `at` with keys that open for all certificates but those that are lost. */
  const signingDeps = (lost: string[], at = LATER) =>
    takeDeps(db.worker, {
      clock: () => at,
      gate: CLOSED,
      signDocument({ signedAt }, { id, sealedKey }) {
        if (lost.includes(id) || sealedKey !== 'sealed')
          throw new UnsealError('unknown_key', 'no key opens it');
        return { xml: `<CFE at="${signedAt}" by="${id}"/>`, digest: `${signedAt} ${id}` };
      },
    });
  const signing = (lost: string[], at = LATER) => {
    const deps = signingDeps(lost, at);
    return (sobreId: string) => take(deps, sobreId);
  };
  const rowOf = (id: string) => db.orm.em.fork().findOneOrFail(Cfe, { id }, { populate: ['signedXml'] });

  test('is done with the certificate and the moment that were fixed when the number was taken', async () => {
    const { id, rut, certificateId, sobreId } = await aCfe();
    await replace(rut);

    expect(await signing([])(sobreId)).toEqual(WRITTEN);

    const signedAt = montevideoTimestamp(TAKEN);
    expect(await rowOf(id)).toMatchObject({
      certificateId,
      digest: `${signedAt} ${certificateId}`,
      document: { signedAt },
    });
  });

  test('a note whose original has no verdict yet waits for no slot and no person; once that has one, for a sobre', async () => {
    const { id, rut } = await aCfe();
    const original = await rowOf(id);
    const deps = { ...webhookDeps(db.orm), clock: () => TAKEN };
    await giveCae(db.orm, rut, { type: 'ETICKET_NC' });
    const body = fromJson(JSON.stringify(aCfeBody({ type: 'ETICKET_NC', reference: formatCfeId(original) })));
    const note = await issueCfe(deps, { accountId, rut, environment: 'production', body });
    expect(note).toMatchObject({ held: true, sobreId: null });
    await signWaitingCfes(signingDeps([]));
    // It can be shown already.
    expect(await rowOf(note.id)).toMatchObject({ held: true, sobreId: null, status: 'PENDING' });
    expect((await rowOf(note.id)).signedXml).toContain('<CFE');
    await decideCfe({ orm: db.worker }, id, { status: 'ACCEPTED' });
    expect(await rowOf(note.id)).toMatchObject({ held: false, sobreId: null, stuckReason: null });
  });

  test('its key lost: a certificate that was uploaded since signs, at a moment fixed with it', async () => {
    const { id, rut, certificateId, sobreId } = await aCfe();
    const attempt = signing([certificateId]);
    const words = expect.stringMatching(/upload a new certificate; then retry\.$/);
    expect(await attempt(sobreId)).toEqual(stuckAt(words));
    // It waits for support now, whose retry brings it on.
    expect(await attempt(sobreId)).toMatchObject({ kind: 'stuck', step: 'sign' });
    expect(await rowOf(id)).toMatchObject({ stuckReason: 'signing', digest: null });
    const current = await replace(rut);
    await markStuck(db.orm.em.fork(), [id], null);

    expect(await attempt(sobreId)).toEqual(WRITTEN);

    const signedAt = montevideoTimestamp(LATER);
    expect(await rowOf(id)).toMatchObject({
      certificateId: current,
      signedXml: `<CFE at="${signedAt}" by="${current}"/>`,
      digest: `${signedAt} ${current}`,
      document: { signedAt, numero: 1 },
      stuckReason: null,
    });
  });

  test('its certificate revoked: it waits for support, and a certificate that was uploaded since signs', async () => {
    const { id, rut, certificateId, sobreId } = await aCfe();
    await db.orm.em.fork().nativeUpdate(Certificate, { id: certificateId }, { revokedAt: TAKEN });
    expect(await signing([])(sobreId)).toEqual(stuckAt(expect.stringMatching(/certificate was revoked/)));
    const current = await replace(rut);
    await markStuck(db.orm.em.fork(), [id], null);

    expect(await signing([])(sobreId)).toEqual(WRITTEN);
    expect(await rowOf(id)).toMatchObject({ certificateId: current, stuckReason: null });
  });

  test('what was signed once is never signed anew', async () => {
    const { id, rut, certificateId, sobreId } = await aCfe();
    await signing([])(sobreId);
    const before = await rowOf(id);
    await replace(rut);

    expect(await signing([certificateId])(sobreId)).toEqual(WRITTEN);

    const { certificateId: kept, signedXml, digest, document } = await rowOf(id);
    expect({ kept, signedXml, digest, document }).toEqual({
      kept: certificateId,
      signedXml: before.signedXml,
      digest: before.digest,
      document: before.document,
    });
  });

  test('of several at once, with the new certificate and with the old, one signature stands, and all fits it', async () => {
    const { id, rut, certificateId, sobreId } = await aCfe();
    await replace(rut);

    await Promise.all(
      [[certificateId], [], [certificateId], []].map((lost, i) =>
        signing(lost, new Date(LATER.getTime() + i * 1_000))(sobreId),
      ),
    );

    const { certificateId: by, document, signedXml, digest } = await rowOf(id);
    expect(digest).toBe(`${document.signedAt} ${by}`);
    expect(signedXml).toBe(`<CFE at="${document.signedAt}" by="${by}"/>`);
    expect((await sobreRow(db.orm, sobreId)).xml).toContain(signedXml);
  });

  test('signed with the new certificate while an attempt has the old one in hand: that attempt writes nothing', async () => {
    const { id, rut, certificateId, sobreId } = await aCfe();
    const current = await replace(rut);
    const before = await loadSobre(db.worker.em.fork(), sobreId);
    const later = await loadSobre(db.worker.em.fork(), sobreId);
    expect(await prepareSobre(signingDeps([certificateId]), before)).toEqual({ kind: 'changed' });

    expect(await prepareSobre(signingDeps([]), later)).toEqual({ kind: 'changed' });

    expect(await sobreRow(db.orm, sobreId)).toMatchObject({ state: 'OPEN', idemisor: null, xml: null });
    expect(await signing([])(sobreId)).toEqual(WRITTEN);
    const { signedXml } = await rowOf(id);
    expect(signedXml).toContain(current);
    expect((await sobreRow(db.orm, sobreId)).xml).toContain(signedXml);
  });

  test.each<[string, { notBefore?: Date; notAfter?: Date }, number, RegExp]>([
    ['it is not valid yet', { notBefore: new Date(LATER.getTime() + 1) }, 365, /not valid now/],
    ['it is not valid any more', { notAfter: new Date(LATER.getTime() - 1) }, 365, /not valid now/],
    ['the CAE expired meanwhile', { notAfter: new Date(TAKEN.getTime() + 9 * DAY) }, 1, /Its CAE expired on/],
  ])('a new certificate does not sign where %s', async (_, dates, caeDays, words) => {
    const { id, rut, certificateId, sobreId } = await aCfe(caeDays);
    await replace(rut, dates);

    const at = caeDays === 1 ? new Date(TAKEN.getTime() + 3 * DAY) : LATER;
    expect(await signing([certificateId], at)(sobreId)).toEqual(stuckAt(expect.stringMatching(words)));

    expect(await rowOf(id)).toMatchObject({ certificateId, digest: null, stuckReason: 'signing' });
  });

  test('a new certificate whose key is lost as well leaves it stuck', async () => {
    const { id, rut, certificateId, sobreId } = await aCfe();
    const current = await replace(rut);

    const words = expect.stringContaining('Nor can the key of the current certificate.');
    expect(await signing([certificateId, current])(sobreId)).toEqual(stuckAt(words));

    expect((await findCurrentCertificate(db.orm.em.fork(), rut, 'production'))?.id).toBe(current);
    expect(await rowOf(id)).toMatchObject({ certificateId, digest: null });
  });
});

describe('writing a sobre of several', () => {
  let db: TestDatabase;
  let accountId: string;
  let rut: string;
  beforeAll(async () => {
    db = await cloneDatabase({ worker: true });
    accountId = await anAccount(db.orm);
  });
  afterAll(() => db[Symbol.asyncDispose]());

  /** So many CFEs that wait, in a sobre. */
  async function several(count: number): Promise<{ cfes: Cfe[]; sobreId: string }> {
    rut = await aReadyEnterprise(db.orm, accountId, { caes: [{ type: 'ETICKET' }] });
    const cfes = await givePendingCfes(db.orm, { accountId, rut, count, from: TAKEN });
    return { cfes, sobreId: await aSobreOf(db.orm, cfes) };
  }
  const rows = (cfes: readonly Cfe[]) =>
    db.orm.em
      .fork()
      .find(
        Cfe,
        { id: { $in: cfes.map(({ id }) => id) } },
        { orderBy: { sequence: 'asc' }, populate: ['signedXml'] },
      );
  const deps = (more: Parameters<typeof takeDeps>[1] = {}) => takeDeps(db.worker, { gate: CLOSED, ...more });
  const started = async (sobreId: string) =>
    db.orm.em.fork().count(OutboxMessage, { workflow: 'issueCfes', input: { sobreId } });

  test('each is signed once, and all stand in the order of their places under the next number', async () => {
    const { cfes, sobreId } = await several(3);
    let signed = 0;
    const signDocument = () => {
      signed += 1;
      return { xml: `<CFE s="${signed}"/>`, digest: `${signed}` };
    };

    expect(await take(deps({ signDocument }), sobreId)).toEqual({ kind: 'waits' });
    const { xml } = await sobreRow(db.orm, sobreId);
    expect(await take(deps({ signDocument }), sobreId)).toEqual({ kind: 'waits' });

    // One number was used before these CFEs (test/support/receipts/pendingCfes.ts).
    const second = firstIdemisor(montevideoDate(new Date())) + 1n;
    expect(await sobreRow(db.orm, sobreId)).toMatchObject({ state: 'PREPARED', idemisor: second, xml });
    expect(xml).toMatch(
      new RegExp(
        `<Idemisor>${second}</Idemisor><CantCFE>3</CantCFE>.*<CFE s="1"/>.*<CFE s="2"/>.*<CFE s="3"/>`,
        's',
      ),
    );
    expect(signed).toBe(3);
    expect((await rows(cfes)).map(({ digest }) => digest)).toEqual(['1', '2', '3']);
  });

  test.each([
    ['whose key is lost', () => new UnsealError('unknown_key', 'no key opens it')],
    ['that a mistake of ours does not sign', () => new TypeError('that field is undefined')],
  ])(
    'one %s gets a sobre to itself, which is started; the others go on with the signatures they have',
    async (_, fault) => {
      const { cfes, sobreId } = await several(4);
      let signatures = 0;
      let looked = 0;
      const own = deps({
        gatekeeper: { scheduleLook: () => void (looked += 1) },
        signDocument: () => {
          signatures += 1;
          if (signatures === 2) throw fault();
          return { xml: `<CFE s="${signatures}"/>`, digest: `${signatures}` };
        },
      });

      const cfeIds = cfes.map(formatCfeId);
      expect(await take(own, sobreId)).toEqual({
        kind: 'ended',
        endings: Object.fromEntries(cfeIds.map((id) => [id, 'LEFT'])),
        codes: [],
      });

      expect(await sobreRow(db.orm, sobreId)).toMatchObject({
        state: 'DISSOLVED',
        idemisor: null,
        xml: null,
      });
      const [first, second, third, fourth] = await rows(cfes);
      expect([first, third, fourth]).toMatchObject(
        ['1', '3', '4'].map((digest) => ({ digest, sobreId: null, stuckReason: null, status: 'PENDING' })),
      );
      expect(second).toMatchObject({ digest: null, status: 'PENDING' });
      const alone = second?.sobreId ?? '';
      expect(await listSobresOfCfe(db.orm.em.fork(), second?.id ?? '')).toMatchObject([
        { id: sobreId },
        { id: alone, size: 1, state: 'OPEN' },
      ]);
      expect(await started(alone)).toBe(1);
      expect(looked).toBeGreaterThan(0);

      // The others go together next, signed as they are.
      const next = await aSobreOf(db.orm, [first, third, fourth] as Cfe[]);
      expect(await take(own, next)).toEqual({ kind: 'waits' });
      expect((await sobreRow(db.orm, next)).xml).toMatch(/<CFE s="1"\/>.*<CFE s="3"\/>.*<CFE s="4"\/>/s);
      expect(signatures).toBe(4);
    },
  );

  test('one whose certificate is another than that of the first goes apart', async () => {
    const { cfes, sobreId } = await several(2);
    const own = db.orm.em.fork();
    const [certificate] = await own.execute<{ id: string }[]>(
      `insert into certificate (id, rut, environment, subject, not_before, not_after, certificate, sealed_key, created_at, replaced_at)
       select gen_random_uuid(), rut, environment, subject, not_before, not_after, certificate, sealed_key, created_at, now()
       from certificate where rut = ? returning id`,
      [rut],
    );
    await own.nativeUpdate(Cfe, { id: cfes[1]?.id ?? '' }, { certificateId: certificate?.id ?? '' });

    expect(await take(deps(), sobreId)).toMatchObject({ kind: 'ended' });

    const [first, second] = await rows(cfes);
    expect(first).toMatchObject({ sobreId: null });
    expect(first?.digest).not.toBeNull();
    expect(second?.digest).toBeNull();
    expect(await take(deps(), second?.sobreId ?? '')).toEqual({ kind: 'waits' });
    expect((await rows(cfes))[1]).toMatchObject({ certificateId: certificate?.id, status: 'PENDING' });
  });

  test('more than the authority takes in one: none goes, all are signed, and each knows its size from now on', async () => {
    const { cfes, sobreId } = await several(3);
    const xml = `<CFE>${'ñ'.repeat(MOST_SOBRE_BYTES / 5)}</CFE>`;
    const large = deps({ signDocument: () => ({ xml, digest: 'eA==' }) });

    expect(await take(large, sobreId)).toMatchObject({ kind: 'ended' });

    expect(await rows(cfes)).toMatchObject(
      cfes.map(() => ({ sobreId: null, digest: 'eA==', signedXml: xml })),
    );
    expect(await sobreRow(db.orm, sobreId)).toMatchObject({ state: 'DISSOLVED', idemisor: null });
    // Two of them fit.
    const next = await aSobreOf(db.orm, cfes.slice(0, 2));
    expect(await take(large, next)).toEqual({ kind: 'waits' });
    expect(await sobreRow(db.orm, next)).toMatchObject({ state: 'PREPARED' });
  });

  test('one alone goes however large it is', async () => {
    const { sobreId } = await several(1);
    const xml = `<CFE>${'x'.repeat(MOST_SOBRE_BYTES + 1)}</CFE>`;
    expect(await take(deps({ signDocument: () => ({ xml, digest: 'eA==' }) }), sobreId)).toEqual({
      kind: 'waits',
    });
    expect(await sobreRow(db.orm, sobreId)).toMatchObject({ state: 'PREPARED' });
  });

  test('a note whose original was rejected ends REJECTED, unsigned; the others go on', async () => {
    const { cfes, sobreId } = await several(3);
    const [original] = await givePendingCfes(db.orm, { accountId, rut, count: 1, from: TAKEN });
    await referTo(db.orm.em.fork(), cfes[1]?.id ?? '', [original?.id ?? ''], { held: false });
    await decideCfe({ orm: db.worker }, original?.id ?? '', { status: 'REJECTED' });

    expect(await take(deps(), sobreId)).toMatchObject({
      kind: 'ended',
      endings: { '101-1': 'LEFT', '101-2': 'REJECTED', '101-3': 'LEFT' },
      codes: ['reference.rejected'],
    });

    expect(await rows(cfes)).toMatchObject([
      { status: 'PENDING', sobreId: null },
      { status: 'REJECTED', digest: null, rejection: [{ code: 'reference.rejected' }] },
      { status: 'PENDING', sobreId: null },
    ]);
  });

  test('CFEs that wait are signed meanwhile, once each; one that cannot be gets a sobre to itself', async () => {
    const { cfes } = await several(2);
    await db.orm.em.fork().nativeUpdate(Cfe, { rut }, { sobreId: null });
    let calls = 0;
    const waiting = deps({
      clock: () => new Date(TAKEN.getTime() + DAY),
      signDocument: (_, certificate) => {
        // Those of other tests wait as well.
        if (certificate.rut === rut) calls += 1;
        if (certificate.rut === rut && calls === 1) throw new UnsealError('unknown_key', 'no key opens it');
        return { xml: '<CFE/>', digest: 'eA==' };
      },
    });

    await signWaitingCfes(waiting);
    await signWaitingCfes(waiting);

    expect(calls).toBe(2);
    const [first, second] = await rows(cfes);
    expect(second).toMatchObject({ digest: 'eA==', sobreId: null });
    expect(first).toMatchObject({ digest: null, status: 'PENDING' });
    expect(await started(first?.sobreId ?? '')).toBe(1);
  });
});
