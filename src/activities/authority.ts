import type { KeyObject } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import { UnsealError } from '../crypto/sealed.ts';
import { currentCertificate } from '../db/certificates.ts';
import { Certificate } from '../db/entities/Certificate.ts';
import type { Cfe, RejectionReason } from '../db/entities/Cfe.ts';
import { Sobre } from '../db/entities/Sobre.ts';
import type { Orm } from '../db/orm.ts';
import type {
  VerdictAnswer as Asked,
  Departure,
  DgiClient,
  FindSobreAnswer,
  SendAnswer,
  SobreTicket,
} from '../dgi/client.ts';
import { instantOf } from '../dgi/moments.ts';
import { outcomeOf, type Unsettled, unsettled } from '../dgi/outcomes.ts';
import type { DgiCredentials } from '../dgi/wsSecurity.ts';
import type { OriginalAnswer, ReceiptVerdict } from '../dgi/xml/ack.ts';
import type { FinalStatus } from '../domain/cfeStatus.ts';
import { CFE_TYPES } from '../domain/cfeTypes.ts';

const DAY = 86_400_000;
/** The list of sobres takes 31 days at a time; the last is left for clocks that differ. */
const LONGEST_SPAN = 30 * DAY;

export type VerdictAnswer =
  | { kind: 'verdict'; status: FinalStatus; reasons: RejectionReason[] }
  /** The verdict that counts was given to another sobre of ours that carried the same CFE. */
  | { kind: 'original'; idReceptor: string; token: string }
  | { kind: 'notYet'; code: string }
  | { kind: 'recover' }
  | Unsettled;

/** The authority, as the activities see it: questions about one CFE and its sobre, every outcome told apart. */
export interface Authority {
  /** Sends nothing after `leaveBy`, and nothing unless `ready` answers true, which is waited for last. */
  sendSobre(cfe: Cfe, sobre: Sobre, departure: Departure): Promise<SendAnswer>;
  findSobre(cfe: Cfe, sobre: Sobre): Promise<FindSobreAnswer>;
  askVerdict(cfe: Cfe, sobre: Sobre): Promise<VerdictAnswer>;
  /** Whether it has the fiscal number, by whichever sobre. */
  findReceipt(cfe: Cfe): Promise<FindReceiptAnswer>;
}

export type FindReceiptAnswer =
  /** From a sobre of ours, with what to ask about that one with. */
  | ({ kind: 'received' } & SobreTicket)
  /** From a sobre of somebody else. */
  | { kind: 'others' }
  | { kind: 'absent' }
  | Unsettled;

/** No usable private key: what the enterprise lacks to speak with the authority. */
const NO_KEY: Unsettled = {
  kind: 'stuck',
  reason: 'signing',
  explanation:
    'Requests to the authority cannot be signed: the private key of the certificate cannot be opened (is its key-encryption key configured?). Nothing was sent this time.',
};

