import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Simulator, startSimulator } from '../../../local/simulator/server.ts';
import { createLogger } from '../../../src/logger.ts';
import { PATIENCE } from '../until.ts';
import { aCfe, type CfeOrder, ISSUER_RUT, montevideo } from './aCfe.ts';
import { aSobre, type Keys, openPkcs12, signCfe, signEnvelope } from './signing.ts';

export const AUTHORITY_RUT = { production: '214844360018', sandbox: '219999830019' } as const;
export type Environment = keyof typeof AUTHORITY_RUT;
export interface CaeFile {
  cae_b64: string;
  authorization_number: string;
  number_start: number;
  number_end: number;
}

/** Where the authority's published files are (docs/authority/README.md#the-published-files); '' where nobody says. */
export const XSD_DIR = process.env['DGI_XSD_DIR'] ?? '';

/** A connection that is kept may be closed by the server just when a call begins. */
const ONE_CALL = { connection: 'close' };
const SERVICE_NS = 'http://dgi.gub.uy';
const escape = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** The answer to a SOAP call. */
export interface SoapAnswer {
  readonly status: number;
  readonly contentType: string | null;
  readonly envelope: string;
  /** The document in xmlData, '' where there is none. */
  readonly payload: string;
}

/** The text of the first element of that local name, undefined without one. */
export const field = (xml: string, name: string): string | undefined =>
  new RegExp(`<(?:[\\w-]+:)?${name.replaceAll('.', '\\.')}(?:\\s[^>]*)?>([\\s\\S]*?)</`).exec(xml)?.[1];

/** The texts of all elements of that local name. */
export const fields = (xml: string, name: string): string[] =>
  [...xml.matchAll(new RegExp(`<(?:[\\w-]+:)?${name}(?:\\s[^>]*)?>([\\s\\S]*?)</`, 'g'))].map(
    (match) => match[1] ?? '',
  );

/** A simulator within this process, with its papers in a folder of its own. */
export type TestSimulator = Awaited<ReturnType<typeof aSimulator>>;

/** Puts the clock of a simulator of this process forward, by its address. */
const HURRY = new Map<string, (milliseconds: number) => void>();

/** A client of a simulator that shares nothing with src/dgi, and builds its own papers. */
export class Customer {
  readonly url: string;
  readonly keys: Keys;
  readonly rut: string;
  readonly environment: Environment;
  #idemisor = 100;

  constructor(url: string, keys: Keys, rut: string, environment: Environment) {
    this.url = url;
    this.keys = keys;
    this.rut = rut;
    this.environment = environment;
  }

  /** An Idemisor not used before by this customer. */
  nextIdemisor(): number {
    this.#idemisor += 1;
    return this.#idemisor;
  }

  async cae(type: number, more: Record<string, unknown> = {}): Promise<CaeFile> {
    const order = { environment: this.environment, rut: this.rut, cfe_type_code: String(type), ...more };
    return (await portal(this.url, 'POST', '/portal/caes', order)).json as CaeFile;
  }

  /** A signed CFE. */
  cfe(order: CfeOrder, keys = this.keys): string {
    return signCfe(aCfe({ rut: this.rut, ...order }), keys);
  }

  /** A sobre around signed CFEs; returns it with its Idemisor. */
  sobre(cfes: readonly string[], more: Partial<Parameters<typeof aSobre>[1]> = {}): string {
    return aSobre(cfes, {
      rut: this.rut,
      receiver: AUTHORITY_RUT[this.environment],
      idemisor: more.idemisor ?? this.nextIdemisor(),
      certificate: this.keys.certificate,
      at: montevideo(new Date()),
      ...more,
    });
  }

  send(sobre: string, keys = this.keys): Promise<SoapAnswer> {
    return this.reception('EFACRECEPCIONSOBRE', sobre, keys);
  }

  ask(idReceptor: string | undefined, token: string | undefined): Promise<SoapAnswer> {
    const query = `<ConsultaCFE xmlns="${SERVICE_NS}"><IdReceptor>${idReceptor}</IdReceptor><Token>${token}</Token></ConsultaCFE>`;
    return this.reception('EFACCONSULTARESTADOENVIO', query);
  }

  /** Sends CFEs in one sobre and waits for the second answer; throws when the sobre is refused. */
  async verdict(cfes: readonly string[]): Promise<string> {
    const ack = (await this.send(this.sobre(cfes))).payload;
    if (field(ack, 'Estado') !== 'AS')
      throw new Error(`refused: ${field(ack, 'Motivo')} ${field(ack, 'Detalle')}`);
    return this.await(field(ack, 'IDReceptor'), field(ack, 'Token'));
  }

