import type { CustomerChange, ProviderReport } from '../../domain/reports/providerReport.ts';
import { CFE_NAMESPACE } from './cfe.ts';
import { plain } from './write.ts';

/** The text that the format prescribes; without accents, as its schema also takes it. */
const DECLARATION =
  'Declaro que las soluciones de Software de facturacion electronica informadas no permiten la emision de ' +
  'comprobantes que no cumplan con el estandar de emision, firma y envio definidos por DGI';
/** Middleware (annex 1). */
const SOLUTION = 10;
/** XML, signature, sending, report, print, storage, publication (annex 2). */
const PROCESSES = [3, 4, 5, 6, 7, 8, 9];
const NAME = 'CFE API';
/** TipoRegistro, and the field of its day. */
const KINDS = { BEGAN: { code: 1, day: 'FechaDesde' }, ENDED: { code: 2, day: 'FechaHasta' } } as const;

type Change = Pick<CustomerChange, 'kind' | 'date'>;

/** Writes the unsigned report as canonical XML for `Signer.sign` (Formato Informe Proveedores de Software v1.3). */
export function writeProviderReport(report: ProviderReport): string {
  const { rut, period, sequence, product, declaresProduct, changes } = report;
  const firstDay = `${period.slice(0, 4)}-${period.slice(4)}-01`;
  const solutions = declaresProduct
    ? plain(
        'DetalleSoluciones',
        writeSolution({ kind: 'BEGAN', date: firstDay }, product, plain('NombreSW', NAME)),
      )
    : '';
  return (
    `<Declaracion xmlns="${CFE_NAMESPACE}" version="1.0"><Caratula>` +
    plain('RUCProveedor', rut) +
    plain('Periodo', period) +
    plain('Secuencia', sequence) +
    plain('ZonaInformada', declaresProduct ? 3 : 2) +
    plain('TextoDeclaracion', DECLARATION) +
    plain('AcepDeclaracion', 'SI') +
    plain('CantSolSoft', declaresProduct ? 1 : 0) +
    plain('CantRUCs', changes.length) +
    `</Caratula>${solutions}` +
    plain('DetalleClientes', changes.map((change) => writeCustomer(change, product)).join('')) +
    '</Declaracion>'
  );
}

function writeCustomer(change: CustomerChange, product: string): string {
  return plain(
    'Cliente',
    plain('RUCCliente', change.rut) +
      plain('TipoCliente', 1) +
      plain('TipoRegistro', KINDS[change.kind].code) +
      plain(change.kind === 'BEGAN' ? 'FechaInicio' : 'FechaFin', change.date) +
      plain('SolucionesContratadas', writeSolution(change, product)),
  );
}

function writeSolution(change: Change, product: string, name = ''): string {
  const dated = writeKind(change);
  const processes = PROCESSES.map((code) => plain('Proceso', dated + plain('CodigoProceso', code)));
  return plain(
    'Solucion',
    dated +
      plain('CodigoSolucion', SOLUTION) +
      plain('CodigoProducto', product) +
      name +
      plain('Procesos', processes.join('')),
  );
}

const writeKind = ({ kind, date }: Change): string =>
  plain('TipoRegistro', KINDS[kind].code) + plain(KINDS[kind].day, date);
