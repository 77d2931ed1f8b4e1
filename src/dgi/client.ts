/** The authority's services over HTTP; every answer, and every lack of one, comes out as a value. */
import { X509Certificate } from 'node:crypto';
import type { Element } from '@xmldom/xmldom';
import type { Environment } from '../domain/cfeTypes.ts';
import { montevideoTimestamp } from '../domain/montevideo.ts';
import type { RegistryRecord } from '../domain/registryRecord.ts';
import {
  answerIn,
  documentIn,
  MOST_ANSWER_BYTES,
  NoAnswer,
  refuseExceptions,
  signedDocumentIn,
} from './answers.ts';
import { type Guard, guarded } from './guard.ts';
import { rucOf } from './identity.ts';
import { type Unsettled, unsettled } from './outcomes.ts';
import { post, type Timeouts } from './post.ts';
import {
  checkSubject,
  type FindCfeAnswer,
  type FindSobreAnswer,
  readCfeState,
  readReception,
  readShipments,
  type SendAnswer,
} from './readings.ts';
import { settle } from './settle.ts';
import type { SignatureHash } from './sign.ts';
import { callOf, carried, OPERATIONS, type Operation, verdictQuestion } from './soap.ts';
import { type DgiCredentials, signEnvelope } from './wsSecurity.ts';
import { type AckCfe, readAckCfe, readAckSobre } from './xml/ack.ts';
import { bareRecord, readRegistryRecord } from './xml/registry.ts';
import { element, plain } from './xml/write.ts';

export type { FindCfeAnswer, FindSobreAnswer, SendAnswer, SobreTicket } from './readings.ts';

/** Where the authority is, in one environment. */
interface DgiEndpoints {
  readonly receptionUrl: string;
  readonly consultationUrl: string;
  /** eRUT; without one nothing can be looked up there. */
  readonly registryUrl?: string | undefined;
  /** The authority's own RUT: who must have signed its answers. */
  readonly authorityRut: string;
}

export interface DgiClientOptions {
  readonly endpoints: Readonly<Record<Environment, DgiEndpoints>>;
  readonly timeouts: Timeouts;
  /** Hash of the signatures of requests. */
  readonly soapHash: SignatureHash;
  /** SHA-256 fingerprints (lower-case hex of the DER) of the certificates whose signature counts as the authority's. */
  readonly trustedSigners: () => Promise<ReadonlySet<string>>;
  /** Certification authorities of its TLS, PEM; the usual ones unless told. */
  readonly ca?: string | undefined;
  /** The moment now; the system's clock unless told. */
  readonly clock?: () => Date;
  /** Says which calls may be made; without one, all. */
  readonly guard?: Guard | undefined;
  /** Told of every call once it is over; for the metrics. */
  readonly onCall?: ((call: AuthorityCall) => void) | undefined;
}

/** When a sobre may leave. */
export interface Departure {
  readonly leaveBy: Date;
  readonly ready: () => Promise<boolean>;
  /** Whether it tries an endpoint that is away. */
  readonly isProbe: boolean;
}

/** One call to the authority, and what came of it. */
export interface AuthorityCall {
  readonly environment: Environment;
  readonly service: (typeof OPERATIONS)[Operation]['service'];
  readonly operation: Operation;
  readonly seconds: number;
  /** `document`, or what came instead, as the table of outcomes names it. */
  readonly answer: string;
  /** What it comes to. */
  readonly result: string;
}

/** The verdicts on the receipts of a sobre. */
export type VerdictAnswer =
  | { readonly kind: 'answered'; readonly ack: AckCfe }
  | { readonly kind: 'notYet'; readonly code: string }
  /** 104: no such sobre by that number and token, or a failure. */
  | { readonly kind: 'recover' }
  | Unsettled;
/** What the registry knows of a RUT. */
export type LookUpAnswer =
  | { readonly kind: 'found'; readonly record: RegistryRecord }
  | { readonly kind: 'unknown' }
  | Unsettled;

