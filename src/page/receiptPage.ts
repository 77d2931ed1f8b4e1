/**
 * The receipt's page for its receiver: Spanish, a single HTML file without script, with the content of the printed form.
 * The legal form is the PDF (docs/authority/receipts.md).
 */
import encodeQR from 'qr';
import type { CfeDocument, Line, Receiver, ReferredCfe, Totals } from '../domain/receipts/cfeDocument.ts';
import type { CfeStatus } from '../domain/receipts/cfeStatus.ts';
import { CFE_TYPES, cfeTypeOfCode, type Environment } from '../domain/receipts/cfeTypes.ts';
import { RECEIVER_DOCUMENTS } from '../domain/receipts/receiverDocument.ts';
import { vatPercents } from '../domain/receipts/vat.ts';
import { dateText, decimalText, signedMoney } from '../domain/values/figures.ts';
import { DOCUMENT_KINDS, SPECIAL_TAXPAYERS } from '../words/es/printedForm.ts';
import { Html, html } from './html.ts';
import { STYLE } from './style.ts';

/** The data of a receipt's page. */
export interface PageReceipt {
  readonly document: CfeDocument;
  readonly environment: Environment;
  readonly status: CfeStatus;
  readonly securityCode: string;
  /** The address in the QR code: the authority's page about this receipt. */
  readonly qrUrl: string;
  /** The logo as a `data:` address; null without one. */
  readonly logo: string | null;
  /** Addresses of the files. */
  readonly pdf: string;
  readonly xml: string;
}

const SANDBOX_MARK = 'DOCUMENTO DE PRUEBA – SIN VALOR FISCAL';
const REJECTED_MARK = 'RECHAZADO – SIN VALIDEZ';

/** Returns a whole page without script. */
export function page(title: string, body: Html): string {
  // The content security policy contains the hash of the style, so no formatter may change the style.
  const style = new Html(`<style>${STYLE}</style>`);
  return html`<!doctype html>
    <html lang="es-UY">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex, nofollow" />
        <meta name="format-detection" content="telephone=no" />
        <meta name="referrer" content="no-referrer" />
        <title>${title}</title>
        <link rel="icon" href="data:," />
        ${style}
      </head>
      <body>
        ${body}
      </body>
    </html>`.text;
}

/** Returns a page with one message. */
export function messagePage(title: string, words: string): string {
  return page(
    title,
    html`<main>
      <h1>${title}</h1>
      <p>${words}</p>
    </main>`,
  );
}

/** Returns the page of a receipt that may be handed over. */
export function receiptPage(receipt: PageReceipt): string {
  const { document, environment, status } = receipt;
  const { issuer, type, serie, numero } = document;
  const title = `${CFE_TYPES[type].label} ${serie} ${numero}`;
  return page(
    `${title} – ${issuer.legalName}`,
    html`<header>
        ${environment === 'sandbox' ? html`<p class="mark">${SANDBOX_MARK}</p>` : null}
        ${status === 'REJECTED' ? html`<p class="mark">${REJECTED_MARK}</p>` : null}
        ${receipt.logo && html`<img src="${receipt.logo}" alt="Logo de ${issuer.tradeName ?? issuer.legalName}" />`}
        ${issuerBlock(document)}
      </header>
      <main>
        <h1>${title}</h1>
        ${document.ownCollection ? html`<p><strong>Cobranza</strong></p>` : null}
        ${BLOCKS.map((block) => block(document))} ${codeBlock(receipt)}
      </main>
      <footer>
        <nav class="files" aria-label="Descargas">
          <a href="${receipt.pdf}">Descargar PDF</a><a href="${receipt.xml}">Descargar XML firmado</a>
        </nav>
      </footer>`,
  );
}

/** Returns a list of names and values, without missing values. */
function pairs(
  rows: readonly (readonly [name: string, value: string | undefined])[],
  style = '',
): Html | null {
  const present = rows.filter(([, value]) => value !== undefined);
  if (present.length === 0) return null;
  return html`<dl class="${style}">
    ${present.map(
      ([name, value]) =>
        html`<dt>${name}</dt>
          <dd>${value}</dd>`,
    )}
  </dl>`;
}

