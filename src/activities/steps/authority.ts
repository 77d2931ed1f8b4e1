import type { KeyObject } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import { UnsealError } from '../../crypto/sealed.ts';
import { currentSigner, requireSigner } from '../../db/certificates.ts';
import { Sobre } from '../../db/entities/authority.ts';
import type { Certificate } from '../../db/entities/enterprises.ts';
import type { Cfe } from '../../db/entities/receipts.ts';
import type { Orm } from '../../db/orm.ts';
import type {
  AskVerdictAnswer,
  Departure,
  DgiClient,
  FindSobreAnswer,
  SendAnswer,
  SobreTicket,
} from '../../dgi/client.ts';
import { instantOf } from '../../dgi/moments.ts';
import { type Answer, outcomeOf, type Unclear, unclear } from '../../dgi/outcomes.ts';
import type { DgiCredentials } from '../../dgi/wsSecurity.ts';
import type { OriginalAnswer, Reason, ReceiptVerdict } from '../../dgi/xml/ack.ts';
import type { FinalStatus } from '../../domain/cfeStatus.ts';
import { CFE_TYPES } from '../../domain/cfeTypes.ts';
import type { RejectionReason } from '../../domain/rejection.ts';

const DAY = 86_400_000;
/** The list of sobres takes 31 days at a time; the last is left for clocks that differ. */
const LONGEST_SPAN = 30 * DAY;

export type VerdictOutcome =
  | { kind: 'verdict'; status: FinalStatus; reasons: RejectionReason[] }
  /** The verdict that counts was given to another sobre of ours that carried the same CFE. */
  | { kind: 'original'; idReceptor: string; token: string }
  | { kind: 'notYet'; code: string }
  | { kind: 'recover' }
  | Unclear;

/**
 * The authority, as the activities see it: questions about one CFE and its sobre, every outcome told apart. Requests are
 * signed with `certificate`, the enterprise's current one, which is read where it is not given.
 */
export interface Authority {
  /** Sends nothing after `leaveBy`, and nothing unless `ready` answers true, which is waited for last. */
  sendSobre(cfe: Cfe, sobre: Sobre, departure: Departure, certificate?: Certificate): Promise<SendAnswer>;
  findSobre(cfe: Cfe, sobre: Sobre, certificate?: Certificate): Promise<FindSobreAnswer>;
  askVerdict(cfe: Cfe, sobre: Sobre, certificate?: Certificate): Promise<VerdictOutcome>;
  /** What state it says the fiscal number is in, and by which sobre. */
  findState(cfe: Cfe): Promise<FindStateAnswer>;
  /** Whether it has the fiscal number, by whichever sobre. */
  findReceipt(cfe: Cfe): Promise<FindReceiptAnswer>;
}

export type FindStateAnswer =
  /** Its state (AE, BE; null while there is none), from the sobre with that number. */
  { kind: 'found'; state: string | null; idemisor: string } | { kind: 'absent' } | Unclear;

export type FindReceiptAnswer =
  /** From a sobre of ours, with what to ask about that one with. */
  | ({ kind: 'received' } & SobreTicket)
  /** From a sobre of somebody else. */
  | { kind: 'others' }
  | { kind: 'absent' }
  | Unclear;

interface AuthorityDeps {
  readonly client: DgiClient;
  readonly orm: Orm;
  readonly privateKeyOf: (certificate: Certificate) => KeyObject;
}

