import got, { type Got, HTTPError } from 'got';
import { until } from './until.ts';

/** What the API answers about an enterprise, as far as the demo looks at it. */
export interface EnterpriseView {
  rut: string;
  status: 'PENDING' | 'READY' | 'SUSPENDED';
  caes: { cfe_type_code: string; status: string; last_number: number; number_end: number }[];
  certificate: { status: string };
  efactura_metadata: { status: string; permissions: string[] };
}

/** What the API answers about a CFE, as far as the demo looks at it. */
export interface CfeView {
  cfe_id: string;
  cfe_type: string;
  cfe_type_code: string;
  cfe_status: 'PENDING' | 'RECEIVED' | 'ACCEPTED' | 'REJECTED' | 'OBSERVED';
  serie: string;
  numero: number;
  total_amount: number;
  currency: string;
  rejection: { code: string; message: string }[] | null;
}

/** A customer's program: speaks to the API over public HTTP with an API key and the token it got for it. */
export interface Customer {
  get<T>(path: string): Promise<T>;
  /** Like `get`, but undefined for what is not there (404). */
  find<T>(path: string): Promise<T | undefined>;
  send<T>(method: 'POST' | 'PUT', path: string, body: unknown): Promise<T>;
  /** A file, byte for byte. */
  file(path: string): Promise<Uint8Array>;
}

/** Exchanges the key for a token (POST /tokens) and answers the customer that holds both. */
export async function logIn(baseUrl: string, apiKey: string): Promise<Customer> {
  const options = { prefixUrl: baseUrl, retry: { limit: 0 }, timeout: { request: 20_000 } } as const;
  const anonymous = got.extend({ ...options, headers: { 'x-api-key': apiKey } });
  const { data } = await ask<{ data: { access_token: string } }>(() =>
    anonymous.post('tokens', { json: {} }).json(),
  );
  const api: Got = anonymous.extend({ headers: { authorization: `Bearer ${data.access_token}` } });
  return {
    get: async <T>(path: string) => (await ask<{ data: T }>(() => api.get(path).json())).data,
    async find<T>(path: string) {
      const { statusCode, body } = await api.get(path, { throwHttpErrors: false });
      if (statusCode === 404) return undefined;
      if (statusCode !== 200) throw new Error(`GET ${path} answered ${statusCode}: ${body}`);
      return (JSON.parse(body) as { data: T }).data;
    },
    file: (path) => ask(() => api.get(path).buffer()),
    send: async <T>(method: 'POST' | 'PUT', path: string, body: unknown) =>
      (await ask<{ data: T }>(() => api(path, { method, json: body }).json())).data,
  };
}

async function ask<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (!(error instanceof HTTPError)) throw error;
    const { requestUrl, statusCode, body } = error.response;
    throw new Error(
      `${error.options.method} ${new URL(requestUrl).pathname} answered ${statusCode}: ${String(body)}`,
      {
        cause: error,
      },
    );
  }
}

/** The CFE once the authority has decided on it; throws after `seconds`. */
export function verdictOf(customer: Customer, rut: string, cfeId: string, seconds = 120): Promise<CfeView> {
  return until(`the verdict on ${cfeId}`, seconds, async () => {
    const { items } = await customer.get<{ items: CfeView[] }>(`enterprises/${rut}/cfes/${cfeId}`);
    const [cfe] = items;
    return cfe && !['PENDING', 'RECEIVED'].includes(cfe.cfe_status) && cfe;
  });
}
