import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createSignCfe } from '../../../src/activities/signCfe.ts';
import { issueCfe } from '../../../src/commands/issueCfe.ts';
import { UnsealError } from '../../../src/crypto/sealed.ts';
import { currentCertificate, replaceCertificate } from '../../../src/db/certificates.ts';
import { Cfe } from '../../../src/db/entities/receipts.ts';
import { formatCfeId } from '../../../src/domain/cfeId.ts';
import { montevideoTimestamp } from '../../../src/domain/montevideo.ts';
import { aCfeBody } from '../../support/cfeBodies.ts';
import { anAccount } from '../../support/commandDeps.ts';
import { cloneDatabase, type TestDatabase } from '../../support/database.ts';
import { aReadyEnterprise, giveCae } from '../../support/enterprises.ts';
import { fromJson } from '../../support/exactJson.ts';
import { day } from '../../support/papers.ts';
import { webhookDeps } from '../../support/webhooks/deliveries.ts';

const TAKEN = new Date();
const LATER = new Date(TAKEN.getTime() + 3_600_000);
const DAY = 86_400_000;

describe('signing', () => {
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
    const { id, certificateId } = await issueCfe(deps, { accountId, rut, environment: 'production', body });
    return { id, rut, certificateId };
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
  const signing = (lost: string[], at = LATER) =>
    createSignCfe({
      orm: db.worker,
      clock: () => at,
      authorityRut: { production: '214844360018', sandbox: '219999830019' },
      signDocument({ signedAt }, { id, sealedKey }) {
        if (lost.includes(id) || sealedKey !== 'sealed')
          throw new UnsealError('unknown_key', 'no key opens it');
        return { xml: `<CFE at="${signedAt}" by="${id}"/>`, digest: `${signedAt} ${id}` };
      },
    });
  const rowOf = (id: string) => db.orm.em.fork().findOneOrFail(Cfe, { id }, { populate: ['signedXml'] });

  test('is done with the certificate and the moment that were fixed when the number was taken', async () => {
    const { id, rut, certificateId } = await aCfe();
    await replace(rut);

    expect(await signing([])(id)).toEqual({ kind: 'signed' });

    const signedAt = montevideoTimestamp(TAKEN);
    expect(await rowOf(id)).toMatchObject({
      certificateId,
      digest: `${signedAt} ${certificateId}`,
      document: { signedAt },
    });
  });

  test('a note whose original has no verdict yet names it; once that has one, it waits no more', async () => {
    const { id, rut } = await aCfe();
    const original = await rowOf(id);
    const deps = { ...webhookDeps(db.orm), clock: () => TAKEN };
    await giveCae(db.orm, rut, { type: 'ETICKET_NC' });
    const body = fromJson(JSON.stringify(aCfeBody({ type: 'ETICKET_NC', reference: formatCfeId(original) })));
    const note = await issueCfe(deps, { accountId, rut, environment: 'production', body });
    expect(await signing([])(note.id)).toEqual({ kind: 'waitsForOriginal', original: '101-1' });
    await db.orm.em.fork().nativeUpdate(Cfe, { id }, { status: 'ACCEPTED', settledAt: LATER });
    expect(await signing([])(note.id)).toEqual({ kind: 'signed' });
  });

  test('its key lost: a certificate that was uploaded since signs, at a moment fixed with it', async () => {
    const { id, rut, certificateId } = await aCfe();
    const signCfe = signing([certificateId]);
    expect(await signCfe(id)).toMatchObject({
      kind: 'stuck',
      reason: 'signing',
      explanation: expect.stringMatching(/upload a new certificate; then retry\.$/),
    });
    expect(await rowOf(id)).toMatchObject({ stuckReason: 'signing', digest: null });
    const current = await replace(rut);

    expect(await signCfe(id)).toEqual({ kind: 'signed' });

    const signedAt = montevideoTimestamp(LATER);
    expect(await rowOf(id)).toMatchObject({
      certificateId: current,
      signedXml: `<CFE at="${signedAt}" by="${current}"/>`,
      digest: `${signedAt} ${current}`,
      document: { signedAt, numero: 1 },
      stuckReason: null,
    });
  });

  test('what was signed once is never signed anew', async () => {
    const { id, rut, certificateId } = await aCfe();
    await signing([])(id);
    const before = await rowOf(id);
    await replace(rut);

    expect(await signing([certificateId])(id)).toEqual({ kind: 'signed' });

    const { certificateId: kept, signedXml, digest, document } = await rowOf(id);
    expect({ kept, signedXml, digest, document }).toEqual({
      kept: certificateId,
      signedXml: before.signedXml,
      digest: before.digest,
      document: before.document,
    });
  });

  test('of several at once, with the new certificate and with the old, one signature stands, and all fits it', async () => {
    const { id, rut, certificateId } = await aCfe();
    await replace(rut);

    await Promise.all(
      [[certificateId], [], [certificateId], []].map((lost, i) =>
        signing(lost, new Date(LATER.getTime() + i * 1_000))(id),
      ),
    );

    const { certificateId: by, document, signedXml, digest } = await rowOf(id);
    expect(digest).toBe(`${document.signedAt} ${by}`);
    expect(signedXml).toBe(`<CFE at="${document.signedAt}" by="${by}"/>`);
  });

  test.each<[string, { notBefore?: Date; notAfter?: Date }, number, RegExp]>([
    ['it is not valid yet', { notBefore: new Date(LATER.getTime() + 1) }, 365, /not valid now/],
    ['it is not valid any more', { notAfter: new Date(LATER.getTime() - 1) }, 365, /not valid now/],
    ['the CAE expired meanwhile', { notAfter: new Date(TAKEN.getTime() + 9 * DAY) }, 1, /Its CAE expired on/],
  ])('a new certificate does not sign where %s', async (_, dates, caeDays, words) => {
    const { id, rut, certificateId } = await aCfe(caeDays);
    await replace(rut, dates);

    const at = caeDays === 1 ? new Date(TAKEN.getTime() + 3 * DAY) : LATER;
    expect(await signing([certificateId], at)(id)).toMatchObject({
      kind: 'stuck',
      reason: 'signing',
      explanation: expect.stringMatching(words),
    });

    expect(await rowOf(id)).toMatchObject({ certificateId, digest: null, stuckReason: 'signing' });
  });

  test('a new certificate whose key is lost as well leaves it stuck', async () => {
    const { id, rut, certificateId } = await aCfe();
    const current = await replace(rut);

    expect(await signing([certificateId, current])(id)).toMatchObject({
      kind: 'stuck',
      reason: 'signing',
      explanation: expect.stringContaining('Nor can the key of the current certificate.'),
    });

    expect((await currentCertificate(db.orm.em.fork(), rut, 'production'))?.id).toBe(current);
    expect(await rowOf(id)).toMatchObject({ certificateId, digest: null });
  });
});
