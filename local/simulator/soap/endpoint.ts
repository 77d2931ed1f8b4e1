import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Calls } from '../calls.ts';
import type { EnvironmentName } from '../environments.ts';
import type { Exchanges } from '../exchanges.ts';
import { readBody, send } from '../http.ts';
import { type Court, FaultOrdered, receiveSobre } from '../judge/receiveSobre.ts';
import { receiveReport } from '../judge/report/receiveReport.ts';
import type { Outage } from '../outage.ts';
import type { Authority } from '../security/authority.ts';
import { type Caller, callerOf, GatewayRefused, signedEnvelope } from '../security/wsSecurity.ts';
import { exclusive } from '../xml/canonical.ts';
import { REGISTRY_NS, SERVICES_NS } from '../xml/names.ts';
import { ownExclusive } from '../xml/ownExclusive.ts';
import { textAt, treeOf, type XmlTree } from '../xml/read.ts';
import { ackReport, ackSobre, exception, faultEnvelope, receptionAnswer } from './answers.ts';
import { CONSULTATIONS, consultationAnswer } from './consultations.ts';
import { queryState } from './queryState.ts';
import { askRegistry } from './registry.ts';
import { readSoap } from './request.ts';

/** What the SOAP services work with. */
export interface Services extends Court {
  readonly authority: Authority;
  readonly exchanges: Exchanges;
  readonly outage: Outage;
  readonly calls: Calls;
}

/** The services by the last piece of their path (docs/authority/services.md#endpoints). */
export const SERVICE_NAMES = ['ws_efactura', 'ws_consultas', 'ws_personaGetActEmpresarial'] as const;
export type ServiceName = (typeof SERVICE_NAMES)[number];

/** SOAPAction up to the operation, the element's name likewise, and the element's namespace, by service. */
const CALLS: Readonly<Record<ServiceName, { action: string; element: string; namespace: string }>> = {
  ws_efactura: {
    action: 'http://dgi.gub.uyaction/AWS_EFACTURA.',
    element: 'WS_eFactura.',
    namespace: SERVICES_NS,
  },
  ws_consultas: {
    action: 'http://dgi.gub.uyaction/AWS_EFACTURA_CONSULTAS.',
    element: 'WS_eFactura_Consultas.',
    namespace: SERVICES_NS,
  },
  ws_personaGetActEmpresarial: {
    action: 'DGI_Modernizacion_Consolidadoaction/AWS_PERSONAGETACTEMPRESARIAL.',
    element: 'WS_PersonaGetActEmpresarial.',
    namespace: REGISTRY_NS,
  },
};
/** Operations by service; each returns the content of the answer's Body, null for no answer at all. */
const OPERATIONS: Readonly<Record<ServiceName, Readonly<Record<string, Operation>>>> = {
  ws_efactura: {
    EFACRECEPCIONSOBRE: receive,
    EFACRECEPCIONREPORTE: receiveDaily,
    EFACCONSULTARESTADOENVIO: tellState,
  },
  ws_consultas: Object.fromEntries(
    Object.entries(CONSULTATIONS).map(([name, consult]): [string, Operation] => [
      name,
      (call, context) => ({
        inner: consultationAnswer(name, consult(call, { ...context.services, ...context })),
      }),
    ]),
  ),
  ws_personaGetActEmpresarial: { Execute: (call, { services }) => askRegistry(call, services.state) },
};

/** What an operation works with besides what it was sent. */
interface OperationContext {
  readonly environment: EnvironmentName;
  readonly caller: Caller;
  readonly services: Services;
}

type Operation = (
  call: XmlTree,
  context: OperationContext,
) => { readonly inner: string; readonly isFault?: boolean } | null;

/** Largest SOAP request: a sobre of 2 MB with its markup escaped, and room to refuse a larger one with S07. */
const MOST_REQUEST_BYTES = 8 * 1024 * 1024;

/** null drops the connection without an answer. */
type Answer = { readonly status: number; readonly body: string } | null;

