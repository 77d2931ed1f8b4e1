import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { montevideo } from '../../support/simulator/aCfe.ts';
import { testWithOfficialFiles } from '../../support/simulator/tools.ts';
import {
  aCustomer,
  aSimulator,
  type CaeFile,
  type Customer,
  field,
  fields,
} from '../../support/simulator/world.ts';

type Edit = (xml: string) => string;
const swap =
  (from: string | RegExp, to: string): Edit =>
  (xml) => {
    const changed = xml.replace(from, to);
    if (changed === xml) throw new Error(`nothing to change: ${from}`);
    return changed;
  };
const all =
  (...edits: Edit[]): Edit =>
  (xml) =>
    edits.reduce((text, edit) => edit(text), xml);
const day = (days: number): string => montevideo(new Date(Date.now() + days * 86_400_000)).slice(0, 10);
const totals = (inner: string): Edit => swap(/<Totales>.*<\/Totales>/, `<Totales>${inner}</Totales>`);
const details = (inner: string): Edit => swap(/<Detalle>.*<\/Detalle>/, `<Detalle>${inner}</Detalle>`);
const item = (line: number, indFact: number, amount: string, more = ''): string =>
  `<Item><NroLinDet>${line}</NroLinDet><IndFact>${indFact}</IndFact><NomItem>x</NomItem><Cantidad>1</Cantidad><UniMed>N/A</UniMed><PrecioUnitario>${amount}</PrecioUnitario>${more}<MontoItem>${amount}</MontoItem></Item>`;
const receiver = (inner: string): Edit => swap('</Emisor>', `</Emisor><Receptor>${inner}</Receptor>`);
const big = totals(
  '<TpoMoneda>UYU</TpoMoneda><MntNoGrv>32105.00</MntNoGrv><MntTotal>32105.00</MntTotal><CantLinDet>1</CantLinDet><MntPagar>32105.00</MntPagar>',
);
const gross = (base: string, vat: string): Edit =>
  all(
    swap('<FmaPago>', '<MntBruto>1</MntBruto><FmaPago>'),
    details(item(1, 3, '100.00')),
    totals(
      `<TpoMoneda>UYU</TpoMoneda><MntNetoIVATasaBasica>${base}</MntNetoIVATasaBasica><IVATasaBasica>22</IVATasaBasica><MntIVATasaBasica>${vat}</MntIVATasaBasica><MntTotal>100.00</MntTotal><CantLinDet>1</CantLinDet><MntPagar>100.00</MntPagar>`,
    ),
  );

