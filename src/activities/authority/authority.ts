import type { KeyObject } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import { type CfeInSobre, wasCfeInSobre } from '../../db/authority/sobres.ts';
import { findCurrentSigner, requireSigner } from '../../db/enterprises/certificates.ts';
import type { Sobre } from '../../db/entities/authority.ts';
import type { Certificate } from '../../db/entities/enterprises.ts';
import type { Cfe } from '../../db/entities/receipts.ts';
import type { Orm } from '../../db/orm.ts';
import {
  classifyDuplicate,
  isExactlyThisCfe,
  judgeCfe,
  type OriginalSobre,
  type VerdictOutcome,
} from '../../dgi/cfeAnswers.ts';
import type {
  AskVerdictAnswer,
  DgiClient,
  FindSobreAnswer,
  SignedSobre,
  SobreTicket,
} from '../../dgi/client.ts';
import { classifyUnclear, type Unclear } from '../../dgi/outcomes.ts';
import type { DgiCredentials } from '../../dgi/wsSecurity.ts';
import type { OriginalAnswer, ReceiptVerdict } from '../../dgi/xml/ack.ts';
import { CFE_TYPES } from '../../domain/receipts/cfeTypes.ts';
import { tryOpenCredentials } from './openCredentials.ts';

const DAY = 86_400_000;
/** The authority lists at most 31 days of sobres at a time; one day is left for differing clocks. */
const LONGEST_SPAN = 30 * DAY;

/** The facts of a CFE that queries to the authority need. */
export type AskedCfe = Pick<
  CfeInSobre,
  'id' | 'rut' | 'environment' | 'type' | 'serie' | 'numero' | 'certificateId' | 'signedAt'
>;

/** Converts a CFE that was read outside its sobre. */
export const toAskedCfe = ({ document, ...cfe }: Cfe): AskedCfe => ({ ...cfe, signedAt: document.signedAt });

export interface PlacedCfe extends AskedCfe {
  readonly place: number | null;
}

/** The answers on the CFEs of a sobre, in the order of the query; or one answer on the sobre as a whole. */
export type VerdictOutcomes =
  | { kind: 'answered'; outcomes: readonly VerdictOutcome[] }
  | { kind: 'notYet'; code: string }
  /** The authority does not know the sobre by our number and token. */
  | { kind: 'recover' }
  | Unclear;

/**
 * The authority, with every outcome distinguished. `certificate` signs the requests; by default the enterprise's current
 * certificate is read.
 */
export interface Authority {
  /** Signs the request for a sobre; sends nothing. */
  signSobre(
    sobre: WrittenSobre & { readonly xml: string },
    certificate: Certificate,
  ): Promise<SignedSobre | Unclear>;
  sendSobre: DgiClient['sendSobre'];
  /** Asks whether the authority has the sobre that contains the CFE. */
  findSobre(cfe: AskedCfe, sobre: WrittenSobre, certificate?: Certificate): Promise<FindSobreAnswer>;
  /**
   * Asks for the verdicts on CFEs received under a number and token. A CFE is found by its `place` in the sobre or, if
   * null, by its fiscal number.
   */
  askVerdicts(
    cfes: readonly PlacedCfe[],
    ticket: { readonly idReceptor: string | null; readonly token: string | null },
    certificate?: Certificate,
  ): Promise<VerdictOutcomes>;
  /** Asks for the state of the fiscal number, and the sobre that brought it. */
  findState(cfe: AskedCfe): Promise<FindStateAnswer>;
  /** Asks whether the authority has the fiscal number, from any sobre. */
  findReceipt(cfe: AskedCfe): Promise<FindReceiptAnswer>;
}

/** The facts of a written sobre that queries about it need. */
export type WrittenSobre = Pick<Sobre, 'environment' | 'createdAt' | 'sendingAt'> & {
  readonly idemisor: bigint;
};

export type FindStateAnswer =
  /** The state of the CFE (AE or BE; null without a verdict), and the number of its sobre. */
  { kind: 'found'; state: string | null; idemisor: string } | { kind: 'absent' } | Unclear;

export type FindReceiptAnswer =
  /** From a sobre of ours, with its ticket. */
  | ({ kind: 'received'; idemisor?: string } & SobreTicket)
  /** From a sobre of another system. */
  | { kind: 'others' }
  | { kind: 'absent' }
  | Unclear;

interface AuthorityDeps {
  readonly client: DgiClient;
  readonly orm: Orm;
  readonly privateKeyOf: (certificate: Certificate) => KeyObject;
}

/**
 * Creates the authority on top of the SOAP client. `privateKeyOf` decrypts a private key, and throws UnsealError if none of
 * our keys opens it.
 */
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
        for (const span of toSpans(sobre)) {
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
          outcomes: await judgeAll(deps, credentials, cfes, { idReceptor, receipts: answer.ack.receipts }),
        };
      });
    },

    findState: (cfe) =>
      withCredentials(deps, cfe, async (credentials): Promise<FindStateAnswer> => {
        const answer = await client.findCfe(credentials, cfe.environment, numberOf(cfe));
        if (answer.kind !== 'found') return answer;
        return { kind: 'found', state: answer.state, idemisor: answer.idemisor };
      }),

    findReceipt: (cfe) =>
      withCredentials(deps, cfe, async (credentials): Promise<FindReceiptAnswer> => {
        const answer = await client.findCfe(credentials, cfe.environment, numberOf(cfe));
        if (answer.kind !== 'found') return answer;
        const ours = await isOurs(deps, createSobreQuery(client, credentials), cfe, answer);
        if (typeof ours === 'boolean') return ours ? { ...answer, kind: 'received' } : { kind: 'others' };
        return ours.kind === 'stuck' || ours.kind === 'repeat'
          ? ours
          : classifyUnclear(
              'findCfe',
              'found without a verdict',
              'the number is there, in a sobre without a verdict yet',
            );
      }),
  };
}

