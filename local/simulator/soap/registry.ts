import type { State } from '../state/database.ts';
import { findRecord, type RegistryRecord } from '../state/registry.ts';
import { REGISTRY_NS } from '../xml/names.ts';
import { textAt, type XmlTree } from '../xml/read.ts';
import { cdata, leaf, tag } from '../xml/write.ts';
import { registryFault } from './answers.ts';

/** Details of the registry's faults that do not depend on the request (docs/authority/services.md#erut-errors). */
const FAULT_DETAILS: Readonly<Record<number, string>> = {
  1: 'ERROR GRAVE',
  6: 'LARGO DE TIPO DE DOCUMENTO INVALIDO',
  7: 'TIPO DE DOCUMENTO INVALIDO PARA RUT',
  8: 'NO TIENE LOCAL PRINCIPAL',
  9: 'EL LOCAL PRINCIPAL NO TIENE DOMICILIO',
  10: 'NUNCA TUVO ACTIVIDAD',
  11: 'ACTIVIDAD CANCELADA',
  12: 'ACTIVIDAD CON INICIO FUTURO',
};
/** Codes that are the caller's fault; the others are the server's. */
const CLIENT_FAULTS = [8, 9, 10, 11, 12, 14];

/** The faults that the portal can order. */
export const REGISTRY_FAULTS: readonly number[] = Object.keys(FAULT_DETAILS).map(Number);

/**
 * What the registry answers about a RUT: the content of the SOAP Body, and whether it is a fault
 * (docs/authority/services.md#erut-the-public-registry).
 */
export function askRegistry(
  call: XmlTree,
  state: State,
): { readonly inner: string; readonly isFault: boolean } {
  const rut = textAt(call, 'Rut')?.trim() ?? '';
  if (!/^\d{1,12}$/.test(rut))
    return fault(5, 'ERROR EN PARÁMETROS DE ENTRADA: RUT DE LARGO INVALIDO (MAXIMO 12)');
  const record = findRecord(state, rut);
  if (!record) return fault(14, 'RUT no disponible para pruebas');
  if (record.fault !== null) return fault(record.fault, FAULT_DETAILS[record.fault] ?? '');
  const data = `<?xml version="1.0" encoding="ISO-8859-1"?>${recordXml(rut, record)}`;
  const name = 'WS_PersonaGetActEmpresarial.ExecuteResponse';
  return { inner: `<${name} xmlns="${REGISTRY_NS}">${tag('Data', cdata(data))}</${name}>`, isFault: false };
}

const fault = (code: number, detail: string) => ({
  inner: registryFault(code, CLIENT_FAULTS.includes(code) ? 'Client' : 'Server', detail),
  isFault: true,
});

/** The record as the registry writes it: padded with blanks, empty elements for what is missing. */
function recordXml(rut: string, record: RegistryRecord): string {
  const [address] = record.fiscal_addresses; // the service knows only the principal branch
  const item = 'WS_PersonaActEmpresarial.WS_DomFiscalLocPrincipalItem';
  const activity = 'WS_PersonaActEmpresarial.WS_PersonaActividadesItem';
  const inner = [
    leaf('RUT', rut),
    leaf('Denominacion', `${record.legal_name} `),
    leaf('NombreFantasia', record.trade_name === null ? '' : `      ${record.trade_name} `),
    leaf('TipoEntidad', record.entity_type_code === null ? '' : record.entity_type_code.padStart(6)),
    leaf(
      'DescripcionTipoEntidad',
      record.entity_type_description === null ? '' : `${record.entity_type_description} `,
    ),
    leaf('EstadoActividad', record.activity_status),
    leaf('FechaInicioActivdad', record.start_date ?? '0000-00-00'),
    tag('WS_DomFiscalLocPrincipal', address ? tag(item, addressXml(address)) : ''),
    tag(
      'WS_PersonaActividades',
      ...record.business_activities.map((one) =>
        tag(
          activity,
          leaf('GiroCod', one.activity_code),
          leaf('GiroNom', `${one.activity_name} `),
          leaf('GiroFec_Ini', one.start_date ?? '0000-00-00'),
        ),
      ),
    ),
  ];
  return `<WS_PersonaActEmpresarial xmlns="${REGISTRY_NS}">${inner.join('')}</WS_PersonaActEmpresarial>`;
}

/** The address item with all its elements, in the service's own spelling. */
const addressXml = (address: RegistryRecord['fiscal_addresses'][number]): string =>
  [
    leaf('Local_Sec_Nro', address.branch),
    leaf('Local_Nom_Fnt', ''),
    leaf('TipoLocal_Id', 1),
    leaf('TipoLocal_Dsc', 'PRINCIPAL'),
    leaf('Local_Fec_Ini', '0000-00-00'),
    leaf('Local_Fec_Canc', '0000-00-00'),
    leaf('TipoDom_Id', 2),
    leaf('TipoDom_Des', 'FISCAL'),
    leaf('CalOcup_id', 0),
    leaf('Calocup_Des', ''),
    leaf('TerCod_Id', 0),
    leaf('Tercod_Des', ''),
    leaf('Calle_id', 0),
    leaf('Calle_Nom', address.street_name === null ? '' : `${address.street_name} `),
    leaf('Dom_Pta_Nro', ''),
    leaf('Dom_Bis_Flg', ''),
    leaf('Dom_Ap_Nro', 0),
    leaf('Loc_Id', 0),
    leaf('Loc_Nom', address.locality_name ?? ''),
    leaf('Dpto_Id', 0),
    leaf('Dpto_Nom', ''),
    leaf('Dom_Pst_Cod', 0),
    leaf('Dom_Coment', ''),
    leaf('Dom_Err_Cod', 'N'),
    tag('Contactos'),
    tag('Complementos'),
  ].join('');