/** The authority behind the SOAP client. `privateKeyOf` opens a sealed key; it throws when none of our keys fits. */
export function createAuthority(options: {
  client: DgiClient;
  orm: Orm;
  privateKeyOf: (certificate: Certificate) => KeyObject;
}): Authority {
  const { client, orm, privateKeyOf } = options;

  /** Requests are signed with the current certificate: a CFE can still be followed after its own has expired. */
  async function withCredentials<T>(
    cfe: Cfe,
    call: (credentials: DgiCredentials) => Promise<T>,
  ): Promise<T | Unsettled> {
    const em = orm.em.fork();
    const certificate =
      (await currentCertificate(em, cfe.rut, cfe.environment)) ??
      (await em.findOneOrFail(Certificate, { id: cfe.certificateId }));
    let privateKey: KeyObject;
    try {
      privateKey = privateKeyOf(certificate);
    } catch (error) {
      if (!(error instanceof UnsealError)) throw error;
      return NO_KEY;
    }
    return call({ privateKey, certificateDer: certificate.certificate });
  }

  /** Whether the sobre in which the authority has the number is one of ours with this CFE. */
  async function isOurs(
    credentials: DgiCredentials,
    cfe: Cfe,
    first: { idemisor: string; idReceptor: string; token: string },
  ): Promise<boolean | Exclude<Asked, { kind: 'answered' }>> {
    if (await carried(orm.em.fork(), cfe, first.idemisor)) return true;
    // A database that was restored to an earlier moment does not know the last sobres that it sent.
    const answer = await client.askVerdict(credentials, cfe.environment, first);
    if (answer.kind !== 'answered') return answer;
    return answer.ack.receipts.some((receipt) => isSurelyThis(receipt, cfe));
  }

  return {
    sendSobre: (cfe, { idemisor, xml }, departure) =>
      withCredentials(cfe, (credentials) =>
        client.sendSobre(credentials, cfe.environment, { idemisor, xml, ...departure }),
      ),

    findSobre: (cfe, sobre) =>
      withCredentials(cfe, async (credentials): Promise<FindSobreAnswer> => {
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

    askVerdict: (cfe, sobre) =>
      withCredentials(cfe, async (credentials): Promise<VerdictAnswer> => {
        const { idReceptor, token } = sobre;
        if (idReceptor === null || token === null) return { kind: 'recover' };
        const answer = await client.askVerdict(credentials, cfe.environment, { idReceptor, token });
        if (answer.kind !== 'answered') return answer;
        const verdict = judge(cfe, answer.ack.receipts);
        if (verdict.kind !== 'duplicate') return verdict;
        const original = await originalOf(client, credentials, cfe, verdict.original);
        if ('kind' in original) return original;
        // One that names the very sobre that was asked about would be asked about for ever.
        if (original.idReceptor === idReceptor) return unsettled('ask', 'E02 of others', 'E02');
        const ours = await isOurs(credentials, cfe, original);
        if (typeof ours !== 'boolean') return ours;
        if (!ours) return unsettled('ask', 'E02 of others', 'E02');
        return { kind: 'original', idReceptor: original.idReceptor, token: original.token };
      }),

    findReceipt: (cfe) =>
      withCredentials(cfe, async (credentials): Promise<FindReceiptAnswer> => {
        const found = await client.findCfe(credentials, cfe.environment, numberOf(cfe));
        if (found.kind !== 'found') return found;
        const ours = await isOurs(credentials, cfe, found);
        if (typeof ours === 'boolean') return ours ? { ...found, kind: 'received' } : { kind: 'others' };
        return ours.kind === 'stuck' || ours.kind === 'repeat'
          ? ours
          : { kind: 'repeat', what: 'the number is there, in a sobre without a verdict yet', reached: true };
      }),
  };
}

/** What an answer says of our CFE, which is the first and only one of its sobre. */
function judge(
  cfe: Cfe,
  receipts: readonly ReceiptVerdict[],
): VerdictAnswer | { kind: 'duplicate'; original: OriginalAnswer | undefined } {
  const receipt = receipts.find(({ ordinal }) => ordinal === 1);
  if (!receipt) return { kind: 'notYet', code: 'no verdict on it' };
  if (!isAbout(receipt, cfe)) return unsettled('ask', 'other receipt');
  if (receipt.state === 'BE' && receipt.reasons.some(({ code }) => code === 'E02')) {
    return { kind: 'duplicate', original: receipt.original };
  }
  const key = ['AE', 'BE', 'CE'].includes(receipt.state) ? receipt.state : 'other state';
  const status = FINAL[outcomeOf('ask', key).reaction];
  return status
    ? { kind: 'verdict', status, reasons: [...receipt.reasons] }
    : unsettled('ask', key, `state ${receipt.state}`);
}

/** Where the number was received first: as InfoRespOri says or, where that says too little, by asking. */
async function originalOf(
  client: DgiClient,
  credentials: DgiCredentials,
  cfe: Cfe,
  told: OriginalAnswer | undefined,
): Promise<{ idemisor: string; idReceptor: string; token: string } | Unsettled> {
  if (told?.idemisor && told.idReceptor && told.token) {
    return { idemisor: told.idemisor, idReceptor: told.idReceptor, token: told.token };
  }
  const found = await client.findCfe(credentials, cfe.environment, numberOf(cfe));
  if (found.kind === 'found')
    return { idemisor: found.idemisor, idReceptor: found.idReceptor, token: found.token };
  return found.kind === 'absent'
    ? { kind: 'repeat', what: 'E02 without its original', reached: true }
    : found;
}

const numberOf = ({ type, serie, numero }: Cfe) => ({ typeCode: CFE_TYPES[type].code, serie, numero });

const FINAL: Readonly<Record<string, FinalStatus | undefined>> = {
  accepted: 'ACCEPTED',
  rejected: 'REJECTED',
  observed: 'OBSERVED',
};

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
  const bearer = { cfeId: cfe.id, idemisor: BigInt(idemisor), state: { $ne: 'REFUSED' } } as const;
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