/** The authority behind the SOAP client. `privateKeyOf` opens a sealed key; it throws when none of our keys fits. */
export function createAuthority(deps: AuthorityDeps): Authority {
  const { client } = deps;
  return {
    sendSobre: (cfe, { idemisor, xml }, departure, certificate) =>
      withCredentials(deps, { cfe, certificate }, (credentials) =>
        client.sendSobre(credentials, cfe.environment, { idemisor, xml, ...departure }),
      ),

    findSobre: (cfe, sobre, certificate) =>
      withCredentials(deps, { cfe, certificate }, async (credentials): Promise<FindSobreAnswer> => {
        let outcome: FindSobreAnswer = { kind: 'absent' };
        for (const span of spansOf(sobre)) {
          const answer = await client.findSobre(credentials, cfe.environment, {
            idemisor: sobre.idemisor,
            ...span,
          });
          if (answer.kind !== 'absent' && answer.kind !== 'refused') return answer;
          if (answer.kind === 'refused') outcome = answer;
        }
        return outcome;
      }),

    askVerdict: (cfe, sobre, certificate) =>
      withCredentials(deps, { cfe, certificate }, async (credentials): Promise<VerdictOutcome> => {
        const { idReceptor, token } = sobre;
        if (idReceptor === null || token === null) return { kind: 'recover' };
        const answer = await client.askVerdict(credentials, cfe.environment, { idReceptor, token });
        if (answer.kind !== 'answered') return answer;
        const verdict = judge(cfe, answer.ack.receipts);
        if (verdict.kind !== 'duplicate') return verdict;
        const original = await originalOf(client, credentials, cfe, verdict.original);
        if ('kind' in original) return original;
        // One that names the very sobre that was asked about would be asked about for ever.
        const ours = original.idReceptor !== idReceptor && (await isOurs(deps, credentials, cfe, original));
        if (typeof ours !== 'boolean') return ours;
        return verdictOutcome(ours ? 'E02 of ours' : 'E02 of others', { what: 'E02', original });
      }),

    findState: (cfe) =>
      withCredentials(deps, { cfe }, async (credentials): Promise<FindStateAnswer> => {
        const found = await client.findCfe(credentials, cfe.environment, numberOf(cfe));
        if (found.kind !== 'found') return found;
        return { kind: 'found', state: found.state, idemisor: found.idemisor };
      }),

    findReceipt: (cfe) =>
      withCredentials(deps, { cfe }, async (credentials): Promise<FindReceiptAnswer> => {
        const found = await client.findCfe(credentials, cfe.environment, numberOf(cfe));
        if (found.kind !== 'found') return found;
        const ours = await isOurs(deps, credentials, cfe, found);
        if (typeof ours === 'boolean') return ours ? { ...found, kind: 'received' } : { kind: 'others' };
        return ours.kind === 'stuck' || ours.kind === 'repeat'
          ? ours
          : unclear(
              'findCfe',
              'found without a verdict',
              'the number is there, in a sobre without a verdict yet',
            );
      }),
  };
}

/** Requests are signed with the current certificate: a CFE can still be followed after its own has expired. */
async function withCredentials<T>(
  { orm, privateKeyOf }: AuthorityDeps,
  { cfe, certificate: given }: { cfe: Cfe; certificate?: Certificate | undefined },
  call: (credentials: DgiCredentials) => Promise<T>,
): Promise<T | Unclear> {
  const certificate = given ?? (await currentOrOwn(orm.em.fork(), cfe));
  let privateKey: KeyObject;
  try {
    privateKey = privateKeyOf(certificate);
  } catch (error) {
    if (!(error instanceof UnsealError)) throw error;
    return unclear('ask', 'no key');
  }
  return call({ privateKey, certificateDer: certificate.certificate });
}

const currentOrOwn = async (em: EntityManager, cfe: Cfe): Promise<Certificate> =>
  (await currentSigner(em, cfe.rut, cfe.environment)) ?? (await requireSigner(em, cfe.certificateId));

/** Whether the sobre in which the authority has the number is one of ours with this CFE. */
async function isOurs(
  { client, orm }: AuthorityDeps,
  credentials: DgiCredentials,
  cfe: Cfe,
  first: Original,
): Promise<boolean | Exclude<AskVerdictAnswer, { kind: 'answered' }>> {
  if (await carried(orm.em.fork(), cfe, first.idemisor)) return true;
  // A database that was restored to an earlier moment does not know the last sobres that it sent.
  const answer = await client.askVerdict(credentials, cfe.environment, first);
  if (answer.kind !== 'answered') return answer;
  return answer.ack.receipts.some((receipt) => isSurelyThis(receipt, cfe));
}

/** What an answer says of our CFE, which is the first and only one of its sobre. */
function judge(
  cfe: Cfe,
  receipts: readonly ReceiptVerdict[],
): VerdictOutcome | { kind: 'duplicate'; original: OriginalAnswer | undefined } {
  const receipt = receipts.find(({ ordinal }) => ordinal === 1);
  if (!receipt) return verdictOutcome('no verdict on it', {});
  if (!isAbout(receipt, cfe)) return verdictOutcome('other receipt', {});
  const { state, reasons } = receipt;
  if (state === 'BE' && reasons.some(({ code }) => code === 'E02')) {
    return { kind: 'duplicate', original: receipt.original };
  }
  const known = (['AE', 'BE', 'CE'] as const).find((each) => each === state);
  return verdictOutcome(known ?? 'other state', { what: `state ${state}`, reasons });
}

