import { createHash, type X509Certificate } from 'node:crypto';
import { momentOf } from '../clock.ts';
import type { EnvironmentName } from '../environments.ts';
import { faultOfEnveloped } from '../security/enveloped.ts';
import { isValidAt } from '../security/identity.ts';
import { findCae } from '../state/caes.ts';
import type { State } from '../state/database.ts';
import { emissionOf } from '../state/facts.ts';
import {
  type FiscalNumber,
  findForeignCfe,
  findReceipt,
  isAnnulled,
  type Receipt,
} from '../state/receipts.ts';
import { parseXml, XmlRefused } from '../xml/read.ts';
import type { Schemas } from '../xml/schemas.ts';
import type { Code, Reason } from './codes.ts';
import { ALL_TYPES, LAYOUTS, NUMBER } from './format/layout.ts';
import { faultsOfStructure } from './format/structure.ts';
import { serie as SERIE } from './format/values.ts';
import type { CfeInSobre } from './openSobre.ts';
import { faultsOfEnvelope, type ParsedReceipt } from './reading.ts';
import { faultsOfAuthorization, inventedCaeOf } from './rules/authorization.ts';
import { faultsOfDocument, faultsOfReceiver } from './rules/header.ts';
import { faultsOfLines } from './rules/lines.ts';
import { faultsOfReferences, type Original } from './rules/references.ts';
import { faultsOfTotals } from './rules/totals.ts';

/** What a judgement depends on besides the receipt. */
export interface Bench {
  readonly state: State;
  readonly environment: EnvironmentName;
  readonly rut: string;
  /** The certificate of the Caratula: it signed every receipt of the sobre. */
  readonly certificate: X509Certificate;
  readonly trusts: (certificate: X509Certificate) => boolean;
  readonly schemas: Schemas | null;
  /** The whole sobre is valid against the official schema, and so are its receipts. */
  readonly schemaPassed: boolean;
  readonly sobreId: number;
  readonly now: Date;
}

/** What there is against a receipt; without reasons it is accepted. */
export interface Findings {
  readonly reasons: readonly Reason[];
  /** With E02, and with E01 where there is one: the receipt that already has the number. */
  readonly original?: Receipt;
}

/** The number under which a receipt goes into the ledger; null when it cannot be read. */
export function fiscalNumberOf(
  cfe: CfeInSobre,
  issuer: Pick<FiscalNumber, 'environment' | 'rut'>,
): FiscalNumber | null {
  const { idDoc } = cfe.receipt ?? {};
  const [cfeType = '', serie = '', number = ''] = ['TipoCFE', 'Serie', 'Nro'].map((name) =>
    idDoc?.text(name),
  );
  const isReadable = [ALL_TYPES(cfeType), SERIE(serie), NUMBER(number)].every((fault) => fault === '');
  return isReadable ? { ...issuer, cfeType, serie, number: Number(number) } : null;
}

/**
 * Judges one receipt by all that can be judged (docs/local.md#what-it-judges): E01 and E02 by its number, then its
 * signature (E04), and only when that is good its content: E05, E03, E07, E09, E11, E12, E13, each code once.
 */
export function judgeReceipt(cfe: CfeInSobre, bench: Bench): Findings {
  const number = fiscalNumberOf(cfe, bench);
  const held = number ? findReceipt(bench.state, number) : undefined;
  if (number && isAnnulled(bench.state, number)) {
    const findings = against('E01', 'el número figura como anulado');
    return held ? { ...findings, original: held } : findings;
  }
  if (held && !leavesNumberFree(held))
    return { ...against('E02', `recibido en el sobre ${held.sobre_id}`), original: held };

  const signature = faultOfSignature(cfe, bench);
  if (signature !== '') return against('E04', signature);
  const { receipt, body } = cfe;
  if (!receipt || !body) return against('E05', 'el comprobante no es eTck, eFact ni eFact_Exp');

  const structure = [...faultsOfEnvelope(cfe.tree), ...faultsOfStructure(body, LAYOUTS[receipt.family])];
  const schema = structure.length > 0 || bench.schemaPassed ? '' : schemaFault(cfe.xml, bench.schemas);
  if (structure.length > 0 || schema !== '')
    return { reasons: gather([...structure, schema].filter(Boolean).map(format)) };
  return { reasons: gather([...contentFaults(receipt, bench)]) };
}

/**
 * A number refused with E09 may be used again (docs/authority/sobres.md#receipt-codes); one of any other verdict is
 * taken.
 */
const leavesNumberFree = (receipt: Receipt): boolean => receipt.verdict === 'BE' && receipt.code === 'E09';

function* contentFaults(receipt: ParsedReceipt, bench: Bench): Generator<Reason> {
  const checks = [
    faultsOfDocument(receipt, bench.now),
    faultsOfReceiver(receipt),
    faultsOfLines(receipt),
    faultsOfTotals(receipt),
  ];
  for (const faults of checks) for (const detail of faults) yield format(detail);
  yield* faultsOfAuthorization(
    receipt,
    findCae(bench.state, bench.environment, receipt.caeData.text('CAE_ID') ?? '') ??
      (bench.environment === 'sandbox' ? inventedCaeOf(receipt) : undefined),
  );
  yield* faultsOfReferences(
    receipt,
    (type, serie, number) => originalOf(bench, type, serie, number),
    bench.now,
  );
}

/** A receipt is in the records once its verdict is out, or when it came earlier in the same sobre. */
function originalOf(bench: Bench, cfeType: string, serie: string, number: number): Original | null {
  const { environment, rut } = bench;
  const key = { environment, rut, cfeType, serie, number };
  const held = findReceipt(bench.state, key);
  if (!held) return findForeignCfe(bench.state, key) ?? null;
  if (held.verdict === 'BE') return null;
  if (held.sobre_id !== bench.sobreId && held.ready_at > bench.now.toISOString()) return null;
  return {
    issuedOn: emissionOf(bench.state, key),
    amountPayable: held.amount_payable,
    currency: held.currency,
    exchangeRate: held.exchange_rate,
  };
}

function faultOfSignature(cfe: CfeInSobre, bench: Bench): string {
  const { certificate } = bench;
  if (!bench.trusts(certificate)) return 'Error al validar el Certificado - certificate not trusted';
  const signedAt = momentOf(cfe.receipt?.signedAt ?? '');
  if (signedAt && !isValidAt(certificate, signedAt)) return 'el certificado no era vigente al firmar';
  try {
    using document = parseXml(cfe.xml);
    return faultOfEnveloped(document, certificate);
  } catch (error) {
    if (error instanceof XmlRefused) return 'el comprobante no puede leerse como documento propio';
    throw error;
  }
}

function schemaFault(xml: string, schemas: Schemas | null): string {
  if (!schemas) return '';
  using document = parseXml(xml);
  return schemas.cfe(document);
}

const format = (detail: string): Reason => ({ code: 'E05', detail });
const against = (code: Code, detail: string): Findings => ({ reasons: [{ code, detail }] });
const MOST_DETAIL = 500;

/** One reason per code, in order of first appearance, with everything found under it. */
function gather(reasons: readonly Reason[]): Reason[] {
  const byCode = Map.groupBy(reasons, ({ code }) => code);
  return [...byCode].map(([code, found]) => ({
    code,
    detail: Array.from(found.map(({ detail }) => detail).join('; '))
      .slice(0, MOST_DETAIL)
      .join(''),
  }));
}

/** The hash under which the ledger shows a receipt's XML. */
export const sha256Of = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
