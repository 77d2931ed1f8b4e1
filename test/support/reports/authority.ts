import type { DgiClient, FindReportAnswer, SendReportAnswer } from '../../../src/dgi/client.ts';
import {
  type AuthorityReport,
  findListedReport,
  toFindReportAnswer,
  toSendReportAnswer,
} from '../../../src/dgi/otherAnswers.ts';

/** What becomes of the next send: `lost` is taken and its answer lost, `dropped` never arrives, and nobody knows. */
export type Fate = 'AR' | 'R01' | 'R03' | 'R04' | 'R05' | 'R06' | 'lost' | 'dropped' | 'away';

type ReportCode = 'R01' | 'R03' | 'R04' | 'R05' | 'R06';

interface Held extends AuthorityReport {
  date: string;
  sequence: number;
  xml: string;
  state: string;
  /** Why it was refused. */
  refusal: ReportCode | null;
}

const UNREACHED = { kind: 'repeat', description: 'ECONNREFUSED', reached: false } as const;
const valueIn = (xml: string, name: string): string =>
  new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1] ?? '';

/** An authority in memory that takes reports by their sequence, as the real one does, unless told otherwise. */
export function reportAuthority() {
  const held: Held[] = [];
  const fates: Fate[] = [];
  const diary: string[] = [];
  let last = 90_000;
  const acceptedOf = (date: string) => held.filter((one) => one.date === date && one.state !== 'BR');

  function take(xml: string, idEmisor: string, asked: Fate): SendReportAnswer {
    const date = valueIn(xml, 'FechaResumen');
    const sequence = Number(valueIn(xml, 'SecEnvio'));
    if (held.some((one) => one.xml === xml && one.state !== 'BR'))
      return toSendReportAnswer({ answer: 'code 109' });
    const highest = Math.max(0, ...acceptedOf(date).map((one) => one.sequence));
    const isNext = sequence === highest + 1;
    const refusal = asked === 'AR' || asked === 'lost' ? (isNext ? null : 'R05') : (asked as ReportCode);
    last += 1;
    const authorityId = String(last);
    const state = refusal === null ? 'AR' : 'BR';
    for (const one of acceptedOf(date)) if (state === 'AR') one.state = 'FR';
    held.push({ date, sequence, xml, idEmisor, authorityId, state, refusal });
    if (refusal === null) return { kind: 'received', authorityId };
    const reasons = [{ code: refusal, message: 'refused', detail: null }];
    return toSendReportAnswer({ answer: refusal, reasons, authorityId });
  }

  const client = {
    async sendReport(_by, _environment, { xml, idEmisor }): Promise<SendReportAnswer> {
      const fate = fates.shift() ?? 'AR';
      diary.push(`send ${valueIn(xml, 'SecEnvio')}`);
      if (fate === 'away') return UNREACHED;
      if (fate === 'dropped') return { kind: 'fateUnknown', description: 'time-out' };
      const answer = take(xml, idEmisor.toString(), fate);
      return fate === 'lost' ? { kind: 'fateUnknown', description: 'time-out' } : answer;
    },
    async findReport(_by, _environment, { idEmisor, date }): Promise<FindReportAnswer> {
      diary.push('find');
      return toFindReportAnswer(
        findListedReport(
          held.filter((one) => one.date === date),
          idEmisor,
        ),
      );
    },
    async listReports(_by, _environment, date) {
      diary.push('list');
      return { kind: 'listed', reports: held.filter((one) => one.date === date) };
    },
    async readReportAnswer(_by, _environment, { authorityId }) {
      diary.push('read');
      const found = held.find((one) => one.authorityId === authorityId);
      return toSendReportAnswer({
        answer: found?.refusal ?? 'R04',
        reasons: [],
        authorityId: found?.authorityId,
      });
    },
  } satisfies Partial<DgiClient>;

  return {
    client: client as unknown as DgiClient,
    held,
    fates,
    diary,
    /** A report of the day that another system of the company sent. */
    otherSystem(date: string, sequence: number): void {
      for (const one of acceptedOf(date)) one.state = 'FR';
      held.push({ date, sequence, xml: '', idEmisor: '7', authorityId: '80001', state: 'AR', refusal: null });
    },
    /** Has the comparison done of the last report that it took. */
    compare(state: 'DR' | 'ER'): void {
      const one = held.findLast((each) => each.state === 'AR');
      if (one) one.state = state;
    },
  };
}
