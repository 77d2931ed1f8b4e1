import encodeQR from 'qr';
import { encodeBase32, otpauthUrl } from '../../crypto/totp.ts';
import { type Html, html } from '../../page/html.ts';
import type { Visit } from '../page.ts';

const ISSUER = 'CFE';

/** Renders a secret for an authenticator app: a QR code to scan, and the text to type. */
export function appKey({ texts }: Visit, { email, secret }: { email: string; secret: Uint8Array }): Html {
  const { invitation: words } = texts;
  const picture = encodeQR(otpauthUrl(secret, { issuer: ISSUER, email }), 'svg');
  return html`<img
      src="data:image/svg+xml;base64,${Buffer.from(picture).toString('base64')}"
      alt="${words.qr}"
    />
    <p>${words.byHand}<br /><code>${encodeBase32(secret)}</code></p>`;
}