/** Faults: type, what is wrong, how to make it, what Detalle says of it. */
const FAULTS: [number, string, Edit, string | RegExp][] = [
  // structure
  [101, 'an element that is missing', swap(/<FmaPago>1<\/FmaPago>/, ''), /FmaPago: falta/],
  [101, 'an element out of order', swap(/(<Serie>A<\/Serie>)(<Nro>\d+<\/Nro>)/, '$2$1'), /Serie: falta/],
  [
    101,
    'an element twice',
    swap('<FmaPago>1</FmaPago>', '<FmaPago>1</FmaPago><FmaPago>1</FmaPago>'),
    /FmaPago: aparece 2 veces/,
  ],
  [
    101,
    'an element that the format does not have',
    swap('<Ciudad>', '<Barrio>x</Barrio><Ciudad>'),
    /Barrio: no se espera/,
  ],
  [
    101,
    'TmstFirma at the end',
    (xml) => xml.replace(/(<TmstFirma>.*?<\/TmstFirma>)(.*)(<\/eTck>)/, '$2$1$3'),
    /TmstFirma: falta/,
  ],
  [
    101,
    'export terms outside exports',
    swap('</FmaPago>', '</FmaPago><ClauVenta>FOB</ClauVenta>'),
    /ClauVenta: no se espera/,
  ],
  [111, 'a type of another family', swap('<TipoCFE>111', '<TipoCFE>101'), /TipoCFE: no es un valor/],
  [121, 'no Incoterm', swap('<ClauVenta>N/A</ClauVenta>', ''), /ClauVenta: falta/],
  [121, 'VAT totals', swap('<MntTotal>', '<MntNoGrv>0.00</MntNoGrv><MntTotal>'), /MntNoGrv: no se espera/],
  [121, 'a line with VAT', swap('<IndFact>10', '<IndFact>3'), /IndFact: no es un valor/],
  [101, 'a unit of five characters', swap('<UniMed>N/A', '<UniMed>metro'), /UniMed: más de 4 caracteres/],
  [101, 'a name that is blank', swap('<NomItem>Leche', '<NomItem>  '), /NomItem: no puede estar vacío/],
  [101, 'no issuer name', swap('EMPRESA SA', ''), /RznSoc: no puede estar vacío/],
  [
    101,
    'an amount of three decimals',
    swap('<MntTotal>1670.00', '<MntTotal>1670.000'),
    /MntTotal: debe ser un número/,
  ],
  [101, 'a comma', swap('<MntTotal>1670.00', '<MntTotal>1670,00'), /MntTotal: debe ser un número/],
  [
    101,
    'a day that does not exist',
    swap(/<FchEmis>[^<]+/, '<FchEmis>2026-02-30'),
    /FchEmis: debe ser una fecha/,
  ],
  [
    101,
    'a signing time without an offset',
    swap(/-03:00<\/TmstFirma>/, '</TmstFirma>'),
    /TmstFirma: debe ser/,
  ],
  [101, 'a currency that is none', swap('UYU', 'UYX'), /TpoMoneda: no es un valor/],
  [101, 'a fifth way to pay', swap('<FmaPago>1', '<FmaPago>5'), /FmaPago: no es un valor/],
  [101, 'no line', details(''), /Item: falta/],
  // header
  [101, 'an issue date 61 days ahead', swap(/<FchEmis>[^<]+/, `<FchEmis>${day(61)}`), /A-C5 FchEmis/],
  [
    101,
    'a signature two days ahead',
    swap(/<TmstFirma>[^<]+/, `<TmstFirma>${montevideo(new Date(Date.now() + 2 * 86_400_000))}`),
    /TmstFirma: posterior/,
  ],
  [
    101,
    'a period that ends before it begins',
    swap(
      '<FmaPago>',
      '<PeriodoDesde>2026-02-01</PeriodoDesde><PeriodoHasta>2026-01-31</PeriodoHasta><FmaPago>',
    ),
    /A-C8/,
  ],
  [
    101,
    'the mark of small taxpayers without such a CAE',
    swap('<FmaPago>', '<MntBruto>3</MntBruto><FmaPago>'),
    /A-C10/,
  ],
  [101, 'MntBruto of e-Boletas', swap('<FmaPago>', '<MntBruto>2</MntBruto><FmaPago>'), /A-C10/],
  [121, 'no sale mode', swap('<ModVenta>90</ModVenta>', ''), /A-C14 ModVenta: obligatorio/],
  [121, 'the sale mode of tax free', swap('<ModVenta>90', '<ModVenta>80'), /A-C14 ModVenta: 80/],
  [
    111,
    'the sale mode of goods',
    swap('</FmaPago>', '</FmaPago><ModVenta>1</ModVenta>'),
    /A-C14 ModVenta: 1/,
  ],
  [101, 'own collection with goods', swap('</FmaPago>', '</FmaPago><IndCobPropia>1</IndCobPropia>'), /A-C20/],
  // receiver
  [111, 'no receiver', swap(/<Receptor>.*<\/Receptor>/, ''), /DocRecep: el RUC del receptor/],
  [111, 'a receiver without an address', swap('<DirRecep>Avenida 1</DirRecep>', ''), /DirRecep: obligatorio/],
  [
    111,
    'a RUC with a wrong check digit',
    swap('<DocRecep>219000090011', '<DocRecep>219000090012'),
    /dígito verificador/,
  ],
  [111, 'a foreign receiver', swap('<CodPaisRecep>UY', '<CodPaisRecep>AR'), /CodPaisRecep: no es un valor/],
  [121, 'a receiver without a country', swap('<PaisRecep>Brasil</PaisRecep>', ''), /PaisRecep: obligatorio/],
  [
    121,
    'a document without its country',
    swap('<CodPaisRecep>BR</CodPaisRecep>', ''),
    /A-C61 CodPaisRecep: falta/,
  ],
  [101, 'an empty receiver', receiver(''), /Receptor: vacío/],
  [
    101,
    'a document type without a number',
    receiver('<TipoDocRecep>3</TipoDocRecep><CodPaisRecep>UY</CodPaisRecep>'),
    /A-C62 DocRecep: falta/,
  ],
  [
    101,
    'a number without a document type',
    receiver('<DocRecep>13353214</DocRecep>'),
    /A-C60 TipoDocRecep: falta/,
  ],
  [
    101,
    'an identity card with a wrong check digit',
    receiver('<TipoDocRecep>3</TipoDocRecep><CodPaisRecep>UY</CodPaisRecep><DocRecep>13353215</DocRecep>'),
    /C.I./,
  ],
  [
    101,
    'a DNI of a country that has none',
    receiver('<TipoDocRecep>6</TipoDocRecep><CodPaisRecep>US</CodPaisRecep><DocRecepExt>1</DocRecepExt>'),
    /DNI solo/,
  ],
  [101, 'an unknown buyer above 5,000 UI', all(details(item(1, 1, '32105.00')), big), /supera 5.000 UI/],
  // lines
  [101, 'a line number that is skipped', swap('<NroLinDet>5', '<NroLinDet>6'), /línea 5: NroLinDet/],
  [101, 'a count of lines that is another', swap('<CantLinDet>5', '<CantLinDet>4'), /A-C126/],
  [
    101,
    'a line that does not multiply',
    swap('<MontoItem>120.00', '<MontoItem>120.01'),
    /línea 3: MontoItem/,
  ],
  [
    101,
    'a price of nothing',
    all(swap('<PrecioUnitario>120.000000', '<PrecioUnitario>0'), swap('<MontoItem>120.00', '<MontoItem>0')),
    /mayor que 0/,
  ],
  [101, 'a gift with a price', swap('<PrecioUnitario>0.000000', '<PrecioUnitario>1.000000'), /con IndFact 5/],
  [
    101,
    'a discount without its amount',
    swap('</PrecioUnitario><MontoItem>120', '</PrecioUnitario><DescuentoPct>5</DescuentoPct><MontoItem>120'),
    /falta DescuentoMonto/,
  ],
  [101, 'code 16 of a common taxpayer', swap('<IndFact>1<', '<IndFact>16<'), /IndFact 16/],
  [
    101,
    'a GTIN with a wrong check digit',
    swap(
      '<NroLinDet>2</NroLinDet>',
      '<NroLinDet>2</NroLinDet><CodItem><TpoCod>GTIN13</TpoCod><Cod>4006381333932</Cod></CodItem>',
    ),
    /GTIN/,
  ],
  // totals
  [
    101,
    'exempt lines that do not add up',
    swap('<MntNoGrv>120.00', '<MntNoGrv>120.01'),
    /MntNoGrv: se esperaba 120.00/,
  ],
  [
    101,
    'a base that is not the sum',
    swap('<MntNetoIVATasaBasica>1000.00', '<MntNetoIVATasaBasica>999.99'),
    /MntNetoIVATasaBasica/,
  ],
  [
    101,
    'VAT two cents away',
    all(
      swap('<MntIVATasaBasica>220.00', '<MntIVATasaBasica>220.02'),
      swap('1670.00', '1670.02'),
      swap('1669.50', '1669.52'),
    ),
    /MntIVATasaBasica/,
  ],
  [101, 'no rate', swap('<IVATasaBasica>22.000</IVATasaBasica>', ''), /IVATasaBasica: falta/],
  [101, 'the rate of another', swap('<IVATasaMin>10.000', '<IVATasaMin>22.000'), /IVATasaMin: debe ser/],
  [
    101,
    'a total one cent away',
    swap('<MntTotal>1670.00', '<MntTotal>1670.01'),
    /MntTotal: se esperaba 1670.00/,
  ],
  [
    101,
    'what is not billed with the other sign',
    swap('<MontoNF>-0.50', '<MontoNF>0.50'),
    /MontoNF: se esperaba -0.50/,
  ],
  [101, 'what is to be paid without it', swap('<MntPagar>1669.50', '<MntPagar>1670.00'), /MntPagar/],
  [
    101,
    'gross prices not marked as such',
    all(gross('81.97', '18.03'), swap('<MntBruto>1</MntBruto>', '')),
    /MntNetoIVATasaBasica/,
  ],
  [101, 'a gross base two cents away', gross('81.99', '18.01'), /MntNetoIVATasaBasica/],
  [121, 'exports that do not add up', swap('<MntExpoyAsim>1000.00', '<MntExpoyAsim>999.00'), /MntExpoyAsim/],
  [121, 'foreign currency without a rate', swap('<TpoCambio>40.125</TpoCambio>', ''), /A-C111/],
  [101, 'pesos with a rate', swap('</TpoMoneda>', '</TpoMoneda><TpoCambio>1.000</TpoCambio>'), /A-C111/],
  // CAE data
  [101, 'a range that is not that of the CAE', swap('<HNro>10000', '<HNro>10001'), /G DNro y HNro/],
  [101, 'an expiry that is not that of the CAE', swap(/<FecVenc>[^<]+/, '<FecVenc>2030-01-01'), /G FecVenc/],
  [
    101,
    'a cause without a special CAE',
    swap('</CAEData>', '<CausalCAEEsp>1</CausalCAEEsp></CAEData>'),
    /G-C6/,
  ],
  // references
  [102, 'a note without a reference', (xml) => xml, /F: zona obligatoria/],
  [
    102,
    'a reference that names nothing',
    swap('<CAEData>', '<Referencia><Referencia><NroLinRef>1</NroLinRef></Referencia></Referencia><CAEData>'),
    /faltan TpoDocRef/,
  ],
  [
    102,
    'a global reference without its reason',
    swap(
      '<CAEData>',
      '<Referencia><Referencia><NroLinRef>1</NroLinRef><IndGlobal>1</IndGlobal></Referencia></Referencia><CAEData>',
    ),
    /RazonRef es obligatorio/,
  ],
  [
    102,
    'a global reference that names a document',
    swap(
      '<CAEData>',
      '<Referencia><Referencia><NroLinRef>1</NroLinRef><IndGlobal>1</IndGlobal><TpoDocRef>101</TpoDocRef><RazonRef>x</RazonRef></Referencia></Referencia><CAEData>',
    ),
    /TpoDocRef no va con IndGlobal/,
  ],
  [
    103,
    'one document referred to twice',
    swap(
      '<CAEData>',
      `<Referencia>${[1, 2].map((n) => `<Referencia><NroLinRef>${n}</NroLinRef><TpoDocRef>101</TpoDocRef><Serie>Z</Serie><NroCFERef>1</NroCFERef></Referencia>`).join('')}</Referencia><CAEData>`,
    ),
    /ya está referido/,
  ],
  [
    103,
    'more adjusted than was to be paid',
    swap(
      '<CAEData>',
      '<Referencia><Referencia><NroLinRef>1</NroLinRef><TpoDocRef>101</TpoDocRef><Serie>Z</Serie><NroCFERef>1</NroCFERef><MntCFEref>1669.51</MntCFEref></Referencia></Referencia><CAEData>',
    ),
    /MntCFEref supera/,
  ],
  [
    103,
    'another currency than that of the original',
    swap(
      '<CAEData>',
      '<Referencia><Referencia><NroLinRef>1</NroLinRef><TpoDocRef>101</TpoDocRef><Serie>Z</Serie><NroCFERef>1</NroCFERef><TpoMonedaRef>USD</TpoMonedaRef><TpoCambioRef>40</TpoCambioRef></Referencia></Referencia><CAEData>',
    ),
    /TpoMonedaRef no es/,
  ],
];

