/** What a customer writes who generates a client from openapi.json: every path, body and answer below is typed by it. */
import createClient from 'openapi-fetch';
import type { components, paths } from '../../sdk/src/schema.ts';

type Cfe = components['schemas']['Cfe'];

/** Where the API is and who calls. */
export interface Access {
  /** With /v1. */
  baseUrl: string;
  apiKey: string;
}

/**
 * Issues an e-Ticket over one line of 100 pesos and its VAT for an enterprise that is ready, waiting up to 30 seconds
 * for the authority's verdict; answers the CFE as it can be read afterwards.
 */
export async function issueReceipt({ baseUrl, apiKey }: Access, rut: string, today: string): Promise<Cfe> {
  const api = createClient<paths>({ baseUrl, headers: { 'X-API-Key': apiKey } });
  const token = await api.POST('/tokens', { body: {} });
  if (token.error) throw new Error(token.error.error.code);
  const headers = { Authorization: `Bearer ${token.data.data.access_token}` };

  const issued = await api.POST('/enterprises/{rut}/cfes', {
    params: { path: { rut }, header: { 'Idempotency-Key': `receipt-of-${today}`, Prefer: 'wait=30' } },
    headers,
    body: {
      cfe_type: 'ETICKET',
      header: {
        doc_id: { emission_date: today, payment_method: 'CASH' },
        totals: {
          currency: 'UYU',
          exchange_rate: 1,
          tax_basic_net_amount: 100,
          tax_basic_amount: 22,
          total_amount: 122,
          pay_amount: 122,
          line_count: 1,
        },
      },
      details: [
        {
          line_number: 1,
          iva_type: 'BASIC_RATE',
          item_name: 'Café molido 250 g',
          count: 1,
          unit_price: 100,
          item_amount: 100,
        },
      ],
    },
  });
  if (issued.error) {
    const { code, message, details } = issued.error.error;
    throw new Error(`${code}: ${message} ${details?.fields?.map(({ path }) => path).join(' ') ?? ''}`);
  }

  const issue = issued.data.data;
  if ('valid' in issue) throw new Error('the request was only validated');

  const read = await api.GET('/enterprises/{rut}/cfes/{cfe_id}', {
    params: { path: { rut, cfe_id: issue.cfe_id } },
    headers,
  });
  const [cfe] = read.data?.data.items ?? [];
  if (!cfe) throw new Error(`what was issued cannot be read: ${read.error?.error.code}`);
  return cfe;
}