function issuerBlock({ issuer }: CfeDocument): Html {
  const contact = [issuer.phone, issuer.email, issuer.website].filter((one) => one !== undefined);
  return html`${issuer.tradeName === undefined ? null : html`<p class="issuer">${issuer.tradeName}</p>`}
    <p class="issuer">${issuer.legalName}</p>
    <p>RUC ${issuer.rut}</p>
    <p>${issuer.address}, ${issuer.city}, ${issuer.department}</p>
    ${contact.length > 0 ? html`<p>${contact.join(' · ')}</p>` : null}`;
}

function documentBlock(document: CfeDocument): Html | null {
  const { totals, receiver } = document;
  const inPesos = totals.currency === 'UYU';
  return pairs([
    ['Fecha', dateText(document.emissionDate)],
    ['Forma de pago', document.paymentMethod === 1 ? 'Contado' : 'Crédito'],
    ['Vencimiento', document.dueDate && dateText(document.dueDate)],
    ['Moneda', inPesos ? 'UYU' : `${totals.currency} (cambio ${decimalText(totals.exchangeRate, 3)})`],
    ['Cláusula de venta', document.saleCondition === 'N/A' ? undefined : document.saleCondition],
    ['Compra', receiver?.purchaseOrder],
    ['Información', document.information],
    ['Pagos', document.thirdPartyPayment && 'Por cuenta de terceros'],
  ]);
}

const addressOf = (receiver: Receiver): string | undefined =>
  [receiver.address, receiver.city, receiver.department, receiver.countryName]
    .filter((one) => one !== undefined)
    .join(', ') || undefined;

function receiverBlock({ type, receiver }: CfeDocument): Html {
  const toConsumer = CFE_TYPES[type].family === 'ticket';
  const kindOfDocument =
    receiver?.document && DOCUMENT_KINDS[RECEIVER_DOCUMENTS[receiver.document.type].code];
  const kind = CFE_TYPES[type].family === 'invoice' ? 'RUC comprador' : kindOfDocument;
  return html`<h2>${toConsumer ? 'Consumo final' : 'Cliente'}</h2>
    ${
      receiver &&
      pairs([
        [kind ?? '', receiver.document?.number],
        ['Nombre', receiver.legalName],
        ['Domicilio', addressOf(receiver)],
      ])
    }`;
}

function linesBlock({ lines }: CfeDocument): Html {
  return html`<h2>Detalle</h2>
    <table>
      <caption>
        Conceptos e importes
      </caption>
      <thead>
        <tr>
          <th scope="col">Concepto</th>
          <th scope="col">Importe</th>
        </tr>
      </thead>
      <tbody>
        ${lines.map(lineRow)}
      </tbody>
    </table>`;
}

function lineRow(line: Line): Html {
  const { ivaType, name, description, quantity, unit, unitPrice, amount } = line;
  const measure = unit === 'N/A' ? '' : ` ${unit}`;
  const sign = ivaType === 'NON_BILLABLE_NEGATIVE' ? '−' : '';
  return html`<tr>
    <th scope="row">
      ${name}${description === undefined ? null : html`<small>${description}</small>`}
      <small>${decimalText(quantity, 0)}${measure} × ${decimalText(unitPrice, 2)}</small>
      ${adjustmentNotes(line)}
    </th>
    <td>${sign}${signedMoney(amount)}</td>
  </tr>`;
}

/** The discounts and surcharges of a line. */
const adjustmentNotes = ({ discounts = [], surcharges = [] }: Line): Html[] =>
  [
    ...discounts.map((one) => ['Descuento', one] as const),
    ...surcharges.map((one) => ['Recargo', one] as const),
  ].map(([name, { percent, amount }]) => {
    const rate = percent === undefined ? '' : ` ${decimalText(percent, 0)} %`;
    return html`<small>${name}${rate}: ${signedMoney(amount)}</small>`;
  });

const isZero = (amount: string): boolean => /^-?0(\.0*)?$/.test(amount);

/** Returns the sums of a receipt with their names, without zeros. */
function sumsOf(totals: Totals, emissionDate: string): [string, string][] {
  const percents = vatPercents(emissionDate);
  const [minimum, basic] = [percents.minimum.toString(), percents.basic.toString()];
  const sums: [string, string][] = [
    ['No gravado', totals.exempt],
    ['Exportación y asimilados', totals.exported],
    ['Impuesto percibido', totals.perceived],
    ['IVA en suspenso', totals.suspended],
    [`Neto tasa mínima (${minimum} %)`, totals.minimumNet],
    [`IVA tasa mínima (${minimum} %)`, totals.minimumVat],
    [`Neto tasa básica (${basic} %)`, totals.basicNet],
    [`IVA tasa básica (${basic} %)`, totals.basicVat],
    ['Neto otra tasa', totals.otherNet],
    ['IVA otra tasa', totals.otherVat],
  ];
  return sums.filter(([, amount]) => !isZero(amount));
}