/** What looks odd and is right. */
const FINE: [number, string, Edit][] = [
  [
    101,
    'VAT one cent away',
    all(
      swap('<MntIVATasaBasica>220.00', '<MntIVATasaBasica>220.01'),
      swap('1670.00', '1670.01'),
      swap('1669.50', '1669.51'),
    ),
  ],
  [101, 'gross prices, VAT being gross less net', gross('81.97', '18.03')],
  [
    101,
    'a price of six decimals, rounded to cents',
    all(
      details(
        item(1, 1, '1.00')
          .replace('<Cantidad>1<', '<Cantidad>3.000<')
          .replace('<PrecioUnitario>1.00', '<PrecioUnitario>0.333333'),
      ),
      totals(
        '<TpoMoneda>UYU</TpoMoneda><MntNoGrv>1.00</MntNoGrv><MntTotal>1.00</MntTotal><CantLinDet>1</CantLinDet><MntPagar>1.00</MntPagar>',
      ),
    ),
  ],
  [
    101,
    'a line discount',
    all(
      details(
        item(1, 1, '90.00').replace(
          '<PrecioUnitario>90.00</PrecioUnitario>',
          '<PrecioUnitario>100</PrecioUnitario><DescuentoPct>10.000</DescuentoPct><DescuentoMonto>10.00</DescuentoMonto>',
        ),
      ),
      totals(
        '<TpoMoneda>UYU</TpoMoneda><MntNoGrv>90.00</MntNoGrv><MntTotal>90.00</MntTotal><CantLinDet>1</CantLinDet><MntPagar>90.00</MntPagar>',
      ),
    ),
  ],
  [
    101,
    'a global discount',
    all(
      swap(
        '<CAEData>',
        '<DscRcgGlobal><DRG_Item><NroLinDR>1</NroLinDR><TpoMovDR>D</TpoMovDR><TpoDR>1</TpoDR><GlosaDR>Promo</GlosaDR><ValorDR>20.00</ValorDR><IndFactDR>1</IndFactDR></DRG_Item></DscRcgGlobal><CAEData>',
      ),
      swap('<MntNoGrv>120.00', '<MntNoGrv>100.00'),
      swap('<MntTotal>1670.00', '<MntTotal>1650.00'),
      swap('<MntPagar>1669.50', '<MntPagar>1649.50'),
    ),
  ],
  [
    101,
    'a sum below zero, to pay nothing',
    all(
      details(`${item(1, 1, '1.00')}${item(2, 7, '5.00')}`),
      totals(
        '<TpoMoneda>UYU</TpoMoneda><MntNoGrv>1.00</MntNoGrv><MntTotal>1.00</MntTotal><CantLinDet>2</CantLinDet><MontoNF>-5.00</MontoNF><MntPagar>0.00</MntPagar>',
      ),
    ),
  ],
  [
    101,
    'a sum below zero, said as it is',
    all(
      details(`${item(1, 1, '1.00')}${item(2, 7, '5.00')}`),
      totals(
        '<TpoMoneda>UYU</TpoMoneda><MntNoGrv>1.00</MntNoGrv><MntTotal>1.00</MntTotal><CantLinDet>2</CantLinDet><MontoNF>-5.00</MontoNF><MntPagar>-4.00</MntPagar>',
      ),
    ),
  ],
  [
    101,
    'a known buyer above 5,000 UI',
    all(
      details(item(1, 1, '32105.00')),
      big,
      receiver('<TipoDocRecep>3</TipoDocRecep><CodPaisRecep>UY</CodPaisRecep><DocRecep>13353214</DocRecep>'),
    ),
  ],
  [
    101,
    'professional secrecy above 5,000 UI',
    all(details(item(1, 1, '32105.00')), big, swap('</FmaPago>', '</FmaPago><SecProf>1</SecProf>')),
  ],
  [
    101,
    'an unknown buyer at 5,000 UI exactly',
    all(details(item(1, 1, '32104.00')), big, (xml) => xml.replaceAll('32105', '32104')),
  ],
  [
    111,
    'an exported service on an e-Factura',
    all(
      swap('</FmaPago>', '</FmaPago><ModVenta>90</ModVenta>'),
      details(item(1, 10, '5.00')),
      totals(
        '<TpoMoneda>EUR</TpoMoneda><TpoCambio>45.1</TpoCambio><MntExpoyAsim>5.00</MntExpoyAsim><MntTotal>5.00</MntTotal><CantLinDet>1</CantLinDet><MntPagar>5.00</MntPagar>',
      ),
    ),
  ],
  [
    102,
    'a global reference with its reason',
    swap(
      '<CAEData>',
      '<Referencia><Referencia><NroLinRef>1</NroLinRef><IndGlobal>1</IndGlobal><RazonRef>Boletas de papel</RazonRef></Referencia></Referencia><CAEData>',
    ),
  ],
  [
    101,
    'a means of payment and a subtotal',
    swap(
      '<CAEData>',
      '<MediosPago><MedioPago><NroLinMP>1</NroLinMP><GlosaMP>Efectivo</GlosaMP><ValorPago>1669.50</ValorPago></MedioPago></MediosPago><CAEData>',
    ),
  ],
  [
    101,
    'a withholding with a known buyer',
    all(
      receiver(
        '<TipoDocRecep>2</TipoDocRecep><CodPaisRecep>UY</CodPaisRecep><DocRecep>219000090011</DocRecep>',
      ),
      swap(
        '<MontoItem>120.00',
        '<RetencPercep><CodRet>2183165</CodRet><ValRetPerc>7.00</ValRetPerc></RetencPercep><MontoItem>120.00',
      ),
      swap(
        '<CantLinDet>5</CantLinDet>',
        '<MntTotRetenido>7.00</MntTotRetenido><CantLinDet>5</CantLinDet><RetencPercep><CodRet>2183165</CodRet><ValRetPerc>7.00</ValRetPerc></RetencPercep>',
      ),
      swap('1669.50', '1676.50'),
    ),
  ],
];

