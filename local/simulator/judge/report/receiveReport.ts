import type { X509Certificate } from 'node:crypto';
import type { XmlDocument } from 'libxml2-wasm';
import { dayInMontevideo } from '../../clock.ts';
import { faultOfEnveloped } from '../../security/enveloped.ts';
import { certificateFrom, isValidAt, rucOf } from '../../security/identity.ts';
import type { Caller } from '../../security/wsSecurity.ts';
import { rangesOfCaes } from '../../state/caes.ts';
import { inTransaction, type State } from '../../state/database.ts';
import { annulNumbers, isReportedAnnulled } from '../../state/receipts.ts';
import {
  addReport,
  highestSequence,
  type Issuer,
  nextReportId,
  type Report,
  type ReportReason,
  supersede,
  takeReportFault,
  wasAccepted,
} from '../../state/reports.ts';
import { DS_NS } from '../../xml/names.ts';
import type { XmlTree } from '../../xml/read.ts';
import { childOf, parseXml, textAt, treeOf, withoutDeclaration, XmlRefused } from '../../xml/read.ts';
import type { ReportCode } from '../codes.ts';
import { sha256Of } from '../judgeReceipt.ts';
import { type Court, FaultOrdered } from '../receiveSobre.ts';
import { faultsOfForm } from './layout.ts';
import { type ParsedReport, readReport } from './reading.ts';
import { faultsOfReport } from './rules.ts';

/** What became of a report that was sent. */
export type ReportReception =
  /** Accepted before, byte for byte (exception 109). */
  | { readonly kind: 'duplicate' }
  /** Stored as received (AR) or refused (BR); `isLost`: the portal ordered that no answer goes out. */
  | { readonly kind: 'stored'; readonly report: Report; readonly isLost: boolean };

const COMPARED_AFTER_SECONDS = 1;
const MOST_DETAIL = 500;

/** The report is refused (BR). */
class ReportRefused extends Error {
  override readonly name = 'ReportRefused';
  readonly code: ReportCode;
  constructor(code: ReportCode, details: readonly string[]) {
    super(Array.from(details.join('; ')).slice(0, MOST_DETAIL).join(''));
    this.code = code;
  }
}

/**
 * Receives a daily report: refuses it with the first code that applies, or accepts it, from when on the numbers that it
 * annuls are annulled and earlier sequences of its day are replaced. Everything is on the disk when this returns.
 * `ackOf` writes the answer. Throws FaultOrdered.
 */
export function receiveReport(
  text: string,
  caller: Caller,
  { issuer, court, ackOf }: { issuer: Issuer; court: Court; ackOf: (report: Omit<Report, 'ack'>) => string },
): ReportReception {
  const { state } = court;
  if (takeReportFault(state, issuer, 'FAULT')) throw new FaultOrdered('fault by the portal');
  return inTransaction(state, () => {
    const sha256 = sha256Of(Buffer.from(text, 'utf8'));
    if (wasAccepted(state, issuer, sha256)) return { kind: 'duplicate' };
    const now = court.clock();
    const opened = open(text, court);
    const reason = reasonAgainst(opened, { caller, issuer, court, now });
    const parsed = opened.parsed;
    const accepted = reason === null;
    if (accepted && parsed) enterIntoForce(state, issuer, parsed);
    const report = {
      id: nextReportId(state),
      ...issuer,
      date: parsed?.date ?? null,
      sequence: parsed?.sequence ?? null,
      id_emisor: parsed?.idEmisor ?? idEmisorIn(text),
      state: accepted ? 'AR' : 'BR',
      reasons: reason === null ? [] : [reason],
      received_at: now.toISOString(),
      ready_at: new Date(now.getTime() + COMPARED_AFTER_SECONDS * 1000).toISOString(),
      is_to_differ: accepted && takeReportFault(state, issuer, 'DIFFERS') ? 1 : 0,
      sha256,
      xml: text,
    } as const;
    const stored: Report = { ...report, ack: ackOf(report) };
    addReport(state, stored);
    return { kind: 'stored', report: stored, isLost: takeReportFault(state, issuer, 'LOST') };
  });
}

/** A report as far as it could be read. */
interface OpenReport {
  readonly xml: string;
  readonly parsed: ParsedReport | null;
  readonly certificate: X509Certificate | null;
  /** What is wrong with its format (R01). */
  readonly fault: string;
}