/** What an answer about our CFE comes to, as the table of outcomes has it. */
function verdictOutcome(
  answer: Answer<'ask'>,
  { what, reasons = [], original }: { what?: string; reasons?: readonly Reason[]; original?: Original },
): VerdictOutcome {
  const outcome = outcomeOf('ask', answer);
  switch (outcome.reaction) {
    case 'verdict':
      return { kind: 'verdict', status: outcome.status, reasons: [...reasons] };
    case 'original':
      if (!original) throw new TypeError(`${answer} without the original`);
      return { kind: 'original', idReceptor: original.idReceptor, token: original.token };
    case 'notYet':
      return { kind: 'notYet', code: answer };
    case 'recover':
      return { kind: 'recover' };
    case 'repeat':
    case 'stuck':
      return unclear('ask', answer, what);
  }
}

/** The sobre in which the number was received first. */
interface Original {
  readonly idemisor: string;
  readonly idReceptor: string;
  readonly token: string;
}

/** Where the number was received first: as InfoRespOri says or, where that says too little, by asking. */
async function originalOf(
  client: DgiClient,
  credentials: DgiCredentials,
  cfe: Cfe,
  told: OriginalAnswer | undefined,
): Promise<Original | Unclear> {
  if (told?.idemisor && told.idReceptor && told.token) {
    return { idemisor: told.idemisor, idReceptor: told.idReceptor, token: told.token };
  }
  const found = await client.findCfe(credentials, cfe.environment, numberOf(cfe));
  if (found.kind === 'found')
    return { idemisor: found.idemisor, idReceptor: found.idReceptor, token: found.token };
  return found.kind === 'absent' ? unclear('ask', 'E02 without its original') : found;
}

const numberOf = ({ type, serie, numero }: Cfe) => ({ typeCode: CFE_TYPES[type].code, serie, numero });

/**
 * By type, series, number and moment of signing where the answer has them; a receipt that it could not read has only
 * its place. The moment tells a number that was given twice: before a database was restored, and after.
 */
function isAbout(receipt: ReceiptVerdict, { type, serie, numero, document }: Cfe): boolean {
  const { typeCode, serie: saidSerie, numero: saidNumero, signedAt } = receipt;
  return (
    (typeCode === undefined || typeCode === CFE_TYPES[type].code) &&
    (saidSerie === undefined || saidSerie === serie) &&
    (saidNumero === undefined || saidNumero === numero) &&
    (signedAt === undefined || isSameMoment(signedAt, document.signedAt))
  );
}

/** Whether the receipt says of itself, in full, that it is this CFE: same number, signed in the same second. */
function isSurelyThis(receipt: ReceiptVerdict, cfe: Cfe): boolean {
  const { typeCode, serie, numero, signedAt } = receipt;
  return ![typeCode, serie, numero, signedAt].includes(undefined) && isAbout(receipt, cfe);
}

/** The authority writes moments without an offset, or with a false one: the clock on the wall counts as well. */
function isSameMoment(said: string, ours: string): boolean {
  return said.slice(0, 19) === ours.slice(0, 19) || instantOf(said)?.getTime() === instantOf(ours)?.getTime();
}

/**
 * Whether a sobre of ours with that number carried the CFE. A refused one brought nothing there: what has its number is
 * an older sobre, from before the database was restored.
 */
async function carried(em: EntityManager, cfe: Cfe, idemisor: string): Promise<boolean> {
  if (!/^\d{1,10}$/.test(idemisor)) return false;
  const bearer = { cfeUuid: cfe.id, idemisor: BigInt(idemisor), state: { $ne: 'REFUSED' } } as const;
  return (await em.count(Sobre, bearer)) > 0;
}

/** The days on which a sobre may have been received, in spans that the list takes, the latest first. */
function spansOf({ createdAt, sendingAt }: Sobre): { from: Date; to: Date }[] {
  const first = createdAt.getTime() - DAY;
  const spans: { from: Date; to: Date }[] = [];
  for (let to = (sendingAt ?? createdAt).getTime() + DAY; to > first; to -= LONGEST_SPAN) {
    spans.push({ from: new Date(Math.max(first, to - LONGEST_SPAN)), to: new Date(to) });
  }
  return spans;
}
