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
  lateOrdinals,
  nextResponseId,
  noteAsked,
  type Sobre,
  takeOddStates,
} from '../state/sobres.ts';
import { SERVICES_NS } from '../xml/names.ts';
import { readTree, textAt, withoutDeclaration, XmlRefused, type XmlTree } from '../xml/read.ts';
import { ackCfe, exception } from './answers.ts';

/**
 * Answers EFACCONSULTARESTADOENVIO: the verdict on a sobre, the same each time, or why there is none
 * (docs/authority/sobres.md#state-query). "Not yet" (105) comes before
 * Fechahora and, where that asks for no wait, at least once.
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
  const ack = isTooSoon(sobre, now.toISOString())
    ? null
    : inTransaction(state, () => giveVerdict(sobre, now, context));
  if (ack !== null) return ack;
  noteAsked(state, sobre.id);
  return exception(105);
}

/** Before Fechahora, before the verdict is out, and at the first question where Fechahora did not ask for a wait. */
function isTooSoon(sobre: Sobre, now: string): boolean {
  const asksForNoWait = sobre.query_from <= sobre.received_at;
  return now < sobre.query_from || now < sobre.ready_at || (asksForNoWait && sobre.asked === 0);
}

/** The answer about all receipts whose verdict is out, and from then on the same where those are all; null: none is. */
function giveVerdict(
  sobre: Sobre,
  now: Date,
  context: { readonly state: State; readonly environment: EnvironmentName; readonly signer: Signer },
): string | null {
  const { state, environment, signer } = context;
  const judgements = judgementsOf(state, sobre.id);
  const late = lateOrdinals(state, sobre.id, now.toISOString());
  const due = judgements.filter(({ ordinal }) => !late.has(ordinal));
  if (due.length === 0) return null;
  const oddStates = takeOddStates(
    state,
    sobre.id,
    due.map(({ ordinal }) => ordinal),
  );
  const ack = ackCfe(sobre, due, {
    environment,
    signer,
    responseId: nextResponseId(state),
    now,
    count: judgements.length,
    oddStates,
    originalOf: (id) => findSobre(state, environment, id),
  });
  if (late.size === 0 && oddStates.size === 0) keepAck(state, sobre.id, ack);
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
