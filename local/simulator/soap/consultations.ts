import { type Clock, momentOf, withoutZone } from '../clock.ts';
import type { EnvironmentName } from '../environments.ts';
import { compareDue } from '../judge/report/compareDue.ts';
import { type Caller, GatewayRefused } from '../security/wsSecurity.ts';
import type { State } from '../state/database.ts';
import { findForeignCfe, findReceipt } from '../state/receipts.ts';
import { findReport, listReports } from '../state/reports.ts';
import { findSobre, listSobres, type Sobre, sobresCarrying } from '../state/sobres.ts';
import { SERVICES_NS } from '../xml/names.ts';
import { childOf, textAt, type XmlTree } from '../xml/read.ts';
import { cdata, leaf, tag } from '../xml/write.ts';
import { ISSUER_CONSULTATIONS } from './issuers.ts';

/** What a consultation works with. */
interface Consulted {
  readonly state: State;
  readonly environment: EnvironmentName;
  readonly caller: Caller;
  readonly clock: Clock;
}

type Consultation = (call: XmlTree, consulted: Consulted) => string;

/**
 * The consultations that are served, by operation; each returns the content of its answer
 * (docs/authority/services.md#consultations).
 */
export const CONSULTATIONS: Readonly<Record<string, Consultation>> = {
  EFACCONSULTARESTADOCFE: receiptState,
  EFACCONSULTARENVIOSCFE: shipmentsOfReceipt,
  EFACCONSULTARENVIOSSOBRE: shipments,
  EFACCONSULTARENVIOSREPORTE: reportsOfDay,
  EFACCONSULTARRESPUESTAREPORTE: answerToReport,
  ...ISSUER_CONSULTATIONS,
};

/** The Body of a consultation's answer. */
export const consultationAnswer = (operation: string, inner: string): string => {
  const name = `WS_eFactura_Consultas.${operation}Response`;
  return `<${name} xmlns="${SERVICES_NS}">${inner}</${name}>`;
};

/** A sobre of another system, which only its number is known of. */
const FOREIGN_SOBRE = { id: 999_999_999_999, idemisor: 1, token: 'b3Ryb1Npc3RlbWE=' } as const;

/**
 * The state of one receipt, by the first sobre that carried it; an unknown one has no state and ids of 0. One of another
 * system is accepted.
 */
function receiptState(call: XmlTree, consulted: Consulted): string {
  const number = numberIn(call, consulted);
  const receipt = findReceipt(consulted.state, number);
  const first = receipt && findSobre(consulted.state, consulted.environment, receipt.sobre_id);
  if (!receipt && findForeignCfe(consulted.state, number)) {
    const { id, idemisor, token } = FOREIGN_SOBRE;
    return tag(
      'Ackconsultaestadocfe',
      leaf('EstadoCFE', 'AE'),
      leaf('IdEmisor', idemisor),
      leaf('IdReceptor', id),
      tag('ParamConsulta', leaf('Token', token), leaf('Fechahora', withoutZone(consulted.clock()))),
    );
  }
  if (!receipt || !first)
    return tag('Ackconsultaestadocfe', leaf('EstadoCFE', ''), leaf('IdEmisor', 0), leaf('IdReceptor', 0));
  const isOut = receipt.ready_at <= consulted.clock().toISOString();
  return tag(
    'Ackconsultaestadocfe',
    leaf('EstadoCFE', isOut ? receipt.verdict : ''),
    leaf('IdEmisor', first.idemisor),
    leaf('IdReceptor', first.id),
    parametersOf(first),
  );
}

/** All sobres that carried a receipt, first to last. */
function shipmentsOfReceipt(call: XmlTree, consulted: Consulted): string {
  const sobres = sobresCarrying(consulted.state, numberIn(call, consulted));
  return tag('Ackconsultaenvioscfe', tag('ColeccionDatosSobres', ...sobres.map(shipment)));
}

const MOST_DAYS_MS = 31 * 86_400_000;