/** Serves one SOAP request; what cannot be served gets a SOAP fault. Requests and answers are kept. */
export async function serveSoap(
  request: IncomingMessage,
  response: ServerResponse,
  target: { readonly environment: EnvironmentName; readonly service: ServiceName },
  services: Services,
): Promise<void> {
  const operation = operationOf(String(request.headers['soapaction'] ?? ''), target.service);
  const call = { ...target, operation: operation ?? 'unknown' };
  const isAway = services.outage.isOn();
  services.calls.count(call, isAway ? 'refused' : 'answered');
  if (isAway) {
    services.outage.countRefused();
    response.setHeader('connection', 'close');
    send(response, 503, 'text/plain', 'Service Unavailable');
    return;
  }
  const bytes = await readBody(request, MOST_REQUEST_BYTES);
  const keepAnswer = services.exchanges.keep(call, bytes);
  const answer = answerTo(bytes, operation, target, services);
  if (answer === null) {
    request.socket.destroy();
    return;
  }
  keepAnswer(answer.body);
  response.setHeader('x-backside-transport', answer.status === 200 ? 'OK OK' : 'FAIL FAIL');
  send(response, answer.status, 'text/xml', answer.body);
}

/** The operation that a SOAPAction names, quoted or not; null when the service has no such operation. */
function operationOf(soapAction: string, service: ServiceName): string | null {
  const action = soapAction.replace(/^"(.*)"$/, '$1');
  return Object.keys(OPERATIONS[service]).find((name) => action === CALLS[service].action + name) ?? null;
}

function answerTo(
  bytes: Uint8Array,
  operation: string | null,
  target: { readonly environment: EnvironmentName; readonly service: ServiceName },
  services: Services,
): Answer {
  const { service, environment } = target;
  try {
    const perform = operation === null ? undefined : OPERATIONS[service][operation];
    if (!perform) throw new GatewayRefused('No matching operation for SOAPAction');
    // The registry's namespace is a relative URI, which libxml2 does not canonicalise.
    const canonicalise = service === 'ws_personaGetActEmpresarial' ? ownExclusive : exclusive;
    using soap = readSoap(bytes);
    const caller = callerOf(soap.envelope, soap.body, { canonicalise, trusts: services.trusts });
    const call = treeOf(soap.call);
    if (call.name !== CALLS[service].element + operation || call.namespace !== CALLS[service].namespace)
      throw new GatewayRefused('SOAPAction and Body do not name the same operation');
    const result = perform(call, { environment, caller, services });
    if (result === null) return null;
    const signer = services.authority.signers[environment];
    return {
      status: result.isFault ? 500 : 200,
      body: signedEnvelope(result.inner, { signer, canonicalise }),
    };
  } catch (error) {
    if (error instanceof GatewayRefused) return { status: 500, body: faultEnvelope('Client', error.message) };
    if (error instanceof FaultOrdered)
      return { status: 500, body: faultEnvelope('Server', 'Internal Error (from server)') };
    throw error;
  }
}

const payloadOf = (call: XmlTree): string => textAt(call, 'Datain', 'xmlData') ?? '';

function tellState(call: XmlTree, { environment, caller, services }: OperationContext) {
  const signer = services.authority.signers[environment];
  const answer = queryState(payloadOf(call), { ...services, environment, caller, signer });
  return { inner: receptionAnswer('EFACCONSULTARESTADOENVIO', answer) };
}

function receive(call: XmlTree, { environment, caller, services }: OperationContext) {
  const reception = receiveSobre(payloadOf(call), caller, environment, services);
  const { downSeconds, lost } = reception.directives;
  if (downSeconds > 0) services.outage.begin(downSeconds);
  if (lost) return null;
  const signer = services.authority.signers[environment];
  return { inner: receptionAnswer('EFACRECEPCIONSOBRE', ackSobre(reception, { environment, signer })) };
}

function receiveDaily(call: XmlTree, { environment, caller, services }: OperationContext) {
  const signer = services.authority.signers[environment];
  const reception = receiveReport(payloadOf(call), caller, {
    issuer: { environment, rut: caller.rut },
    court: services,
    ackOf: (report) => ackReport(report, { environment, signer }),
  });
  if (reception.kind === 'duplicate')
    return { inner: receptionAnswer('EFACRECEPCIONREPORTE', exception(109)) };
  return reception.isLost ? null : { inner: receptionAnswer('EFACRECEPCIONREPORTE', reception.report.ack) };
}
