/** The printed form against the authority's rule (docs/authority/printed-form.md), seen from outside. */
import { afterAll, describe, expect } from '@jest/globals';
import { CFE_TYPE_NAMES, CFE_TYPES, type CfeType } from '../../../src/domain/receipts/cfeTypes.ts';
import { PAPER_SIZES, type PaperSize } from '../../../src/domain/receipts/qr.ts';
import type { PrintedReceipt } from '../../../src/print/receipt.ts';
import { drawReceipt } from '../../support/print/drawn.ts';
import { type Code, codeOn, frameAround, pagesOf, textOf, type Word } from '../../support/print/outside.ts';
import { testWithPoppler } from '../../support/print/poppler.ts';
import { printable } from '../../support/print/printable.ts';
import { aReceiptOf } from '../../support/print/samples.ts';

const NAMES: Readonly<Record<CfeType, string>> = {
  ETICKET: 'e-Ticket',
  ETICKET_NC: 'Nota de Crédito de e-Ticket',
  ETICKET_ND: 'Nota de Débito de e-Ticket',
  EFACTURA: 'e-Factura',
  EFACTURA_NC: 'Nota de Crédito de e-Factura',
  EFACTURA_ND: 'Nota de Débito de e-Factura',
  EFACTURA_EXPORT: 'e-Factura Exportación',
  EFACTURA_EXPORT_NC: 'Nota de Crédito de e-Factura Exportación',
  EFACTURA_EXPORT_ND: 'Nota de Débito de e-Factura Exportación',
};
const WIDTHS: Readonly<Record<PaperSize, number>> = { A4: 210, '80mm': 80, '58mm': 58 };

/** What 2 mm and 3 mm may lose to the roundings of the tools. */
const HAIR = 0.02;

/** The words of a phrase where they follow one another. */
function wordsOf(words: readonly Word[], phrase: string): Word[] {
  const wanted = phrase.split(' ');
  const start = words.findIndex((_, index) =>
    wanted.every((text, place) => words[index + place]?.text === text),
  );
  expect([phrase, start]).not.toEqual([phrase, -1]);
  return words.slice(start, start + wanted.length);
}

const familyOf = (type: CfeType) => CFE_TYPES[type].family;

/** The data with letters of 3 mm, in their order. */
function largeOnes(type: CfeType): string[] {
  const { family } = CFE_TYPES[type];
  const receiver = { invoice: ['RUC COMPRADOR', '214844360018'], ticket: ['CONSUMO FINAL'], export: [] }[
    family
  ];
  return [
    'RUC 219999830019',
    NAMES[type],
    'Serie B N.º 1042',
    family === 'ticket' ? 'Contado' : 'Crédito',
    ...receiver,
    'Mercadería en consignación',
    'Gracias por su compra.',
    'Fecha de vencimiento',
    '20/11/2028',
  ];
}

const ALL = CFE_TYPE_NAMES.flatMap((type) => PAPER_SIZES.map((paper) => [type, paper] as const));

