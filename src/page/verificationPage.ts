/** The form that finds the receipt of a printed e-Ticket: public, in Spanish, without script. */
import { CFE_TYPES } from '../domain/receipts/cfeTypes.ts';
import { Html, html } from './html.ts';
import { page } from './receiptPage.ts';

/** The message above the form: none yet, nothing found, or a type that is verified elsewhere. */
export type VerificationState = 'form' | 'miss' | 'other';

const TITLE = 'Verificar un comprobante';
const MESSAGES: Readonly<Record<VerificationState, Html | null>> = {
  form: null,
  miss: html`<p class="mark" role="alert">
    No hay ningún comprobante con esos datos. Compárelos con el papel: el código distingue mayúsculas de
    minúsculas.
  </p>`,
  other: html`<p class="mark" role="alert">
    Ese tipo de comprobante se verifica en la DGI:
    <a href="https://www.dgi.gub.uy" rel="noreferrer">www.dgi.gub.uy</a>
  </p>`,
};

const OPTIONS = Object.values(CFE_TYPES).map(
  ({ code, label }) => html`<option value="${code}">${label}</option>`,
);

const CODE_ATTRIBUTES = new Html(
  'autocapitalize="none" spellcheck="false" pattern="[A-Za-z0-9+\\/]{6}" title="6 caracteres" maxlength="6"',
);

/** An input with its label. `attributes`: further attributes, as HTML. */
const field = (name: string, label: string, attributes: Html): Html =>
  html`<p>
    <label for="${name}">${label}</label>
    <input id="${name}" name="${name}" required autocomplete="off" ${attributes} />
  </p>`;

/** Returns the page. Does not repeat the input, so that all misses look the same. */
export const verificationPage = (state: VerificationState): string =>
  page(
    state === 'miss' ? `No encontrado – ${TITLE}` : TITLE,
    html`<main>
      <h1>${TITLE}</h1>
      ${MESSAGES[state]}
      <p>Escriba los datos de un e-Ticket o de su nota como están impresos.</p>
      <form method="get">
        ${field('ruc', 'RUC emisor', new Html('inputmode="numeric" pattern="[0-9]{12}" title="12 dígitos" maxlength="12"'))}
        <p>
          <label for="tipo">Tipo de comprobante</label>
          <select id="tipo" name="tipo">
            ${OPTIONS}
          </select>
        </p>
        ${field('serie', 'Serie', new Html('pattern="[A-Za-z0-9]{1,2}" title="Una o dos letras o cifras" maxlength="2"'))}
        ${field('numero', 'Número', new Html('inputmode="numeric" pattern="[0-9]{1,7}" title="Hasta 7 dígitos" maxlength="7"'))}
        ${field('codigo', 'Código de seguridad', CODE_ATTRIBUTES)}
        <p><button type="submit">Verificar</button></p>
      </form>
    </main>`,
  );
