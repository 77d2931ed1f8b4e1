import type { KeyObject } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import { UnsealError } from '../../crypto/sealed.ts';
import { currentSigner, requireSigner } from '../../db/certificates.ts';
import type { Sobre } from '../../db/entities/authority.ts';
import type { Certificate } from '../../db/entities/enterprises.ts';
import type { Cfe } from '../../db/entities/receipts.ts';
import type { Orm } from '../../db/orm.ts';
import { type CfeInSobre, wasIn } from '../../db/sobres.ts';
import {
  isSurelyThis,
  type Original,
  type VerdictOutcome,
  verdictOn,
  verdictOnDuplicate,
} from '../../dgi/cfeAnswers.ts';
import type {
  AskVerdictAnswer,
  DgiClient,
  FindSobreAnswer,
  SignedSobre,
  SobreTicket,
} from '../../dgi/client.ts';
import { type Unclear, unclear } from '../../dgi/outcomes.ts';
import type { DgiCredentials } from '../../dgi/wsSecurity.ts';
import type { OriginalAnswer, ReceiptVerdict } from '../../dgi/xml/ack.ts';
import { CFE_TYPES } from '../../domain/cfeTypes.ts';

const DAY = 86_400_000;
/** The list of sobres takes 31 days at a time; the last is left for clocks that differ. */
const LONGEST_SPAN = 30 * DAY;

/** A CFE as the authority is asked about it. */
export type AskedCfe = Pick<
  CfeInSobre,
  'id' | 'rut' | 'environment' | 'type' | 'serie' | 'numero' | 'certificateId' | 'signedAt'
>;

/** A CFE that is read by itself, as the authority is asked about it. */
export const toAskedCfe = ({ document, ...cfe }: Cfe): AskedCfe => ({ ...cfe, signedAt: document.signedAt });

export interface PlacedCfe extends AskedCfe {
  readonly place: number | null;
}

/** What it says of the CFEs of a sobre, in the order in which they were given; or nothing of any of them. */
export type VerdictOutcomes =
  | { kind: 'answered'; outcomes: readonly VerdictOutcome[] }
  | { kind: 'notYet'; code: string }
  /** It does not know the sobre by the number and token we hold. */
  | { kind: 'recover' }
  | Unclear;

/** What signs requests: a certificate, where the caller has it in hand. */
type SignedBy = Certificate | undefined;

/**
 * The authority, as the activities see it: every outcome told apart. Requests are signed with `certificate`, the
 * enterprise's current one, which is read where it is not given.
 */
export interface Authority {
  /** The signed request that brings a sobre; nothing is sent yet. */
  signSobre(
    sobre: WrittenSobre & { readonly xml: string },
    certificate: Certificate,
  ): Promise<SignedSobre | Unclear>;
  sendSobre: DgiClient['sendSobre'];
  /** Whether it has a sobre, of which that CFE is one. */
  findSobre(cfe: AskedCfe, sobre: WrittenSobre, certificate?: SignedBy): Promise<FindSobreAnswer>;
  /**
   * The verdicts on CFEs that were received under that number and token; each by its place in that sobre, or with null by
   * what the authority says of it.
   */
  askVerdicts(
    cfes: readonly PlacedCfe[],
    ticket: { readonly idReceptor: string | null; readonly token: string | null },
    certificate?: SignedBy,
  ): Promise<VerdictOutcomes>;
  /** What state it says the fiscal number is in, and by which sobre. */
  findState(cfe: AskedCfe): Promise<FindStateAnswer>;
  /** Whether it has the fiscal number, by whichever sobre. */
  findReceipt(cfe: AskedCfe): Promise<FindReceiptAnswer>;
}

/** A sobre whose bytes are stored, as the authority is asked about it. */
export type WrittenSobre = Pick<Sobre, 'environment' | 'createdAt' | 'sendingAt'> & {
  readonly idemisor: bigint;
};

export type FindStateAnswer =
  /** Its state (AE, BE; null while there is none), from the sobre with that number. */
  { kind: 'found'; state: string | null; idemisor: string } | { kind: 'absent' } | Unclear;