describe.each(ALL)('%s on %s', (type, paper) => {
  const receipt = printable(aReceiptOf(type));
  let drawn: Promise<Buffer> | undefined;
  const print = () => (drawn ??= drawReceipt(receipt, paper));
  afterAll(() => {
    drawn = undefined;
  });

  testWithPoppler('letters, border and paper have the sizes of the rule', async () => {
    const pages = pagesOf(await print());
    for (const { width, height, words } of pages) {
      expect(Math.abs(width - WIDTHS[paper])).toBeLessThan(0.1);
      expect(height).toBeGreaterThanOrEqual(150);
      expect(height).toBeLessThanOrEqual(356);
      for (const word of words) {
        expect([word.text, word.capitals]).toEqual([
          word.text,
          expect.closeTo(Math.max(word.capitals, 2), 1),
        ]);
        expect(word.capitals).toBeGreaterThan(2 - HAIR);
        expect(Math.min(word.left, width - word.right, word.top, height - word.bottom)).toBeGreaterThan(
          5 - HAIR,
        );
      }
      expect(overlapping(words)).toEqual([]);
    }
    const words = pages.flatMap((page) => page.words);
    for (const phrase of largeOnes(type))
      for (const { text, capitals } of wordsOf(words, phrase))
        expect([text, capitals > 3 - HAIR]).toEqual([text, true]);
  });

  testWithPoppler('the blocks follow one another in the order of the rule', async () => {
    const text = textOf(await print());
    const family = familyOf(type);
    const order = [
      'Almacén Ñandú S.R.L.',
      'El Ñandú',
      'Av. 18 de Julio 1234',
      'Montevideo',
      ...(paper === 'A4' ? [] : largeOnes(type).slice(0, 4)),
      { invoice: 'Cooperativa El Ombú', ticket: 'Inés Güemes', export: 'Importadora São João Ltda.' }[family],
      'Producto 0 de almacén',
      'Producto 2 de almacén',
      CFE_TYPES[type].note === 'credit' ? 'Total a acreditar' : 'Total a pagar',
      ...(CFE_TYPES[type].note ? ['Referencias', ' A 77 – 02/11/2026 – ', 'Devolución parcial'] : []),
      'ADENDA',
    ];
    let from = 0;
    for (const phrase of order) {
      const at = text.indexOf(phrase, from);
      expect([phrase, at]).not.toEqual([phrase, -1]);
      from = at + phrase.length;
    }
  });

  testWithPoppler('the foot has its lines in the order of the rule', async () => {
    const text = textOf(await print()).replaceAll('- ', '-');
    const site = familyOf(type) === 'ticket' ? 'www.nandu.com.uy' : 'www.dgi.gub.uy';
    expect(text).toContain(
      `Fecha emisor 01/03/2012 Puede verificar comprobante en ${site} IVA al día CAE N.º 90260000194 Serie B del 1 al 9999`,
    );
  });

  testWithPoppler(
    'the QR code is read at 203 and 300 dpi, has its size, and stands bottom left',
    async () => {
      const pdf = await print();
      const pages = pagesOf(pdf);
      const { height = 0 } = pages.at(-1) ?? {};
      const digest = /<DigestValue>(.*?)</.exec(receipt.xml)?.[1] ?? '';
      for (const dpi of [203, 300]) {
        const code = codeOn(pdf, pages.length, dpi);
        if (!code) throw new Error(`no QR code is read at ${dpi} dpi`);
        expect(code.text).toContain(`,${CFE_TYPES[type].code},B,1042,`);
        expect(code.text.endsWith(`,20/11/2026,${encodeURIComponent(digest)}`)).toBe(true);
        expect(code.side).toBeGreaterThan(22);
        expect(code.side).toBeLessThan(30);
        expect(code.x).toBeGreaterThan(8);
        if (paper !== '58mm') expect(code.x).toBeLessThan(20);
        expect(code.y).toBeGreaterThan(height / 2);
        expect(marginOf(code, pages.at(-1)?.words ?? [])).toBeGreaterThan(3);
      }
    },
  );

  testWithPoppler('the boxes have their sizes', async () => {
    const pdf = await print();
    const words = pagesOf(pdf).flatMap((page) => page.words);
    const box = (phrase: string) => frameAround(pdf, wordsOf(words, phrase)[0] as Word);
    const expiry = box('Fecha de vencimiento');
    expect(expiry?.width).toBeGreaterThan(20);
    expect(expiry?.height).toBeGreaterThan(10);
    const receiver = { invoice: 'RUC COMPRADOR', ticket: 'CONSUMO FINAL', export: null }[familyOf(type)];
    if (!receiver) return;
    const { width, height } = box(receiver) ?? { width: 0, height: 0 };
    expect(width).toBeGreaterThan(40);
    expect(height).toBeGreaterThanOrEqual(10);
  });
});

