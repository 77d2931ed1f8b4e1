/**
 * The e-mail with a receipt for its receiver: Spanish, in plain text and HTML with the same content.
 */
import type { CfeDocument } from '../domain/receipts/cfeDocument.ts';
import { CFE_TYPES, type Environment } from '../domain/receipts/cfeTypes.ts';
import { dateText, signedMoney } from '../domain/values/figures.ts';
import { html } from '../page/html.ts';

/** The content of the e-mail. */
export interface MailedReceipt {
  readonly document: CfeDocument;
  readonly environment: Environment;
  /** The page of the receipt. */
  readonly url: string;
  /** The address for replies; null without one. */
  readonly replyTo: string | null;
}

const SANDBOX_MARK = 'PRUEBA: documento sin valor fiscal';

/** Returns subject, text and HTML of the e-mail with a receipt. */
export function receiptMail({ document, environment, url, replyTo }: MailedReceipt): {
  subject: string;
  text: string;
  html: string;
} {
  const { issuer, type, serie, numero, emissionDate, totals } = document;
  const name = `${CFE_TYPES[type].label} ${serie} ${numero}`;
  const mark = environment === 'sandbox' ? SANDBOX_MARK : null;
  const sentence =
    `${issuer.legalName} le envía el comprobante ${name} del ${dateText(emissionDate)} ` +
    `por ${totals.currency} ${signedMoney(totals.pay)}.`;
  const attached = 'Va adjunto en PDF, junto con el archivo XML firmado. También puede verlo en:';
  const answers =
    replyTo === null
      ? 'Este mensaje se envía automáticamente; por favor no lo responda.'
      : `Este mensaje se envía automáticamente; si lo responde, su respuesta llega a ${replyTo}.`;
  const contact = [`RUC ${issuer.rut}`, issuer.phone && `Tel. ${issuer.phone}`].filter(Boolean).join(' · ');
  return {
    subject: `${mark === null ? '' : '[PRUEBA] '}${name} de ${issuer.legalName}`,
    text: [
      ...(mark === null ? [] : [mark]),
      sentence,
      `${attached}\n${url}`,
      answers,
      `${issuer.legalName}\n${contact}`,
    ]
      .join('\n\n')
      .concat('\n'),
    html: html`<!doctype html>
      <html lang="es-UY">
        <head>
          <meta charset="utf-8" />
          <title>${name}</title>
        </head>
        <body style="font-family: sans-serif; color: #222; max-width: 40em">
          ${mark === null ? null : html`<p><strong>${mark}</strong></p>`}
          <p>${sentence}</p>
          <p>${attached}<br /><a href="${url}">${url}</a></p>
          <p style="color: #555">${answers}</p>
          <p>${issuer.legalName}<br />${contact}</p>
        </body>
      </html>`.text,
  };
}