/** The caller's sobres in a span of at most 31 days: the way to recover after a time-out. */
function shipments(call: XmlTree, consulted: Consulted): string {
  const query = childOf(call, 'Consultaenviossobre');
  const from = momentOf(textAt(query, 'FechaDesde')?.trim() ?? '');
  const to = momentOf(textAt(query, 'FechaHasta')?.trim() ?? '');
  if (!from || !to || to < from || to.getTime() - from.getTime() > MOST_DAYS_MS)
    throw new GatewayRefused('FechaDesde y FechaHasta: un lapso de hasta 31 días');
  const sobres = listSobres(consulted.state, {
    environment: consulted.environment,
    rut: consulted.caller.rut,
    idemisor: wholeNumber(textAt(query, 'IdEmisor')),
    id: wholeNumber(textAt(query, 'IdReceptor')),
    from: from.toISOString(),
    to: new Date(to.getTime() + 999).toISOString(), // the second that is named counts whole
  });
  return tag('Ackconsultaenviossobre', tag('ColeccionDatosSobre', ...sobres.map(shipment)));
}

/** The caller's reports of a day as they stand now, of any sequence and IdEmisor unless one is named (0: any). */
function reportsOfDay(call: XmlTree, consulted: Consulted): string {
  const { state, environment, caller } = consulted;
  const query = childOf(call, 'Consultaenviosreporte');
  const date = textAt(query, 'FechaResumen')?.trim() ?? '';
  if (date.length !== 10 || momentOf(date) === null)
    throw new GatewayRefused('FechaResumen: una fecha AAAA-MM-DD');
  const issuer = { environment, rut: caller.rut };
  compareDue(state, issuer, consulted.clock());
  const found = listReports(state, {
    ...issuer,
    date,
    sequence: wholeNumber(textAt(query, 'Secuencia') || '0') || null,
    idEmisor: wholeNumber(textAt(query, 'IdEmisor') || '0') || null,
  });
  const rows = found.map((report) =>
    tag(
      'DatosReporte',
      leaf('IdEmisor', report.id_emisor),
      leaf('IdReceptor', report.id),
      leaf('Estado', report.state),
      leaf('FechaHoraRecepcion', withoutZone(new Date(report.received_at))),
    ),
  );
  return tag('Ackconsultaenviosreporte', tag('ColeccionDatosReporte', ...rows));
}

/** The answer that a report of the caller got, word for word; nothing for one that is not there. */
function answerToReport(call: XmlTree, { state, environment, caller }: Consulted): string {
  const id = wholeNumber(textAt(childOf(call, 'Consultarespuestareporte'), 'IdReceptor'));
  const report = findReport(state, { environment, rut: caller.rut }, id);
  return report ? tag('Ackrepdiario', cdata(report.ack)) : leaf('Ackrepdiario', '');
}

const shipment = (sobre: Sobre): string =>
  tag(
    'DatosSobre',
    leaf('EstadoSobre', sobre.state),
    leaf('FechaHoraSobre', withoutZone(new Date(sobre.received_at))),
    leaf('IdEmisor', sobre.idemisor),
    leaf('IdReceptor', sobre.id),
    sobre.state === 'AS' ? parametersOf(sobre) : '',
  );

const parametersOf = (sobre: Sobre): string =>
  tag(
    'ParamConsulta',
    leaf('Token', sobre.token),
    leaf('Fechahora', withoutZone(new Date(sobre.query_from))),
  );

function numberIn(call: XmlTree, { environment, caller }: Consulted) {
  const id = childOf(call, 'Cfeid');
  const read = (name: string): string => textAt(id, name)?.trim() ?? '';
  const [cfeType, serie] = [read('TipoCFE'), read('Serie')];
  if (!/^\d{3}$/.test(cfeType) || serie === '')
    throw new GatewayRefused('Cfeid: TipoCFE, Serie y Nro son obligatorios');
  return { environment, rut: caller.rut, cfeType, serie, number: wholeNumber(read('Nro')) };
}

function wholeNumber(text: string | undefined): number {
  if (!/^\d{1,10}$/.test(text?.trim() ?? '')) throw new GatewayRefused('número mal formado');
  return Number(text);
}
