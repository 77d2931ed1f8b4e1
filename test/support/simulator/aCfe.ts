/** A receipt as a test wants it; everything else is right by itself. */
export interface CfeOrder {
  /** 101 … 123. */
  readonly type: number;
  readonly number?: number;
  readonly series?: string;
  readonly rut?: string;
  readonly cae: {
    readonly authorization_number: string;
    readonly number_start: number;
    readonly number_end: number;
  };
  readonly caeExpires?: string;
  /** Name of the first line: directives go here. */
  readonly name?: string;
  /** YYYY-MM-DDTHH:MM:SS-03:00 */
  readonly signedAt?: string;
  /** What a note refers to. */
  readonly reference?: { readonly type: number; readonly series?: string; readonly number: number };
  /** Changes the finished text before it is signed. */
  readonly edit?: (xml: string) => string;
}

export const ISSUER_RUT = '210154140015';
export const RECEIVER_RUT = '219000090011';

/** The moment in Montevideo, `YYYY-MM-DDTHH:MM:SS-03:00`. */
export const montevideo = (moment: Date): string =>
  `${new Date(moment.getTime() - 3 * 3_600_000).toISOString().slice(0, 19)}-03:00`;

const root = (type: number): string => (type < 110 ? 'eTck' : type < 120 ? 'eFact' : 'eFact_Exp');

/** The text of an unsigned CFE of one of the nine types, canonical as it stands. */
export function aCfe(order: CfeOrder): string {
  const { type } = order;
  const isExport = type > 120;
  const signedAt = order.signedAt ?? montevideo(new Date());
  const day = signedAt.slice(0, 10);
  const exportTerms = ['<ClauVenta>N/A</ClauVenta><ModVenta>90</ModVenta><ViaTransp>8</ViaTransp>', ''];
  const receivers = {
    eTck: '',
    eFact: `<Receptor><TipoDocRecep>2</TipoDocRecep><CodPaisRecep>UY</CodPaisRecep><DocRecep>${RECEIVER_RUT}</DocRecep><RznSocRecep>CLIENTE SA</RznSocRecep><DirRecep>Avenida 1</DirRecep><CiudadRecep>Montevideo</CiudadRecep></Receptor>`,
    eFact_Exp:
      '<Receptor><TipoDocRecep>7</TipoDocRecep><CodPaisRecep>BR</CodPaisRecep><DocRecepExt>12345678000195</DocRecepExt><RznSocRecep>CLIENTE LTDA</RznSocRecep><DirRecep>Rua 1</DirRecep><CiudadRecep>Porto Alegre</CiudadRecep><DeptoRecep>RS</DeptoRecep><PaisRecep>Brasil</PaisRecep></Receptor>',
  };
  const totals = isExport
    ? '<TpoMoneda>USD</TpoMoneda><TpoCambio>40.125</TpoCambio><MntExpoyAsim>1000.00</MntExpoyAsim><MntTotal>1000.00</MntTotal><CantLinDet>1</CantLinDet><MntPagar>1000.00</MntPagar>'
    : '<TpoMoneda>UYU</TpoMoneda><MntNoGrv>120.00</MntNoGrv><MntNetoIvaTasaMin>300.00</MntNetoIvaTasaMin><MntNetoIVATasaBasica>1000.00</MntNetoIVATasaBasica><IVATasaMin>10.000</IVATasaMin><IVATasaBasica>22.000</IVATasaBasica><MntIVATasaMin>30.00</MntIVATasaMin><MntIVATasaBasica>220.00</MntIVATasaBasica><MntTotal>1670.00</MntTotal><CantLinDet>5</CantLinDet><MontoNF>-0.50</MontoNF><MntPagar>1669.50</MntPagar>';
  const name = order.name ?? 'Producto';
  const items = isExport
    ? [item(1, 10, name, '2.000', '500.000000', '1000.00')]
    : [
        item(1, 3, name, '2.000', '500.000000', '1000.00'),
        item(2, 2, 'Leche', '1.000', '300.000000', '300.00'),
        item(3, 1, 'Libro', '1.000', '120.000000', '120.00'),
        item(4, 5, 'Muestra', '1.000', '0.000000', '0.00'),
        item(5, 7, 'Redondeo', '1.000', '0.500000', '0.50'),
      ];
  const { reference, cae } = order;
  const rate = isExport
    ? '<TpoMonedaRef>USD</TpoMonedaRef><TpoCambioRef>40.125</TpoCambioRef>'
    : '<TpoMonedaRef>UYU</TpoMonedaRef>';
  const references = reference
    ? `<Referencia><Referencia><NroLinRef>1</NroLinRef><TpoDocRef>${reference.type}</TpoDocRef><Serie>${reference.series ?? 'A'}</Serie><NroCFERef>${reference.number}</NroCFERef><RazonRef>Devolucion</RazonRef><FechaCFEref>${day}</FechaCFEref><MntCFEref>10.00</MntCFEref>${rate}</Referencia></Referencia>`
    : '';
  const xml = [
    `<CFE xmlns="http://cfe.dgi.gub.uy" version="1.0"><${root(type)}><TmstFirma>${signedAt}</TmstFirma><Encabezado>`,
    `<IdDoc><TipoCFE>${type}</TipoCFE><Serie>${order.series ?? 'A'}</Serie><Nro>${order.number ?? cae.number_start}</Nro>`,
    `<FchEmis>${day}</FchEmis><FmaPago>1</FmaPago>${exportTerms[isExport ? 0 : 1]}</IdDoc>`,
    `<Emisor><RUCEmisor>${order.rut ?? ISSUER_RUT}</RUCEmisor><RznSoc>EMPRESA SA</RznSoc><CdgDGISucur>1</CdgDGISucur>`,
    '<DomFiscal>Calle 1234</DomFiscal><Ciudad>Montevideo</Ciudad><Departamento>Montevideo</Departamento></Emisor>',
    `${receivers[root(type) as keyof typeof receivers]}<Totales>${totals}</Totales></Encabezado>`,
    `<Detalle>${items.join('')}</Detalle>${references}<CAEData><CAE_ID>${cae.authorization_number}</CAE_ID>`,
    `<DNro>${cae.number_start}</DNro><HNro>${cae.number_end}</HNro>`,
    `<FecVenc>${order.caeExpires ?? twoYearsAfter(montevideo(new Date()).slice(0, 10))}</FecVenc></CAEData></${root(type)}></CFE>`,
  ].join('');
  return order.edit ? order.edit(xml) : xml;
}

const item = (
  line: number,
  indFact: number,
  name: string,
  count: string,
  price: string,
  amount: string,
): string =>
  `<Item><NroLinDet>${line}</NroLinDet><IndFact>${indFact}</IndFact><NomItem>${name}</NomItem><Cantidad>${count}</Cantidad><UniMed>N/A</UniMed><PrecioUnitario>${price}</PrecioUnitario><MontoItem>${amount}</MontoItem></Item>`;

/** The same day two years later. */
export function twoYearsAfter(day: string): string {
  const moment = new Date(`${day}T00:00:00Z`);
  moment.setUTCFullYear(moment.getUTCFullYear() + 2);
  return moment.toISOString().slice(0, 10);
}