/** The client, as those see it who are handed one. */
export type DgiClient = ReturnType<typeof createDgiClient>;

/** How far off Fechahora may be. */
const LONGEST_ASK_FROM_MS = 3_600_000;
/** Statuses of the registry's errors that tell of activity rather than of failure. */
const REGISTRY_STATUS: Readonly<Record<string, string | null>> = {
  'code 8': null,
  'code 9': null,
  'code 10': 'NT',
  'code 11': 'CC',
  'code 12': 'AF',
};

/** A client of the authority in both environments. Its calls resolve with what came of them; they reject for bugs only. */
export function createDgiClient(options: DgiClientOptions) {
  const now = () => options.clock?.() ?? new Date();

  const signed = (operation: Operation, { credentials }: On, parameters: string): string =>
    signEnvelope(callOf(operation, parameters), { credentials, hash: options.soapHash });

  /** `request`: the signed one, where it was made ahead. */
  async function ask(
    operation: Operation,
    on: On,
    parameters: string,
    { request, isProbe = false }: { request?: string; isProbe?: boolean | undefined } = {},
  ): Promise<Element> {
    const { service, soapAction } = OPERATIONS[operation];
    const endpoints = options.endpoints[on.environment];
    const url = {
      reception: endpoints.receptionUrl,
      consultation: endpoints.consultationUrl,
      registry: endpoints.registryUrl,
    }[service];
    if (url === undefined) throw new Error(`no address of the ${service} service is configured`);
    const headers = {
      'content-type': 'text/xml;charset=UTF-8',
      soapaction: `"${soapAction}"`,
      accept: 'text/xml',
    };
    const { timeouts, ca, guard } = options;
    return guarded(guard, { endpoint: `${on.environment}/${service}`, isProbe }, async () => {
      const body = request ?? signed(operation, on, parameters);
      return answerIn(
        await post({ url, headers, body, timeouts, ca, mostBytes: MOST_ANSWER_BYTES }),
        operation,
      );
    });
  }

  /** Runs a call as `settle` does, and tells of it. */
  async function call<T extends { kind: string }>(
    operation: Operation,
    on: On,
    run: () => Promise<T>,
  ): Promise<T | Unsettled> {
    const { service, situation } = OPERATIONS[operation];
    const startedAt = performance.now();
    let answer = 'document';
    const outcome = await settle(situation, run, (key) => {
      answer = key;
    });
    const seconds = (performance.now() - startedAt) / 1_000;
    const { environment } = on;
    options.onCall?.({ environment, service, operation, seconds, answer, result: outcome.kind });
    return outcome;
  }

  const trustFor = async (on: On) => ({
    signers: await options.trustedSigners(),
    authorityRut: options.endpoints[on.environment].authorityRut,
    now: now(),
  });

  /** An error of the authority's clock or offset must not keep us from asking; asking too early is harmless (105). */
  const soon = <T extends SendAnswer | FindSobreAnswer | FindCfeAnswer>(answer: T): T => {
    if (!('askFrom' in answer) || answer.askFrom === null) return answer;
    const latest = now().getTime() + LONGEST_ASK_FROM_MS;
    return { ...answer, askFrom: new Date(Math.min(answer.askFrom.getTime(), latest)) };
  };

  return {
    /**
     * EFACRECEPCIONSOBRE: brings a sobre, whose bytes must be the same at every attempt. A process that was held up may
     * wake when all has been decided otherwise: after `leaveBy` nothing is sent. `ready` is waited for when all is
     * prepared and only the sending is left; where it answers false nothing is sent.
     */
    async sendSobre(
      credentials: DgiCredentials,
      environment: Environment,
      sobre: { idemisor: bigint; xml: string } & Partial<Departure>,
    ): Promise<SendAnswer> {
      const on = { credentials, environment };
      const parameters = carried(sobre.xml);
      const request = signed('sendSobre', on, parameters);
      if (sobre.ready && !(await sobre.ready())) return unsettled('send', 'held back');
      return call<SendAnswer>('sendSobre', on, async () => {
        if (sobre.leaveBy !== undefined && now() > sobre.leaveBy) throw new NoAnswer('unreached', 'too late');
        const answer = await ask('sendSobre', on, parameters, { request, isProbe: sobre.isProbe });
        const ack = signedDocumentIn(answer, readAckSobre, await trustFor(on));
        const idemisor = sobre.idemisor.toString();
        checkSubject(ack, { rut: rutOf(credentials), idemisor, mayLackIds: ack.state !== 'AS' });
        return soon(readReception(ack));
      });
    },

    /** EFACCONSULTARESTADOENVIO: the verdicts on the receipts of a sobre. Read-only and repeatable. */
    askVerdict(
      credentials: DgiCredentials,
      environment: Environment,
      ticket: { idReceptor: string; token: string },
    ) {
      const on = { credentials, environment };
      return call<VerdictAnswer>('askVerdict', on, async () => {
        const answer = await ask('askVerdict', on, verdictQuestion(ticket));
        const ack = signedDocumentIn(answer, readAckCfe, await trustFor(on));
        checkSubject(ack, { rut: rutOf(credentials), idReceptor: ticket.idReceptor });
        return { kind: 'answered', ack };
      });
    },

    /** EFACCONSULTARENVIOSSOBRE: whether the authority has a sobre, among those of at most 31 days (Montevideo). */
    findSobre(
      credentials: DgiCredentials,
      environment: Environment,
      query: { idemisor: bigint; from: Date; to: Date },
    ) {
      const on = { credentials, environment };
      return call<FindSobreAnswer>('findSobre', on, async () => {
        const answer = await ask(
          'findSobre',
          on,
          `<Consultaenviossobre>${plain('IdEmisor', query.idemisor.toString())}${plain('IdReceptor', 0)}` +
            `${plain('FechaDesde', localTime(query.from))}${plain('FechaHasta', localTime(query.to))}</Consultaenviossobre>`,
        );
        refuseExceptions(answer);
        return soon(readShipments(answer, query.idemisor.toString()));
      });
    },

    /** EFACCONSULTARESTADOCFE: the first sobre that carried a receipt of ours. */
    findCfe(
      credentials: DgiCredentials,
      environment: Environment,
      cfe: { typeCode: number; serie: string; numero: number },
    ) {
      const on = { credentials, environment };
      return call<FindCfeAnswer>('findCfe', on, async () => {
        const answer = await ask(
          'findCfe',
          on,
          `<Cfeid>${plain('TipoCFE', cfe.typeCode)}${element('Serie', cfe.serie)}${plain('Nro', cfe.numero)}</Cfeid>`,
        );
        refuseExceptions(answer);
        return soon(readCfeState(answer));
      });
    },

    /** eRUT: what the registry tells of a RUT (12 digits). */
    async lookUpRut(
      credentials: DgiCredentials,
      environment: Environment,
      rut: string,
    ): Promise<LookUpAnswer> {
      const on = { credentials, environment };
      return call<LookUpAnswer>('lookUpRut', on, async () => {
        try {
          const record = readRegistryRecord(documentIn(await ask('lookUpRut', on, element('Rut', rut))));
          if (!record) throw new NoAnswer('unreadable');
          return { kind: 'found', record };
        } catch (error) {
          const status = error instanceof NoAnswer ? REGISTRY_STATUS[error.answer] : undefined;
          if (status === undefined) throw error;
          return { kind: 'found', record: bareRecord(rut, status) };
        }
      });
    },
  };
}

/** Who asks, and where. */
interface On {
  readonly credentials: DgiCredentials;
  readonly environment: Environment;
}

const rutOf = (credentials: DgiCredentials): string | undefined =>
  rucOf(new X509Certificate(credentials.certificateDer));

/** A moment as the consultations want it: Montevideo, without an offset. */
const localTime = (moment: Date): string => montevideoTimestamp(moment).slice(0, 19);
