import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createSignCfe } from '../../../src/activities/signCfe.ts';
import { prepareSobre } from '../../../src/activities/steps/prepareSobre.ts';
import { storeVerdict } from '../../../src/activities/steps/storeVerdict.ts';
import { lockCfe } from '../../../src/db/cfes.ts';
import { Sobre } from '../../../src/db/entities/authority.ts';
import { Cfe } from '../../../src/db/entities/receipts.ts';
import { markSending } from '../../../src/db/sobres.ts';
import { anAccount, idleOutbox, outboxOf } from '../../support/commandDeps.ts';
import { cloneDatabase, type TestDatabase } from '../../support/database.ts';
import { aReadyEnterprise } from '../../support/enterprises.ts';
import { givePendingCfes } from '../../support/pendingCfes.ts';
import { until } from '../../support/until.ts';

const AT_ONCE = 4;

describe('steps of a CFE that run side by side', () => {
  let db: TestDatabase;
  let accountId: string;
  beforeAll(async () => {
    db = await cloneDatabase({ worker: true });
    accountId = await anAccount(db.orm);
  });
  afterAll(() => db[Symbol.asyncDispose]());

  const clock = () => new Date();
  const deps = () => ({
    orm: db.worker,
    clock,
    outbox: idleOutbox,
    authorityRut: { production: '214844360018', sandbox: '219999830019' },
  });
  const pending = async (count: number): Promise<Cfe[]> => {
    const rut = await aReadyEnterprise(db.orm, accountId, { caes: [{ type: 'ETICKET' }] });
    return givePendingCfes(db.orm, { accountId, rut, count, from: new Date() });
  };
  const one = async (): Promise<Cfe> => (await pending(1))[0] as Cfe;
  const sobresOf = ({ id }: Cfe) => db.orm.em.fork().find(Sobre, { cfeUuid: id }, { populate: ['xml'] });
  const sign = ({ id }: Cfe, xml = '<CFE/>') =>
    createSignCfe({ ...deps(), signDocument: () => ({ xml, digest: xml }) })(id);

  test('signed by several, a CFE has one sobre, around the XML that stands, with the next number', async () => {
    const cfe = await one();

    await Promise.all(Array.from({ length: AT_ONCE }, (_, i) => sign(cfe, `<CFE n="${i}"/>`)));

    const { digest } = await db.orm.em.fork().findOneOrFail(Cfe, { id: cfe.id });
    const sobres = await sobresOf(cfe);
    // One number was used before these CFEs (test/support/pendingCfes.ts).
    expect(sobres).toMatchObject([{ idemisor: 2n, state: 'PREPARED', sendingAt: null }]);
    expect(sobres[0]?.xml).toMatch(new RegExp(`<Idemisor>2</Idemisor>.*${digest}</EnvioCFE>$`));
    expect((await prepareSobre(deps(), cfe)).id).toBe(sobres[0]?.id);
  });

  test('begun by several, a send is begun once', async () => {
    const cfe = await one();
    await sign(cfe);
    const [sobre] = (await sobresOf(cfe)) as [Sobre];

    const begun = await Promise.all(
      Array.from({ length: AT_ONCE }, () => markSending(db.orm.em.fork(), sobre, clock())),
    );

    expect(begun.filter((each) => each)).toHaveLength(1);
  });

  test('a send does not begin that waits while another step decides the CFE', async () => {
    const cfe = await one();
    await sign(cfe);
    const [sobre] = (await sobresOf(cfe)) as [Sobre];

    const begun = await whileLocked(cfe, async (em) => {
      await em.nativeUpdate(Cfe, { id: cfe.id }, { status: 'REJECTED', settledAt: clock() });
      return () => markSending(db.orm.em.fork(), sobre, clock());
    });

    expect(begun).toBe(false);
    expect(await sobresOf(cfe)).toMatchObject([{ state: 'PREPARED' }]);
  });

  test('a note that is being issued while the verdict is stored is told of it', async () => {
    const [original, note] = (await pending(2)) as [Cfe, Cfe];

    await whileLocked(original, async (em) => {
      // Whoever issues a note holds its original, and is seen by nobody until then.
      await em.nativeUpdate(Cfe, { id: note.id }, { referenceId: original.id });
      return () => storeVerdict(deps(), original.id, { status: 'ACCEPTED', reasons: [] });
    });

    expect(await outboxOf(db.orm, note.workflowId)).toMatchObject([{ signal: 'originalDecided' }]);
  });

  test('there is no verdict of which a note that waits is not told, whatever dies in between', async () => {
    const [original, note] = (await pending(2)) as [Cfe, Cfe];
    const em = db.orm.em.fork();
    await em.nativeUpdate(Cfe, { id: note.id }, { referenceId: original.id });
    const store = () => storeVerdict(deps(), original.id, { status: 'ACCEPTED', reasons: [] });
    await db.asOwner(`
      create function fail_to_tell() returns trigger language plpgsql as
        $$ begin raise exception 'disk full'; end $$;
      create trigger fail_to_tell before insert on outbox for each row execute function fail_to_tell()`);
    try {
      await expect(store()).rejects.toThrow('disk full');
    } finally {
      await db.asOwner('drop trigger fail_to_tell on outbox; drop function fail_to_tell()');
    }

    // Another attempt, with the same answer of the authority in its hands.
    await store();

    expect(await outboxOf(db.orm, note.workflowId)).toMatchObject([{ signal: 'originalDecided' }]);
  });

  /** Holds a CFE, begins a step that comes to wait for it, commits, and answers what the step came to. */
  async function whileLocked<T>(
    { rut, environment, type, sequence }: Cfe,
    work: (em: ReturnType<typeof db.orm.em.fork>) => Promise<() => Promise<T>>,
  ): Promise<T> {
    let step: Promise<T> | undefined;
    await db.orm.em.fork().transactional(async (em) => {
      await lockCfe(em, { rut, environment, type, sequence });
      step = (await work(em))();
      await until('its wait for the lock', 20, async () => {
        const [row] = await db.orm.em
          .fork()
          .execute<{ waiting: number }[]>(
            'select count(*)::int as waiting from pg_stat_activity where datname = current_database() and wait_event_type = ?',
            ['Lock'],
          );
        return row?.waiting === 1;
      });
    });
    if (!step) throw new Error('no step was begun');
    return step;
  }
});
