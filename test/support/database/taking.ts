import type { Authority } from '../../../src/activities/authority/authority.ts';
import { createTakeToVerdict, type TakeDeps } from '../../../src/activities/authority/takeToVerdict.ts';
import { Sobre } from '../../../src/db/entities/authority.ts';
import type { Orm } from '../../../src/db/orm.ts';
import type { VerdictOutcome } from '../../../src/dgi/cfeAnswers.ts';
import type { VerdictResult } from '../../../src/domain/authority/activityResults.ts';
import type { Gate } from '../../../src/gate/gate.ts';
import { idleGatekeeper, idleOutbox } from '../commandDeps.ts';
import { asActivity } from '../temporal/activityContext.ts';

/** Signs nothing: the envelope of a sobre is its own bytes. */
export const signedAsItIs: Authority['signSobre'] = async ({ environment, idemisor, xml }) => ({
  kind: 'signed',
  environment,
  rut: undefined,
  idemisor,
  envelope: xml,
});

/** An authority that is not to be asked anything. */
export const SILENT: Authority = {
  signSobre: signedAsItIs,
  sendSobre: () => Promise.reject(new Error('it was sent to')),
  findSobre: () => Promise.reject(new Error('it was asked for the sobre')),
  findReceipt: () => Promise.reject(new Error('it was asked for the number')),
  findState: () => Promise.reject(new Error('it was asked for the state of the number')),
  askVerdicts: () => Promise.reject(new Error('it was asked for verdicts')),
};

/** A gate that lets nothing through. */
export const CLOSED: Gate = {
  enter: async () => 'waits',
  untilSlot: async () => false,
  wait: async () => {},
  afterFailure: async () => 'waits',
  leave: async () => {},
  giveUp: async () => {},
  untilQuestion: async () => null,
};

/** A gate that lets everything through at once, and for which the authority is never away. */
const OPEN: Gate = {
  ...CLOSED,
  enter: async () => ({ dueAt: 0, isProbe: false }),
  untilSlot: async () => true,
  afterFailure: async () => 'tryAgain',
};

/** What taking a sobre to its verdicts needs: every CFE is signed alike, nobody is to be asked, all may pass. */
export const takeDeps = (orm: Orm, more: Partial<TakeDeps> = {}): TakeDeps => ({
  orm,
  clock: () => new Date(),
  outbox: idleOutbox,
  gatekeeper: idleGatekeeper,
  authority: SILENT,
  gate: OPEN,
  authorityRut: { production: '214844360018', sandbox: '219999830019' },
  signDocument: () => ({ xml: '<CFE/>', digest: 'eA==' }),
  pollLongestSeconds: 60,
  patienceSeconds: 60,
  ...more,
});

/** One attempt at taking a sobre to its verdicts. */
export const take = (deps: TakeDeps, sobreId: string): Promise<VerdictResult> =>
  asActivity(() => createTakeToVerdict(deps)(sobreId));

/** The answer that says this of CFEs, by their numbers; of the others it says `otherwise`. */
export const saying =
  (said: ReadonlyMap<number, VerdictOutcome>, otherwise: VerdictOutcome): Authority['askVerdicts'] =>
  async (cfes) => ({ kind: 'answered', outcomes: cfes.map(({ numero }) => said.get(numero) ?? otherwise) });

/** A sobre as it stands, with its bytes. */
export const sobreRow = (orm: Orm, id: string): Promise<Sobre> =>
  orm.em.fork().findOneOrFail(Sobre, { id }, { populate: ['xml'] });