/** Words that stand on one another. */
function overlapping(words: readonly Word[]): string[] {
  return words.flatMap((one, index) =>
    words
      .slice(index + 1)
      .filter(
        (other) =>
          Math.min(one.right, other.right) - Math.max(one.left, other.left) > 0.1 &&
          Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top) > 0.1,
      )
      .map((other) => `${one.text} ${other.text}`),
  );
}

/** Least distance of a word from the QR code of its page. */
function marginOf({ x, y, side }: Code, words: readonly Word[]): number {
  const beyond = (from: number, to: number, start: number): number =>
    Math.max(start - to, from - start - side, 0);
  const distances = words.map((word) =>
    Math.max(beyond(word.left, word.right, x), beyond(word.top, word.bottom, y)),
  );
  return Math.min(...distances);
}

const plain = (more: Partial<PrintedReceipt> = {}) => printable(aReceiptOf('ETICKET'), more);

describe('what depends on the issuer and on the CFE', () => {
  testWithPoppler.each([
    [{ kind: 1, cause: '12' }, 'Contribuyente Exonerado Causal 12', true],
    [{ kind: 2, cause: '' }, 'Contribuyente IVA MINIMO', true],
    [{ kind: 3, cause: '' }, 'MONOTRIBUTO', false],
    [{ kind: 4, cause: '' }, 'MONOTRIBUTO SOCIAL MIDES', false],
  ])(
    'taxpayers of special kind %j say %s in a box before the receiver',
    async ({ kind, cause }, words, vatNote) => {
      const special = `<CAEEspecial>${kind}</CAEEspecial>${cause && `<CausalCAEEsp>${cause}</CausalCAEEsp>`}`;
      const xml = plain().xml.replace('</CAEData>', `${special}</CAEData>`);
      const pdf = await drawReceipt(plain({ xml }), '80mm');
      const text = textOf(pdf);
      expect(text).toContain(words);
      expect(text.indexOf(words)).toBeLessThan(text.indexOf('CONSUMO FINAL'));
      expect(text.includes('IVA al día')).toBe(vatNote);
      const [first] = wordsOf(
        pagesOf(pdf).flatMap((page) => page.words),
        words,
      );
      expect(first?.capitals).toBeGreaterThan(3 - HAIR);
      const frame = first && frameAround(pdf, first);
      expect(frame?.width).toBeGreaterThan(40);
      expect(frame?.height).toBeGreaterThanOrEqual(10);
    },
  );

  testWithPoppler(
    'an exempt taxpayer names the norm of the enterprise, else the cause of the CAE',
    async () => {
      const special = '<CAEEspecial>1</CAEEspecial><CausalCAEEsp>12</CausalCAEEsp>';
      const xml = plain().xml.replace('</CAEData>', `${special}</CAEData>`);
      const text = textOf(await drawReceipt(plain({ xml, exemptionNorm: 'Ley 16.060, artículo 3' }), '80mm'));
      expect(text).toContain('Contribuyente Exonerado Ley 16.060, artículo 3');
      expect(text).not.toContain('Causal');
    },
  );

  testWithPoppler(
    'an address wider than the roll breaks after / . or -, and never within a word',
    async () => {
      const address = 'https://comprobantes.almacen-nandu.com.uy/verificar-comprobantes/';
      const words = pagesOf(await drawReceipt(plain({ website: address }), '58mm')).flatMap(
        (page) => page.words,
      );
      const from = words.findIndex(({ text }) => text.startsWith('https:'));
      const lines = words.slice(
        from,
        words.findIndex(({ text }, at) => at > from && text === 'IVA'),
      );
      expect(lines.length).toBeGreaterThan(1);
      expect(lines.map(({ text }) => text).join('')).toBe(address);
      for (const { text } of lines) expect(text).toMatch(/[/.-]$/);
    },
  );

  testWithPoppler('prices that contain VAT are said to', async () => {
    const gross = plain().xml.replace(/<MntBruto>\d<\/MntBruto>|(?=<FmaPago>)/, '<MntBruto>1</MntBruto>');
    const net = plain().xml.replace(/<MntBruto>\d<\/MntBruto>/, '');
    for (const paper of PAPER_SIZES) {
      expect(textOf(await drawReceipt(plain({ xml: gross }), paper))).toContain('Precios con IVA incluido');
      expect(textOf(await drawReceipt(plain({ xml: net }), paper))).not.toContain('IVA incluido');
    }
  });

  testWithPoppler('a column without content takes no room', async () => {
    const heads = async (xml: string) =>
      pagesOf(await drawReceipt(plain({ xml }), 'A4'))
        .flatMap((page) => page.words)
        .filter(({ text }) => text === 'Unidad').length;
    const { xml } = plain();
    expect(await heads(xml)).toBe((await heads(xml.replaceAll(/<UniMed>[^<]*/g, '<UniMed>N/A'))) + 1);
  });

  testWithPoppler.each([
    [{ resolution: '798/2012' }, 'Res. 798/2012', 'Fecha emisor'],
    [{ resolution: undefined, issuerSince: undefined }, 'Puede verificar', 'Fecha emisor'],
    [{ environment: 'sandbox' }, 'DOCUMENTO DE PRUEBA – SIN VALOR FISCAL', 'RECHAZADO'],
    [{ rejected: true }, 'RECHAZADO – SIN VALIDEZ', 'DOCUMENTO DE PRUEBA'],
  ] as const)('%j prints «%s»', async (more, there, missing) => {
    const text = textOf(await drawReceipt(plain(more), 'A4'));
    expect(text).toContain(there);
    expect(text).not.toContain(missing);
  });

  testWithPoppler('fields that the service does not write are printed where the CFE has them', async () => {
    const xml = plain()
      .xml.replace(
        '<FmaPago>1</FmaPago>',
        '<FmaPago>2</FmaPago><IVAalDia>1</IVAalDia><IndPagCta3ros>1</IndPagCta3ros><IndCobPropia>1</IndCobPropia>',
      )
      .replace('</Emisor>', '<InfoAdicionalEmisor>Leyenda del emisor</InfoAdicionalEmisor></Emisor>')
      .replace(
        '<MontoNF>',
        '<MntTotRetenido>7.00</MntTotRetenido><RetencPercep><CodRet>2183121</CodRet><ValRetPerc>7.00</ValRetPerc></RetencPercep><MontoNF>',
      )
      .replace(
        '</Detalle>',
        '</Detalle><DscRcgGlobal><DRG_Item><TpoMovDR>D</TpoMovDR><GlosaDR>Descuento por pago</GlosaDR><ValorDR>15.00</ValorDR></DRG_Item></DscRcgGlobal><MediosPago><MedioPago><GlosaMP>Efectivo</GlosaMP><ValorPago>3659.50</ValorPago></MedioPago></MediosPago>',
      );
    const pdf = await drawReceipt(plain({ xml }), '80mm');
    const text = textOf(pdf);
    for (const words of [
      'e-Ticket Cobranza Serie B N.º 1042 Crédito Pagos por cuenta de terceros',
      'No IVA al día emisor',
      'Leyenda del emisor',
      'Descuento por pago',
      '-15,00',
      'Total retenido',
      'Retención 2183121',
      'Medios de pago Efectivo 3.659,50',
    ])
      expect(text).toContain(words);
  });

  testWithPoppler(
    'what is equal is printed once, N/A not at all, and what lowers the receipt with a minus',
    async () => {
      const document = aReceiptOf('EFACTURA_EXPORT', 1);
      const text = textOf(
        await drawReceipt(
          printable({
            ...document,
            saleCondition: 'N/A',
            lines: document.lines.map((line) => ({ ...line, unit: 'N/A' })),
          }),
          'A4',
        ),
      );
      expect(text).not.toContain('Monto total');
      expect(text).not.toContain('N/A');
      expect(text).not.toContain('Cláusula');
      expect(textOf(await drawReceipt(plain(), 'A4'))).toContain('-0,50');
    },
  );
});