function totalsBlock({ type, totals, emissionDate, pricesIncludeVat, adjustments = [] }: CfeDocument): Html {
  const sums = sumsOf(totals, emissionDate).map(([name, sum]) => [name, signedMoney(sum)] as const);
  const label = CFE_TYPES[type].note === 'credit' ? 'Total a acreditar' : 'Total a pagar';
  return html`<h2>Totales</h2>
    ${pricesIncludeVat ? html`<p>Precios con IVA incluido</p>` : null}
    ${pairs([
      ...adjustments.map(
        ({ kind, description, amount }) =>
          [description, `${kind === 'DISCOUNT' ? '−' : ''}${signedMoney(amount)}`] as const,
      ),
      ...sums,
      ['Total', totals.total === totals.pay ? undefined : signedMoney(totals.total)],
      ['No facturable', isZero(totals.nonBillable) ? undefined : signedMoney(totals.nonBillable)],
    ])}
    ${pairs([[label, `${totals.currency} ${signedMoney(totals.pay)}`]], 'pay')}`;
}

const paymentsBlock = ({ payments }: CfeDocument): Html | null =>
  payments === undefined
    ? null
    : html`<h2>Medios de pago</h2>
        ${pairs(payments.map(({ description, amount }) => [description, signedMoney(amount)] as const))}`;

function referencesBlock({ references }: CfeDocument): Html | null {
  if (!references) return null;
  return html`<h2>${references.length === 1 ? 'Referencia' : 'Referencias'}</h2>
    ${references.map(
      ({ cfe, reason }) =>
        html`${cfe && html`<p>${nameOf(cfe)}</p>`}${reason === undefined ? null : html`<p>${reason}</p>`}`,
    )}`;
}

/** Returns the printed name of a referred CFE, with the amount that the reference concerns. */
function nameOf({ typeCode, serie, numero, emissionDate, value }: ReferredCfe): string {
  const type = cfeTypeOfCode(typeCode);
  const name = `${type ? CFE_TYPES[type].label : `Tipo ${typeCode}`} ${serie} ${numero}, del ${dateText(emissionDate)}`;
  return value ? `${name}: ${value.currency} ${signedMoney(value.amount)}` : name;
}

function adendaBlock({ adenda }: CfeDocument): Html | null {
  if (adenda === undefined) return null;
  return html`<h2>Adenda</h2>
    <div class="adenda">${adenda}</div>`;
}

/** The blocks of a page, in order. */
const BLOCKS = [
  documentBlock,
  receiverBlock,
  linesBlock,
  totalsBlock,
  paymentsBlock,
  referencesBlock,
  adendaBlock,
];

function codeBlock({ document: { cae, serie, issuer }, securityCode, qrUrl }: PageReceipt): Html {
  const since =
    issuer.resolution === undefined
      ? (['Fecha emisor', issuer.issuerSince && dateText(issuer.issuerSince)] as const)
      : (['Resolución', issuer.resolution] as const);
  const drawing = new Html(encodeQR(qrUrl, 'svg', { ecc: 'medium', border: 4 }));
  return html`<h2>Verificación</h2>
    <div class="code" role="img" aria-label="Código QR que lleva a la verificación en la DGI">${drawing}</div>
    ${pairs([
      ['Código de seguridad', securityCode],
      since,
      ['CAE', cae.authorizationNumber],
      ['Rango', `${serie} ${cae.numberStart} a ${cae.numberEnd}`],
      ['Vencimiento del CAE', dateText(cae.expirationDate)],
      ['Contribuyente', cae.special && SPECIAL_TAXPAYERS[cae.special.kind]],
      ['Norma', cae.special?.kind === 1 ? issuer.exemptionNorm : undefined],
      ['IVA', issuer.vatNotUpToDate && 'No al día'],
    ])}
    <p><a href="${qrUrl}" rel="noreferrer">Verificar este comprobante en la DGI</a></p>`;
}
