import type { Element } from '@xmldom/xmldom';
import type { RegistryRecord } from '../../domain/enterprises/registryRecord.ts';
import { childrenOf, elementAt, isNamed, textAt } from './parse.ts';

/** Reads the registry's record (docs/authority/services.md#erut-record); undefined for another element. */
export function readRegistryRecord(root: Element): RegistryRecord | undefined {
  const rut = textAt(root, 'RUT');
  if (!isNamed(root, 'WS_PersonaActEmpresarial') || rut === undefined) return undefined;
  const text = (name: string) => textAt(root, name) ?? null;
  return {
    rut,
    legalName: text('Denominacion'),
    tradeName: text('NombreFantasia'),
    entityTypeCode: text('TipoEntidad'),
    entityTypeDescription: text('DescripcionTipoEntidad'),
    activityStatus: text('EstadoActividad'),
    // The service misspells the name; also reads the correct spelling.
    startDate: dateOf(text('FechaInicioActivdad') ?? text('FechaInicioActividad')),
    businessActivities: itemsOf(root, 'WS_PersonaActividades').map((item) => ({
      activityCode: textAt(item, 'GiroCod') ?? null,
      activityName: textAt(item, 'GiroNom') ?? null,
      startDate: dateOf(textAt(item, 'GiroFec_Ini') ?? null),
    })),
    fiscalAddresses: itemsOf(root, 'WS_DomFiscalLocPrincipal').map((item) => ({
      branch: branchOf(textAt(item, 'Local_Sec_Nro')),
      localityName: textAt(item, 'Loc_Nom') ?? null,
      streetName: textAt(item, 'Calle_Nom') ?? null,
    })),
  };
}

/** Creates the record of a RUT for which the registry returns only a status, or nothing (errors 8 to 12). */
export const recordOfStatus = (rut: string, activityStatus: string | null): RegistryRecord => ({
  rut,
  legalName: null,
  tradeName: null,
  entityTypeCode: null,
  entityTypeDescription: null,
  activityStatus,
  startDate: null,
  businessActivities: [],
  fiscalAddresses: [],
});

function itemsOf(root: Element, name: string): Element[] {
  const list = elementAt(root, name);
  return list ? childrenOf(list) : [];
}

/** The registry writes `0000-00-00` for a missing date. */
const dateOf = (text: string | null): string | null =>
  text === null || text.startsWith('0000') ? null : text;

const branchOf = (text: string | undefined): number | null =>
  text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : null;
