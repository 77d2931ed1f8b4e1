import type { IncomingMessage, ServerResponse } from 'node:http';
import type { EnvironmentName } from '../environments.ts';
import type { Exchanges } from '../exchanges.ts';
import { readBody, send } from '../http.ts';
import { type Court, FaultOrdered, receiveSobre } from '../judge/receiveSobre.ts';
import type { Outage } from '../outage.ts';
import type { Authority } from '../security/authority.ts';
import { type Caller, callerOf, GatewayRefused, signedEnvelope } from '../security/wsSecurity.ts';
import { exclusive } from '../xml/canonical.ts';
import { REGISTRY_NS, SERVICES_NS } from '../xml/names.ts';
import { ownExclusive } from '../xml/ownExclusive.ts';
import { textAt, treeOf, type XmlTree } from '../xml/read.ts';
import { ackSobre, faultEnvelope, receptionAnswer } from './answers.ts';
import { CONSULTATIONS, consultationAnswer } from './consultations.ts';
import { queryState } from './queryState.ts';
import { askRegistry } from './registry.ts';
import { readSoap } from './request.ts';

/** What the SOAP services work with. */
export interface Services extends Court {
  readonly authority: Authority;
  readonly exchanges: Exchanges;
  readonly outage: Outage;
}

/** The services by the last piece of their path (transport.md §1). */
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
const OPERATIONS: Readonly<Record<ServiceName, readonly string[]>> = {
  ws_efactura: ['EFACRECEPCIONSOBRE', 'EFACCONSULTARESTADOENVIO'],
  ws_consultas: Object.keys(CONSULTATIONS),
  ws_personaGetActEmpresarial: ['Execute'],
};

/** Largest SOAP request: a sobre of 2 MB with its markup escaped, and room to tell one that is too large (S07). */
const MOST_REQUEST_BYTES = 8 * 1024 * 1024;

/** An answer, or null: then the connection is dropped without one. */
type Answer = { readonly status: number; readonly body: string } | null;

/** Serves one SOAP request. Everything that comes and goes is kept; what cannot be served is a SOAP fault. */
export async function serveSoap(
  request: IncomingMessage,
  response: ServerResponse,
  target: { readonly environment: EnvironmentName; readonly service: ServiceName },
  services: Services,
): Promise<void> {
  if (services.outage.isOn()) {
    services.outage.countRefused();
    response.setHeader('connection', 'close');
    send(response, 503, 'text/plain', 'Service Unavailable');
    return;
  }
  const bytes = await readBody(request, MOST_REQUEST_BYTES);
  const operation = operationOf(String(request.headers['soapaction'] ?? ''), target.service);
  const keepAnswer = services.exchanges.keep({ ...target, operation: operation ?? 'unknown' }, bytes);
  const answer = answerTo(bytes, operation, target, services);
  if (answer === null) {
    request.socket.destroy();
    return;
  }
  keepAnswer(answer.body);
  response.setHeader('x-backside-transport', answer.status === 200 ? 'OK OK' : 'FAIL FAIL');
  send(response, answer.status, 'text/xml', answer.body);
}

/** The operation that a SOAPAction names, quotes or none; null when the service has none of that name. */
function operationOf(soapAction: string, service: ServiceName): string | null {
  const action = soapAction.replace(/^"(.*)"$/, '$1');
  return OPERATIONS[service].find((name) => action === CALLS[service].action + name) ?? null;
}

function answerTo(
  bytes: Uint8Array,
  operation: string | null,
  target: { readonly environment: EnvironmentName; readonly service: ServiceName },
  services: Services,
): Answer {
  const { service, environment } = target;
  try {
    if (operation === null) throw new GatewayRefused('No matching operation for SOAPAction');
    // The registry's namespace is a relative URI, which libxml2 does not canonicalise.
    const canonicalise = service === 'ws_personaGetActEmpresarial' ? ownExclusive : exclusive;
    using soap = readSoap(bytes);
    const caller = callerOf(soap.envelope, soap.body, { canonicalise, trusts: services.trusts });
    const call = treeOf(soap.call);
    if (call.name !== CALLS[service].element + operation || call.namespace !== CALLS[service].namespace)
      throw new GatewayRefused('SOAPAction and Body do not name the same operation');
    const result = perform(operation, call, { service, environment, caller, services });
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

/** What an operation answers inside the Body; null for no answer at all. */
function perform(
  operation: string,
  call: XmlTree,
  context: {
    readonly service: ServiceName;
    readonly environment: EnvironmentName;
    readonly caller: Caller;
    readonly services: Services;
  },
): { readonly inner: string; readonly isFault: boolean } | null {
  const { service, environment, caller, services } = context;
  if (service === 'ws_personaGetActEmpresarial') return askRegistry(call, services.state);
  const consultation = CONSULTATIONS[operation];
  if (service === 'ws_consultas' && consultation)
    return {
      inner: consultationAnswer(operation, consultation(call, { ...services, environment, caller })),
      isFault: false,
    };

  const payload = textAt(call, 'Datain', 'xmlData') ?? '';
  const signer = services.authority.signers[environment];
  if (operation === 'EFACCONSULTARESTADOENVIO') {
    const answer = queryState(payload, { ...services, environment, caller, signer });
    return { inner: receptionAnswer(operation, answer), isFault: false };
  }
  const reception = receiveSobre(payload, caller, environment, services);
  if (reception.directives.downSeconds > 0) services.outage.begin(reception.directives.downSeconds);
  if (reception.directives.lost) return null;
  return { inner: receptionAnswer(operation, ackSobre(reception, environment, signer)), isFault: false };
}
