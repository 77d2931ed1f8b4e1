import { gzipSync } from 'node:zlib';
import { momentOf } from '../clock.ts';
import { GatewayRefused } from '../security/wsSecurity.ts';
import type { State } from '../state/database.ts';
import { type Issuer, listIssuers } from '../state/directory.ts';
import { SERVICES_NS } from '../xml/names.ts';
import { childOf, textAt, type XmlTree } from '../xml/read.ts';
import { leaf, tag } from '../xml/write.ts';

/** How the authority writes that there is no date. */
const NO_DATE = '0000-00-00';

/** The fields of an issuer, in their order, by the list that has them. */
const plainFields = ({ rut, name, mail, since, until }: Issuer): string[] => [
  leaf('RUC', rut),
  leaf('DENOMINACION', name),
  leaf('NOMBRE_FANTASIA', ''),
  leaf('FECHA_INICIO', since),
  leaf('FECHA_FIN', until ?? NO_DATE),
  leaf('MAIL', mail),
];
const transitionFields = ({ rut, name, mail, since, until }: Issuer): string[] => [
  leaf('RUC', rut),
  leaf('DENOMINACION', name),
  leaf('FECHA_INICIO', since),
  leaf('FECHA_FIN_TRANSICION', NO_DATE),
  leaf('FECHA_FIN', until ?? NO_DATE),
  leaf('MAIL', mail),
];
const providerFields = (issuer: Issuer): string[] => [
  ...transitionFields(issuer),
  leaf('URL_WEBSERVICE', ''),
  leaf('MAIL_CONTACTO_TECNICO', ''),
];

type Fields = (issuer: Issuer) => string[];
type Consultation = (call: XmlTree, consulted: { readonly state: State }) => string;

/** The list as a document of its own; its items bear its name, as the authority's do. */
function listed(name: string, issuers: readonly Issuer[], fields: Fields): string {
  const items = issuers.map((issuer) => tag(`${name}.${name}Item`, ...fields(issuer)));
  return `<${name} xmlns="${SERVICES_NS}">${items.join('')}</${name}>`;
}

const plain =
  (element: string, name: string, fields: Fields): Consultation =>
  (call, { state }) =>
    tag(element, ...asked(call, state).map((issuer) => tag(`${name}.${name}Item`, ...fields(issuer))));

/** UTF-8, gzip, base64 in lines. */
const compressed =
  (element: string, fields: Fields): Consultation =>
  (call, { state }) => {
    const list = listed('RucEmisoresTransicionMail', asked(call, state), fields);
    const lines =
      gzipSync(list)
        .toString('base64')
        .match(/.{1,76}/g) ?? [];
    return leaf(element, lines.join('\n'));
  };

/**
 * The consultations of the list of electronic issuers, by operation
 * (docs/authority/sobres.md#who-is-an-electronic-issuer).
 */
export const ISSUER_CONSULTATIONS: Readonly<Record<string, Consultation>> = {
  EFACCONSULTARRUCEMISORES: plain('Rucemisoresmail', 'RucEmisoresMail', plainFields),
  EFACCONSULTARRUCEMISORESTRANSICION: plain(
    'Rucemisorestransicionmail',
    'RucEmisoresTransicionMail',
    transitionFields,
  ),
  EFACCONSULTARRUCEMISORESTRANSICIONCOMPRIMIDO: compressed('Rucemisorestransicionmail', transitionFields),
  EFACCONSULTARRUCEMISORESTRANSICIONCOMPRIMIDOPROV: compressed('Rucemisorestransicionmail', providerFields),
};

function asked(call: XmlTree, state: State): Issuer[] {
  const filter = childOf(call, 'Consultarucemisores');
  const text = (name: string): string => textAt(filter, name)?.trim() ?? '';
  const since = momentOf(text('Filtro_eFacRUCEmisorAudFchHora'));
  if (!since) throw new GatewayRefused('Filtro_eFacRUCEmisorAudFchHora es obligatorio');
  return listIssuers(state, {
    rut: text('Filtro_eFacDocNro'),
    name: text('Filtro_eFacDenominacion'),
    since: since.toISOString(),
  });
}