function open(text: string, { schemas }: Court): OpenReport {
  const xml = withoutDeclaration(text);
  const broken = (fault: string): OpenReport => ({ xml, parsed: null, certificate: null, fault });
  try {
    using document = parseXml(xml);
    const root = treeOf(document.root);
    const faults = faultsOfForm(root);
    if (faults.length > 0) return broken(faults.join('; '));
    const fault = schemas?.report(document) ?? '';
    return { xml, parsed: readReport(root), certificate: certificateIn(root), fault };
  } catch (error) {
    if (error instanceof XmlRefused) return broken('no es XML bien formado, o trae DOCTYPE');
    throw error;
  }
}

function certificateIn(root: XmlTree): X509Certificate | null {
  const signature = root.children.find(({ name, namespace }) => name === 'Signature' && namespace === DS_NS);
  const data = childOf(childOf(signature, 'KeyInfo'), 'X509Data');
  return certificateFrom(textAt(data, 'X509Certificate') ?? '');
}

interface Bench {
  readonly caller: Caller;
  readonly issuer: Issuer;
  readonly court: Court;
  readonly now: Date;
}

/** The first thing that is against a report; null where it is accepted. */
function reasonAgainst(opened: OpenReport, bench: Bench): ReportReason | null {
  try {
    judge(opened, bench);
    return null;
  } catch (error) {
    if (!(error instanceof ReportRefused)) throw error;
    return { code: error.code, detail: error.message };
  }
}

/** Throws ReportRefused with the first code that applies: R01, R02, R03, R06, R05, R04. */
function judge({ xml, parsed, certificate, fault }: OpenReport, { caller, issuer, court, now }: Bench): void {
  if (!parsed || fault !== '') throw new ReportRefused('R01', [fault]);
  if (parsed.rut !== caller.rut) throw new ReportRefused('R02', ['RUCEmisor no es el de quien envía']);
  if (certificate && rucOf(certificate) !== parsed.rut)
    throw new ReportRefused('R02', ['el certificado no es de RUCEmisor']);
  const signature = faultOfSignature(xml, certificate, {
    trusts: court.trusts,
    signedAt: parsed.signedAt,
    now,
  });
  if (signature !== '') throw new ReportRefused('R03', [signature]);
  if (parsed.date > dayInMontevideo(now))
    throw new ReportRefused('R06', [`recibido antes del ${parsed.date}`]);
  const expected = highestSequence(court.state, issuer, parsed.date) + 1;
  if (parsed.sequence !== expected) throw new ReportRefused('R05', [`Secuencia esperada: ${expected}`]);
  const authorized = (type: string) =>
    issuer.environment === 'sandbox' ? null : rangesOfCaes(court.state, { ...issuer, cfeType: type });
  const faults = [...faultsOfReport(parsed, { now, authorized })];
  if (faults.length > 0) throw new ReportRefused('R04', faults);
}

function faultOfSignature(
  xml: string,
  certificate: X509Certificate | null,
  bench: { readonly trusts: Court['trusts']; readonly signedAt: Date; readonly now: Date },
): string {
  if (!certificate || certificate.publicKey.asymmetricKeyType !== 'rsa')
    return 'el certificado no puede leerse';
  if (!bench.trusts(certificate)) return 'Error al validar el Certificado - certificate not trusted';
  if (!isValidAt(certificate, bench.now)) return 'el certificado no está vigente';
  if (!isValidAt(certificate, bench.signedAt)) return 'el certificado no era vigente al firmar';
  using document: XmlDocument = parseXml(xml);
  return faultOfEnveloped(document, certificate);
}

/** From now on what it annuls is annulled for ever, and it stands in place of earlier sequences. */
function enterIntoForce(state: State, issuer: Issuer, report: ParsedReport): void {
  supersede(state, issuer, report.date);
  for (const { type, annulledRanges } of report.sections)
    for (const { serie, from, to } of annulledRanges) {
      const numbers = { ...issuer, cfeType: type, serie };
      if (!isReportedAnnulled(state, numbers, from, to)) annulNumbers(state, numbers, from, to);
    }
}

/** The IDEmisor of a report that cannot be read, as far as it can be found; 0 otherwise. */
const idEmisorIn = (text: string): number =>
  Number(/<(?:\w+:)?IDEmisor>\s*(\d{1,10})\s*</.exec(text.slice(0, 4096))?.[1] ?? 0);