export type FindReceiptAnswer =
  /** From a sobre of ours, with what to ask about that one with. */
  | ({ kind: 'received'; idemisor?: string } & SobreTicket)
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
    signSobre: ({ environment, ...sobre }, certificate) =>
      withCredentials(deps, certificate, async (credentials) =>
        client.signSobre(credentials, environment, sobre),
      ),

    sendSobre: (sobre, departure) => client.sendSobre(sobre, departure),

    findSobre: (cfe, sobre, certificate) =>
      withCredentials(deps, certificate ?? cfe, async (credentials): Promise<FindSobreAnswer> => {
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

    async askVerdicts(cfes, { idReceptor, token }, certificate) {
      const [first] = cfes;
      if (!first) return { kind: 'answered', outcomes: [] };
      if (idReceptor === null || token === null) return { kind: 'recover' };
      return withCredentials(deps, certificate ?? first, async (credentials): Promise<VerdictOutcomes> => {
        const answer = await client.askVerdict(credentials, first.environment, { idReceptor, token });
        if (answer.kind !== 'answered') return answer;
        return {
          kind: 'answered',
          outcomes: await judged(deps, credentials, cfes, { idReceptor, receipts: answer.ack.receipts }),
        };
      });
    },

    findState: (cfe) =>
      withCredentials(deps, cfe, async (credentials): Promise<FindStateAnswer> => {
        const found = await client.findCfe(credentials, cfe.environment, numberOf(cfe));
        if (found.kind !== 'found') return found;
        return { kind: 'found', state: found.state, idemisor: found.idemisor };
      }),

    findReceipt: (cfe) =>
      withCredentials(deps, cfe, async (credentials): Promise<FindReceiptAnswer> => {
        const found = await client.findCfe(credentials, cfe.environment, numberOf(cfe));
        if (found.kind !== 'found') return found;
        const ours = await isOurs(deps, askingOnce(client, credentials), cfe, found);
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

/** What an answer says of each of the CFEs. */
async function judged(
  deps: AuthorityDeps,
  credentials: DgiCredentials,
  cfes: readonly PlacedCfe[],
  { idReceptor, receipts }: { idReceptor: string; receipts: readonly ReceiptVerdict[] },
): Promise<VerdictOutcome[]> {
  const outcomes: VerdictOutcome[] = [];
  const ask = askingOnce(deps.client, credentials);
  for (const cfe of cfes) {
    const verdict = verdictOn(cfe, receipts);
    outcomes.push(
      verdict.kind === 'duplicate'
        ? await duplicated(deps, credentials, cfe, { idReceptor, told: verdict.original, ask })
        : verdict,
    );
  }
  return outcomes;
}

/** Asks for the verdicts of a sobre. */
type AskSobre = (cfe: AskedCfe, sobre: Original) => Promise<AskVerdictAnswer>;

/** A sobre that brought many of the CFEs is asked about once for all of them. */
function askingOnce(client: DgiClient, credentials: DgiCredentials): AskSobre {
  const answers = new Map<string, Promise<AskVerdictAnswer>>();
  return ({ environment }, sobre) => {
    const answer = answers.get(sobre.idReceptor) ?? client.askVerdict(credentials, environment, sobre);
    answers.set(sobre.idReceptor, answer);
    return answer;
  };
}

/** Requests are signed with the current certificate: a CFE can still be followed after its own has expired. */
async function withCredentials<T>(
  { orm, privateKeyOf }: AuthorityDeps,
  by: Certificate | AskedCfe,
  call: (credentials: DgiCredentials) => Promise<T>,
): Promise<T | Unclear> {
  const certificate = 'certificateId' in by ? await currentOrOwn(orm.em.fork(), by) : by;
  let privateKey: KeyObject;
  try {
    privateKey = privateKeyOf(certificate);
  } catch (error) {
    if (!(error instanceof UnsealError)) throw error;
    return unclear('ask', 'no key');
  }
  return call({ privateKey, certificateDer: certificate.certificate });
}

const currentOrOwn = async (em: EntityManager, cfe: AskedCfe): Promise<Certificate> =>
  (await currentSigner(em, cfe.rut, cfe.environment)) ?? (await requireSigner(em, cfe.certificateId));

/** The number of a CFE was received before (E02): by a sobre of ours, which has the verdict, or by somebody else's. */
async function duplicated(
  deps: AuthorityDeps,
  credentials: DgiCredentials,
  cfe: AskedCfe,
  { idReceptor, told, ask }: { idReceptor: string; told: OriginalAnswer | undefined; ask: AskSobre },
): Promise<VerdictOutcome> {
  const original = await originalOf(deps.client, credentials, cfe, told);
  if ('kind' in original) return original;
  // One that names the very sobre that was asked about would be asked about for ever.
  const ours = original.idReceptor !== idReceptor && (await isOurs(deps, ask, cfe, original));
  if (typeof ours !== 'boolean')
    return ours.kind === 'recover' ? unclear('ask', 'E02 without its original') : ours;
  return verdictOnDuplicate(original, { isOurs: ours });
}

/** Whether the sobre in which the authority has the number is one of ours with this CFE. */
async function isOurs(
  { orm }: AuthorityDeps,
  ask: AskSobre,
  cfe: AskedCfe,
  first: Original,
): Promise<boolean | Exclude<AskVerdictAnswer, { kind: 'answered' }>> {
  // A refused one brought nothing there: what has its number is an older sobre, from before the database was restored.
  if (await wasIn(orm.em.fork(), cfe.id, first.idemisor, { refused: false })) return true;
  // A database that was restored to an earlier moment does not know the last sobres that it sent.
  const answer = await ask(cfe, first);
  if (answer.kind !== 'answered') return answer;
  return answer.ack.receipts.some((receipt) => isSurelyThis(receipt, cfe));
}

/** Where the number was received first: as InfoRespOri says or, where that says too little, by asking. */
async function originalOf(
  client: DgiClient,
  credentials: DgiCredentials,
  cfe: AskedCfe,
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

const numberOf = ({ type, serie, numero }: AskedCfe) => ({ typeCode: CFE_TYPES[type].code, serie, numero });

/** The days on which a sobre may have been received, in spans that the list takes, the latest first. */
function spansOf({ createdAt, sendingAt }: WrittenSobre): { from: Date; to: Date }[] {
  const first = createdAt.getTime() - DAY;
  const spans: { from: Date; to: Date }[] = [];
  for (let to = (sendingAt ?? createdAt).getTime() + DAY; to > first; to -= LONGEST_SPAN) {
    spans.push({ from: new Date(Math.max(first, to - LONGEST_SPAN)), to: new Date(to) });
  }
  return spans;
}
