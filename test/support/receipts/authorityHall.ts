import { createPrivateKey, X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startSimulator } from '../../../local/simulator/server.ts';
import { createDgiClient } from '../../../src/dgi/client.ts';
import { createSigner, type Signer } from '../../../src/dgi/sign.ts';
import { writeSobreXml } from '../../../src/dgi/xml/sobre.ts';
import type { CaeData, CfeContent } from '../../../src/domain/receipts/cfeDocument.ts';
import { CFE_TYPES, type CfeType } from '../../../src/domain/receipts/cfeTypes.ts';
import { montevideoTimestamp } from '../../../src/domain/values/montevideo.ts';
import { createLogger } from '../../../src/logger.ts';
import { sendSobre } from '../dgi/sendSobre.ts';
import { type CaeFile, Customer, certificateFor, portal, XSD_DIR } from '../simulator/world.ts';

const ENVIRONMENT = 'production';
const AUTHORITY_RUT = '214844360018';
const ISSUER_RUT = '219999830019';
const MOST_CFES = 250;
/** Of 2 MB, with room for the Caratula. */
const MOST_BYTES = 2_000_000;
const MOST_QUESTIONS = 5;
/** Milliseconds, longer than the authority takes to compare a report. */
const UNTIL_COMPARED = 3_600_000;

/** What the authority said of one receipt: `AE`, or the state with the reasons. */
export type Verdict = string;

/** The simulated authority in this process, at a moment of the test's own, and an issuer with all that it needs there. */
export interface AuthorityHall extends AsyncDisposable {
  readonly issuerRut: string;
  /** The issuer's certificate, PEM. */
  readonly certificatePem: string;
  readonly signer: Signer;
  /** The issuer's CAE of each type, series A. */
  readonly caes: ReadonlyMap<CfeType, CaeData>;
  /** A further CAE, for an exempt taxpayer, of series A and numbers from 1. */
  exemptCae(type: CfeType): Promise<CaeData>;
  /** Sends signed receipts over SOAP in as few sobres as hold them; the verdict on each, in their order. */
  judge(signedCfes: readonly string[]): Promise<Verdict[]>;
  /** Makes the authority know the CFEs of another system to which documents refer. */
  knowForeign(documents: readonly CfeContent[]): Promise<void>;
  /** Sets what the central bank quotes at the closing of a day: pesos of one unit, by currency. */
  quote(day: string, rates: Readonly<Record<string, string>>): Promise<void>;
  /** Sends a signed daily report over SOAP; what the authority made of it once it was compared with what it holds. */
  judgeReport(signedReport: string): Promise<ReportVerdict>;
}

/** `DR`, `ER` or `BR`, and why. */
export interface ReportVerdict {
  readonly status: string;
  readonly reasons: readonly { readonly code: string | null; readonly detail: string }[];
}

