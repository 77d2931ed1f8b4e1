import type { EnvironmentName } from '../environments.ts';
import type { Reason } from '../judge/codes.ts';
import type { State } from './database.ts';

/** A shipment as the authority keeps it; times are ISO 8601 in UTC. */
export interface Sobre {
  readonly id: number;
  readonly environment: EnvironmentName;
  readonly rut: string;
  readonly idemisor: number;
  /** AS received, BS refused. */
  readonly state: 'AS' | 'BS';
  readonly received_at: string;
  /** From here on there is a verdict. */
  readonly ready_at: string;
  readonly response_id: number;
  readonly token: string;
  /** The earliest moment for the first query, as it was answered. */
  readonly query_from: string;
  /** How often "not yet" was answered. */
  readonly asked: number;
  /** The second answer, once it was given: it stays the same for ever. */
  readonly ack_cfe: string | null;
}

/** What the authority decided about one receipt of a sobre. */
export interface Judgement {
  readonly ordinal: number;
  readonly cfeType: string | null;
  readonly series: string | null;
  readonly number: number | null;
  readonly issuedOn: string | null;
  readonly signedAt: string | null;
  readonly verdict: 'AE' | 'BE' | 'CE';
  readonly reasons: readonly Reason[];
  /** The sobre that first carried the receipt, with E02. */
  readonly originalSobreId: number | null;
}

/** Keeps a sobre and gives it the number under which its verdict is asked for. */
export function addSobre(state: State, sobre: Omit<Sobre, 'id' | 'asked' | 'ack_cfe'>): number {
  const { lastInsertRowid } = state
    .prepare(
      `insert into sobres (environment, rut, idemisor, state, received_at, ready_at, response_id, token, query_from)
       values (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    )
    .run(
      sobre.environment,
      sobre.rut,
      sobre.idemisor,
      sobre.state,
      sobre.received_at,
      sobre.ready_at,
      sobre.response_id,
      sobre.token,
      sobre.query_from,
    );
  return Number(lastInsertRowid);
}

/** The sobre that was answered AS under that Idemisor: the key of S08. */
export const findReceived = (
  state: State,
  of: { readonly environment: EnvironmentName; readonly rut: string; readonly idemisor: number },
): Sobre | undefined =>
  state
    .prepare("select * from sobres where environment = ? and rut = ? and idemisor = ? and state = 'AS'")
    .get(of.environment, of.rut, of.idemisor) as Sobre | undefined;

/** The sobre of that IDReceptor in the environment. */
export const findSobre = (state: State, environment: EnvironmentName, id: number): Sobre | undefined =>
  state.prepare('select * from sobres where environment = ? and id = ?').get(environment, id) as
    | Sobre
    | undefined;

/** The shipments of a RUC received in a span of time (ends included); 0 as id means any. */
export const listSobres = (
  state: State,
  filter: {
    readonly environment: EnvironmentName;
    readonly rut: string;
    readonly idemisor: number;
    readonly id: number;
    readonly from: string;
    readonly to: string;
  },
): Sobre[] =>
  state
    .prepare(
      `select * from sobres where environment = :environment and rut = :rut and received_at between :from and :to
       and (:idemisor = 0 or idemisor = :idemisor) and (:id = 0 or id = :id) order by id`,
    )
    .all({ ...filter }) as unknown as Sobre[];

/** The shipments, first to last, that carried a receipt of that number. */
export const sobresCarrying = (
  state: State,
  of: {
    readonly environment: EnvironmentName;
    readonly rut: string;
    readonly cfeType: string;
    readonly series: string;
    readonly number: number;
  },
): Sobre[] =>
  state
    .prepare(
      `select s.* from sobres s join judgements j on j.sobre_id = s.id
       where j.environment = ? and j.rut = ? and j.cfe_type = ? and j.series = ? and j.number = ? order by s.id`,
    )
    .all(of.environment, of.rut, of.cfeType, of.series, of.number) as unknown as Sobre[];

/** Notes that "not yet" was answered. */
export const noteAsked = (state: State, id: number): void => {
  state.prepare('update sobres set asked = asked + 1 where id = ?').run(id);
};

/** Keeps the second answer of a sobre, which is given again as it is. */
export const keepAck = (state: State, id: number, ack: string): void => {
  state.prepare('update sobres set ack_cfe = ? where id = ?').run(ack, id);
};

/** Keeps what was decided about one receipt of a sobre. */
export function addJudgement(
  state: State,
  sobre: { readonly id: number; readonly environment: EnvironmentName; readonly rut: string },
  judgement: Judgement,
): void {
  state
    .prepare('insert into judgements values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)')
    .run(
      sobre.id,
      judgement.ordinal,
      sobre.environment,
      sobre.rut,
      judgement.cfeType,
      judgement.series,
      judgement.number,
      judgement.issuedOn,
      judgement.signedAt,
      judgement.verdict,
      JSON.stringify(judgement.reasons),
      judgement.originalSobreId,
    );
}

/** What was decided about the receipts of a sobre, in their order. */
export const judgementsOf = (state: State, sobreId: number): Judgement[] =>
  state
    .prepare('select * from judgements where sobre_id = ? order by ordinal')
    .all(sobreId)
    .map((row) => ({
      ordinal: Number(row['ordinal']),
      cfeType: row['cfe_type'] as string | null,
      series: row['series'] as string | null,
      number: row['number'] as number | null,
      issuedOn: row['issued_on'] as string | null,
      signedAt: row['signed_at'] as string | null,
      verdict: row['verdict'] as Judgement['verdict'],
      reasons: JSON.parse(String(row['reasons'])) as Reason[],
      originalSobreId: row['original_sobre_id'] as number | null,
    }));

/** Notes that the first question for the verdict on a sobre is to be answered with that state. */
export const orderOddState = (state: State, sobreId: number, oddState: string): void => {
  state.prepare('insert into odd_states values (?, ?)').run(sobreId, oddState);
};

/** The state that was ordered for a sobre, once. */
export const takeOddState = (state: State, sobreId: number): string | null => {
  const row = state.prepare('delete from odd_states where sobre_id = ? returning state').get(sobreId);
  return row === undefined ? null : String(row['state']);
};

/** How many of the faults that a sobre's directive asks for were given, counting this one. */
export function countFault(
  state: State,
  of: { readonly environment: EnvironmentName; readonly rut: string; readonly idemisor: number },
): number {
  const row = state
    .prepare(
      `insert into faults_given values (?, ?, ?, 1)
       on conflict do update set given = given + 1 returning given`,
    )
    .get(of.environment, of.rut, of.idemisor);
  return Number(row?.['given']);
}