/** Returns the outcome of each CFE in an answer. */
async function judgeAll(
  deps: AuthorityDeps,
  credentials: DgiCredentials,
  cfes: readonly PlacedCfe[],
  { idReceptor, receipts }: { idReceptor: string; receipts: readonly ReceiptVerdict[] },
): Promise<VerdictOutcome[]> {
  const outcomes: VerdictOutcome[] = [];
  const ask = createSobreQuery(deps.client, credentials);
  for (const cfe of cfes) {
    const verdict = judgeCfe(cfe, receipts);
    outcomes.push(
      verdict.kind === 'duplicate'
        ? await resolveDuplicate(deps, credentials, cfe, { idReceptor, answered: verdict.original, ask })
        : verdict,
    );
  }
  return outcomes;
}

/** Asks for the verdicts of one sobre. */
type AskSobre = (cfe: AskedCfe, sobre: OriginalSobre) => Promise<AskVerdictAnswer>;

/** Creates a query that asks about each sobre once, even if it contained several of the CFEs. */
function createSobreQuery(client: DgiClient, credentials: DgiCredentials): AskSobre {
  const answers = new Map<string, Promise<AskVerdictAnswer>>();
  return ({ environment }, sobre) => {
    const answer = answers.get(sobre.idReceptor) ?? client.askVerdict(credentials, environment, sobre);
    answers.set(sobre.idReceptor, answer);
    return answer;
  };
}

/** Signs with the current certificate: a CFE can still be followed after its own certificate has expired. */
async function withCredentials<T>(
  { orm, privateKeyOf }: AuthorityDeps,
  signer: Certificate | AskedCfe,
  call: (credentials: DgiCredentials) => Promise<T>,
): Promise<T | Unclear> {
  const certificate = 'certificateId' in signer ? await requireCertificate(orm.em.fork(), signer) : signer;
  const credentials = tryOpenCredentials(privateKeyOf, certificate);
  return credentials ? call(credentials) : classifyUnclear('ask', 'no key');
}

const requireCertificate = async (em: EntityManager, cfe: AskedCfe): Promise<Certificate> =>
  (await findCurrentSigner(em, cfe.rut, cfe.environment)) ?? (await requireSigner(em, cfe.certificateId));

/** Handles E02, a number received before: in a sobre of ours, which has the verdict, or of another system. */
async function resolveDuplicate(
  deps: AuthorityDeps,
  credentials: DgiCredentials,
  cfe: AskedCfe,
  { idReceptor, answered, ask }: { idReceptor: string; answered: OriginalAnswer | undefined; ask: AskSobre },
): Promise<VerdictOutcome> {
  const original = await findOriginal(deps.client, credentials, cfe, answered);
  if ('kind' in original) return original;
  // An answer that names the sobre of this very query would repeat forever.
  const ours = original.idReceptor !== idReceptor && (await isOurs(deps, ask, cfe, original));
  if (typeof ours !== 'boolean')
    return ours.kind === 'recover' ? classifyUnclear('ask', 'E02 without its original') : ours;
  return classifyDuplicate(original, { isOurs: ours });
}

/** Returns whether the sobre in which the authority has the number is ours, with this CFE. */
async function isOurs(
  { orm }: AuthorityDeps,
  ask: AskSobre,
  cfe: AskedCfe,
  first: OriginalSobre,
): Promise<boolean | Exclude<AskVerdictAnswer, { kind: 'answered' }>> {
  // A refused sobre contained no receipts: then an older sobre, from before a restore, has the number.
  if (await wasCfeInSobre(orm.em.fork(), cfe.id, first.idemisor, { refused: false })) return true;
  // A database restored to an earlier moment has no rows of the last sobres that it sent.
  const answer = await ask(cfe, first);
  if (answer.kind !== 'answered') return answer;
  return answer.ack.receipts.some((receipt) => isExactlyThisCfe(receipt, cfe));
}

/** Returns the first sobre with the number: from InfoRespOri or, if that is incomplete, by a query. */
async function findOriginal(
  client: DgiClient,
  credentials: DgiCredentials,
  cfe: AskedCfe,
  answered: OriginalAnswer | undefined,
): Promise<OriginalSobre | Unclear> {
  if (answered?.idemisor && answered.idReceptor && answered.token) {
    return { idemisor: answered.idemisor, idReceptor: answered.idReceptor, token: answered.token };
  }
  const answer = await client.findCfe(credentials, cfe.environment, numberOf(cfe));
  if (answer.kind === 'found')
    return { idemisor: answer.idemisor, idReceptor: answer.idReceptor, token: answer.token };
  return answer.kind === 'absent' ? classifyUnclear('ask', 'E02 without its original') : answer;
}

const numberOf = ({ type, serie, numero }: AskedCfe) => ({ typeCode: CFE_TYPES[type].code, serie, numero });

/** Returns the days on which a sobre may have been received, in spans the list accepts, the latest first. */
function toSpans({ createdAt, sendingAt }: WrittenSobre): { from: Date; to: Date }[] {
  const first = createdAt.getTime() - DAY;
  const spans: { from: Date; to: Date }[] = [];
  for (let to = (sendingAt ?? createdAt).getTime() + DAY; to > first; to -= LONGEST_SPAN) {
    spans.push({ from: new Date(Math.max(first, to - LONGEST_SPAN)), to: new Date(to) });
  }
  return spans;
}