/** Starts the authority at `now`; its clock moves on only while verdicts are waited for. */
export async function openAuthorityHall(now: Date): Promise<AuthorityHall> {
  const dataDir = mkdtempSync(join(tmpdir(), 'authority-'));
  let ahead = 0;
  const clock = () => new Date(now.getTime() + ahead);
  const logger = createLogger({ name: 'simulator', level: 'silent' });
  const simulator = await startSimulator({
    host: '127.0.0.1',
    port: 0,
    dataDir,
    xsdDir: XSD_DIR,
    logger,
    clock,
  });
  const { url } = simulator;
  const keys = await certificateFor(url, ISSUER_RUT);
  const credentials = {
    privateKey: createPrivateKey(keys.privateKey),
    certificateDer: keys.certificate.raw,
  };
  const caes = new Map<CfeType, CaeData>();
  for (const type of Object.keys(CFE_TYPES) as CfeType[]) caes.set(type, await aCae(url, type));

  const signers = await signersOf(url);
  const endpoints = {
    receptionUrl: `${url}/${ENVIRONMENT}/ws_efactura`,
    consultationUrl: `${url}/${ENVIRONMENT}/ws_consultas`,
  };
  const client = createDgiClient({
    endpoints: { production: endpoints, sandbox: endpoints },
    timeouts: { connectSeconds: 5, answerSeconds: 120 },
    soapHash: 'sha256',
    trustedSigners: () => Promise.resolve(signers),
    clock,
  });

  let idemisor = 0n;
  const judgeSobre = async (signedCfes: readonly string[]): Promise<Verdict[]> => {
    idemisor += 1n;
    const xml = writeSobreXml({
      receiverRut: AUTHORITY_RUT,
      issuerRut: ISSUER_RUT,
      idemisor,
      createdAt: montevideoTimestamp(clock()),
      certificateDer: credentials.certificateDer,
      signedCfes,
    });
    const ticket = await sendSobre(client, credentials, ENVIRONMENT, { idemisor, xml });
    if (ticket.kind !== 'received') throw new Error(`a sobre was not received: ${JSON.stringify(ticket)}`);
    for (let asked = 0; asked < MOST_QUESTIONS; asked += 1) {
      const answer = await client.askVerdict(credentials, ENVIRONMENT, ticket);
      if (answer.kind === 'answered') {
        const sorted = answer.ack.receipts.toSorted((a, b) => (a.ordinal ?? 0) - (b.ordinal ?? 0));
        return sorted.map(({ state, reasons }) => [state, ...reasons.map(words)].join(' '));
      }
      ahead += 1_000;
    }
    throw new Error('no verdict on a sobre');
  };

  return {
    issuerRut: ISSUER_RUT,
    certificatePem: keys.certificate.toString(),
    signer: createSigner({ ...credentials, hash: 'sha256' }),
    caes,
    exemptCae: (type) => aCae(url, type, EXEMPT),
    async judge(signedCfes) {
      const verdicts: Verdict[] = [];
      for (const sobre of inSobres(signedCfes)) verdicts.push(...(await judgeSobre(sobre)));
      return verdicts;
    },
    async knowForeign(documents) {
      const named = documents.flatMap(({ references = [] }) => references.flatMap(({ cfe }) => cfe ?? []));
      for (const cfe of named.filter(({ cfeId }) => cfeId === undefined)) {
        const { amount, currency, exchangeRate } = cfe.value ?? {};
        const { status } = await portal(url, 'POST', '/portal/foreign-cfes', {
          rut: ISSUER_RUT,
          cfe_type_code: String(cfe.typeCode),
          serie: cfe.serie,
          numero: cfe.numero,
          emission_date: cfe.emissionDate,
          amount,
          currency,
          exchange_rate: currency === 'UYU' ? undefined : exchangeRate,
        });
        if (status !== 201) throw new Error(`the portal answered ${status}`);
      }
    },
    async quote(day, rates) {
      const { status } = await portal(url, 'PUT', `/portal/rates/${day}`, { ...rates });
      if (status !== 200) throw new Error(`the portal answered ${status}`);
    },
    async judgeReport(signedReport) {
      await new Customer(url, keys, ISSUER_RUT, ENVIRONMENT).reception('EFACRECEPCIONREPORTE', signedReport);
      ahead += UNTIL_COMPARED;
      const query = `?rut=${ISSUER_RUT}&environment=${ENVIRONMENT}`;
      const { items } = (await portal(url, 'GET', `/portal/reports${query}`)).json as {
        items: ReportVerdict[];
      };
      const last = items.at(-1);
      if (!last) throw new Error('the authority has no report');
      return { status: last.status, reasons: last.reasons };
    },
    async [Symbol.asyncDispose]() {
      await simulator.close();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

const words = ({ code, detail }: { code: string; detail: string | null }) => `${code} (${detail ?? ''})`;

const EXEMPT = { cae_especial: 1, causal: '12', number_start: 1 } as const;

async function aCae(url: string, type: CfeType, more?: typeof EXEMPT): Promise<CaeData> {
  const order = { rut: ISSUER_RUT, cfe_type_code: String(CFE_TYPES[type].code), ...more };
  const file = (await portal(url, 'POST', '/portal/caes', order)).json as CaeFile;
  const xml = Buffer.from(file.cae_b64, 'base64').toString();
  return {
    authorizationNumber: file.authorization_number,
    numberStart: file.number_start,
    numberEnd: file.number_end,
    expirationDate: /<FVD>([^<]+)/.exec(xml)?.[1] ?? '',
    ...(more ? { special: { kind: 1, cause: more.causal } } : {}),
  };
}

async function signersOf(url: string): Promise<ReadonlySet<string>> {
  const { bytes } = await portal(url, 'GET', '/portal/authority-certificates');
  const pems = bytes.toString().match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? [];
  const prints = pems.map((pem) => new X509Certificate(pem).fingerprint256);
  return new Set(prints.map((print) => print.replaceAll(':', '').toLowerCase()));
}

/** Receipts in order, as many together as a sobre holds. */
function inSobres(signedCfes: readonly string[]): string[][] {
  const sobres: string[][] = [];
  let bytes = MOST_BYTES;
  for (const xml of signedCfes) {
    const size = Buffer.byteLength(xml);
    const open = sobres.at(-1);
    if (open && open.length < MOST_CFES && bytes + size <= MOST_BYTES) {
      open.push(xml);
      bytes += size;
    } else {
      sobres.push([xml]);
      bytes = size;
    }
  }
  return sobres;
}