const MOST_IN_SOBRE = 60;

describe.each([
  ['by its own rules alone', '/nowhere', test],
  ['with the official schemas', undefined, testWithOfficialFiles],
])('the authority judges the format %s:', (_how, xsdDir, testIt) => {
  let simulator: Awaited<ReturnType<typeof aSimulator>>;
  let customer: Customer;
  const caes = new Map<number, CaeFile>();
  beforeAll(async () => {
    simulator = await aSimulator(xsdDir === undefined ? {} : { xsdDir });
    customer = await aCustomer(simulator.url);
    for (const type of [101, 102, 103, 111, 121]) caes.set(type, await customer.cae(type));
    const original = await customer.cae(101, { series: 'Z' });
    await customer.verdict([
      customer.cfe({ type: 101, cae: original, series: 'Z', number: original.number_start }),
    ]);
  });
  afterAll(() => simulator.stop());

  /** Verdict, codes and details of each receipt, all sent in as few sobres as fit. */
  const judge = async (rows: readonly (readonly [number, string, Edit, ...unknown[]])[], from: number) => {
    const verdicts: string[] = [];
    for (let at = 0; at < rows.length; at += MOST_IN_SOBRE) {
      const receipts = rows.slice(at, at + MOST_IN_SOBRE).map(([type, , edit], index) => {
        const cae = caes.get(type);
        if (!cae) throw new Error('no CAE');
        return customer.cfe({ type, cae, number: from + at + index, edit });
      });
      const verdict = await customer.verdict(receipts);
      verdicts.push(...verdict.split('<ACKCFE_Det>').slice(1));
    }
    return verdicts.map((text) => ({
      estado: field(text, 'Estado'),
      codes: fields(text, 'Motivo'),
      detail: field(text, 'Detalle') ?? '',
    }));
  };

  testIt('each of the faults is E05 and nothing else, and Detalle says which', async () => {
    const found = await judge(FAULTS, 1);
    const wanted = FAULTS.map(([type, why, , detail]) => [type, why, 'BE', ['E05'], detail]);
    expect(
      found.map(({ estado, codes, detail }, at) => [FAULTS[at]?.[0], FAULTS[at]?.[1], estado, codes, detail]),
    ).toEqual(
      wanted.map(([type, why, estado, codes, detail]) => [
        type,
        why,
        estado,
        codes,
        expect.stringMatching(detail as RegExp),
      ]),
    );
  });

  testIt('what looks odd and is right is received', async () => {
    const found = await judge(FINE, 1000);
    expect(found.map(({ estado, detail }, at) => [FINE[at]?.[1], estado, detail])).toEqual(
      FINE.map(([, why]) => [why, 'AE', '']),
    );
  });
});

describe('the official schemas', () => {
  testWithOfficialFiles('refuse what only they know, with E05', async () => {
    const simulator = await aSimulator();
    try {
      const customer = await aCustomer(simulator.url);
      const cae = await customer.cae(101);
      // The schema fixes the content of a signature: an unknown element in KeyInfo is none of the rules' business.
      const receipt = customer.cfe({ type: 101, cae }).replace('</X509Data>', '<X509Nothing/></X509Data>');
      const verdict = await customer.verdict([
        receipt,
        customer.cfe({ type: 101, cae, number: cae.number_start + 1 }),
      ]);
      expect([fields(verdict, 'Estado'), fields(verdict, 'Motivo')]).toEqual([['BE', 'AE'], ['E05']]);
    } finally {
      await simulator.stop();
    }
  });
});