  /** Asks until there is a verdict, for at most 10 s of a quiet machine; a simulator of this process has its clock put forward. */
  async await(idReceptor: string | undefined, token: string | undefined): Promise<string> {
    const deadline = Date.now() + 10_000 * PATIENCE;
    for (;;) {
      const { payload } = await this.ask(idReceptor, token);
      if (field(payload, 'codigo') !== '105') return payload;
      if (Date.now() > deadline) throw new Error('no verdict in time');
      const hurry = HURRY.get(this.url);
      if (hurry) hurry(1000);
      else await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  reception(
    operation: string,
    payload: string,
    keys = this.keys,
    hash: 'sha1' | 'sha256' = 'sha1',
  ): Promise<SoapAnswer> {
    const name = `dgi:WS_eFactura.${operation}`;
    const inner = `<${name} xmlns:dgi="${SERVICE_NS}"><dgi:Datain><dgi:xmlData>${escape(payload)}</dgi:xmlData></dgi:Datain></${name}>`;
    return this.post(
      'ws_efactura',
      `${SERVICE_NS}action/AWS_EFACTURA.${operation}`,
      signEnvelope(inner, keys, { hash }),
    );
  }

  consult(operation: string, inner: string): Promise<SoapAnswer> {
    const name = `dgi:WS_eFactura_Consultas.${operation}`;
    const call = `<${name} xmlns:dgi="${SERVICE_NS}">${inner}</${name}>`;
    return this.post(
      'ws_consultas',
      `${SERVICE_NS}action/AWS_EFACTURA_CONSULTAS.${operation}`,
      signEnvelope(call, this.keys),
    );
  }

  async post(service: string, soapAction: string, envelope: string): Promise<SoapAnswer> {
    const response = await fetch(`${this.url}/${this.environment}/${service}`, {
      method: 'POST',
      headers: { ...ONE_CALL, 'content-type': 'text/xml;charset=UTF-8', soapaction: `"${soapAction}"` },
      body: envelope,
    });
    const text = await response.text();
    const payload = /<!\[CDATA\[([\s\S]*)\]\]>/.exec(text)?.[1] ?? '';
    return {
      status: response.status,
      contentType: response.headers.get('content-type'),
      envelope: text,
      payload,
    };
  }
}

/** One call of the portal. */
export async function portal(
  url: string,
  method: string,
  path: string,
  body?: unknown,
): Promise<{ status: number; json: unknown; bytes: Buffer }> {
  const response = await fetch(url + path, {
    method,
    headers: ONE_CALL,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const bytes = Buffer.from(await response.arrayBuffer());
  const isJson = response.headers.get('content-type')?.startsWith('application/json');
  return {
    status: response.status,
    json: isJson ? (JSON.parse(bytes.toString()) as unknown) : undefined,
    bytes,
  };
}

/** A company with a certificate from the portal. */
export async function aCustomer(
  url: string,
  more: { rut?: string; environment?: Environment } = {},
): Promise<Customer> {
  const rut = more.rut ?? ISSUER_RUT;
  return new Customer(url, await certificateFor(url, rut), rut, more.environment ?? 'production');
}

/** The keys of a new certificate of a company. */
export async function certificateFor(
  url: string,
  rut: string,
  more: Record<string, string> = {},
): Promise<Keys> {
  const { json } = await portal(url, 'POST', '/portal/certificates', { rut, password: 'clave', ...more });
  return openPkcs12(Buffer.from((json as { cert_b64: string }).cert_b64, 'base64'), 'clave');
}

/** A simulator in this process with a data folder of its own; `stop` ends it and takes the folder away. */
export async function aSimulator(more: { dataDir?: string; xsdDir?: string; smtpPort?: number } = {}) {
  let ahead = 0;
  const dataDir = more.dataDir ?? mkdtempSync(join(tmpdir(), 'simulator-'));
  const simulator: Simulator = await startSimulator({
    host: '127.0.0.1',
    port: 0,
    ...(more.smtpPort === undefined ? {} : { smtpPort: more.smtpPort }),
    dataDir,
    xsdDir: more.xsdDir ?? XSD_DIR,
    logger: createLogger({ name: 'simulator', level: 'silent' }),
    clock: () => new Date(Date.now() + ahead),
  });
  const hurry = (milliseconds: number): void => {
    ahead += milliseconds;
  };
  HURRY.set(simulator.url, hurry);
  return {
    /** Puts the clock forward. */
    hurry,
    url: simulator.url,
    smtpUrl: simulator.smtpUrl,
    dataDir,
    close: () => simulator.close(),
    async stop() {
      await simulator.close();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}
