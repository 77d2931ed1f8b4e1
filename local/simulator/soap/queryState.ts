import type { Clock } from '../clock.ts';
import type { EnvironmentName } from '../environments.ts';
import type { Signer } from '../security/authority.ts';
import { isValidAt } from '../security/identity.ts';
import type { Caller } from '../security/wsSecurity.ts';
import { inTransaction, type State } from '../state/database.ts';
import {
  findSobre,
  judgementsOf,
  keepAck,
  nextResponseId,
  noteAsked,
  type Sobre,
  takeOddState,
} from '../state/sobres.ts';
import { SERVICES_NS } from '../xml/names.ts';
import { readTree, textAt, withoutDeclaration, XmlRefused, type XmlTree } from '../xml/read.ts';
import { ackCfe, exception } from './answers.ts';

/**
 * Answers EFACCONSULTARESTADOENVIO: the verdict on a sobre, the same each time, or why there is none
 * (docs/authority/sobres.md#state-query). Before a verdict "not yet" (105) is answered at least once.
 */
export function queryState(
  payload: string,
  context: {
    readonly state: State;
    readonly environment: EnvironmentName;
    readonly caller: Caller;
    readonly signer: Signer;
    readonly clock: Clock;
  },
): string {
  const { state, environment, caller } = context;
  const now = context.clock();
  if (!isValidAt(caller.certificate, now)) return exception(5, 'el certificado no está vigente');
  const query = readQuery(payload);
  const [id, token] = [textAt(query, 'IdReceptor')?.trim(), textAt(query, 'Token')?.trim()];
  if (!query || id === undefined || token === undefined) return exception(1);
  if (!/^0*[1-9]\d{0,9}$/.test(id)) return exception(2);

  const sobre = findSobre(state, environment, Number(id));
  if (!sobre || sobre.state !== 'AS') return exception(104);
  if (sobre.rut !== caller.rut) return exception(4);
  if (sobre.token !== token) return exception(3);
  if (sobre.ack_cfe !== null) return sobre.ack_cfe;
  if (sobre.asked === 0 || now.toISOString() < sobre.ready_at) {
    noteAsked(state, sobre.id);
    return exception(105);
  }
  return inTransaction(state, () => giveVerdict(sobre, now, context));
}

function giveVerdict(
  sobre: Sobre,
  now: Date,
  context: { readonly state: State; readonly environment: EnvironmentName; readonly signer: Signer },
): string {
  const { state, environment, signer } = context;
  const oddState = takeOddState(state, sobre.id);
  const ack = ackCfe(sobre, judgementsOf(state, sobre.id), {
    environment,
    signer,
    responseId: nextResponseId(state),
    now,
    oddState,
    originalOf: (id) => findSobre(state, environment, id),
  });
  if (oddState === null) keepAck(state, sobre.id, ack);
  return ack;
}

function readQuery(payload: string): XmlTree | undefined {
  try {
    const tree = readTree(withoutDeclaration(payload));
    return tree.name === 'ConsultaCFE' && tree.namespace === SERVICES_NS ? tree : undefined;
  } catch (error) {
    if (error instanceof XmlRefused) return undefined;
    throw error;
  }
}
