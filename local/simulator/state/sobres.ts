import type { EnvironmentName } from '../environments.ts';
import type { Reason, Verdict } from '../judge/codes.ts';
import { nextNumber, type State } from './database.ts';
import type { FiscalNumber } from './receipts.ts';

/** A shipment as the authority keeps it; times are ISO 8601 in UTC. */
export interface Sobre {
  readonly id: number;
  readonly environment: EnvironmentName;
  readonly rut: string;
  readonly idemisor: number;
  /** AS received, BS refused. */
  readonly state: 'AS' | 'BS';
  readonly received_at: string;
  /** From this moment on there is a verdict. */
  readonly ready_at: string;
  readonly response_id: number;
  readonly token: string;
  /** The earliest moment for the first query, as it was answered. */
  readonly query_from: string;
  /** How often it was answered "not yet". */
  readonly asked: number;
  /** The second answer once it was given; it never changes. */
  readonly ack_cfe: string | null;
}

/** What an issuer may send only once. */
export type SobreKey = Pick<Sobre, 'environment' | 'rut' | 'idemisor'>;

/** What the authority decided about one receipt of a sobre. */
export interface Judgement {
  readonly ordinal: number;
  readonly cfeType: string | null;
  readonly serie: string | null;
  readonly number: number | null;
  readonly issuedOn: string | null;
  readonly signedAt: string | null;
  readonly verdict: Verdict;
  readonly reasons: readonly Reason[];
  /** The sobre that first carried the receipt, with E02. */
  readonly originalSobreId: number | null;
}

/** The next IDRespuesta; far from the IDReceptor, so that they are not confused. */
export const nextResponseId = (state: State): number => nextNumber(state, 'responses', 5_000_001);

/** Stores a sobre and returns its IDReceptor, under which its verdict is queried. */
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
export const findReceived = (state: State, { environment, rut, idemisor }: SobreKey): Sobre | undefined =>
  state
    .prepare("select * from sobres where environment = ? and rut = ? and idemisor = ? and state = 'AS'")
    .get(environment, rut, idemisor) as Sobre | undefined;

/** The sobre of that IDReceptor in the environment. */
export const findSobre = (state: State, environment: EnvironmentName, id: number): Sobre | undefined =>
  state.prepare('select * from sobres where environment = ? and id = ?').get(environment, id) as
    | Sobre
    | undefined;

/** The sobres of a RUC received in a span of time (ends included); `idemisor` and `id` 0 mean any. */
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

/** The sobres, first to last, that carried a receipt of that number. */
export const sobresCarrying = (
  state: State,
  { environment, rut, cfeType, serie, number }: FiscalNumber,
): Sobre[] =>
  state
    .prepare(
      `select s.* from sobres s join judgements j on j.sobre_id = s.id
       where j.environment = ? and j.rut = ? and j.cfe_type = ? and j.series = ? and j.number = ? order by s.id`,
    )
    .all(environment, rut, cfeType, serie, number) as unknown as Sobre[];

/** Notes that "not yet" was answered. */
export const noteAsked = (state: State, id: number): void => {
  state.prepare('update sobres set asked = asked + 1 where id = ?').run(id);
};

/** Stores the second answer of a sobre, which is given again unchanged. */
export const keepAck = (state: State, id: number, ack: string): void => {
  state.prepare('update sobres set ack_cfe = ? where id = ?').run(ack, id);
};

/** Stores what was decided about one receipt of a sobre. */
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
      judgement.serie,
      judgement.number,
      judgement.issuedOn,
      judgement.signedAt,
      judgement.verdict,
      JSON.stringify(judgement.reasons),
      judgement.originalSobreId,
    );
}

/** What was decided about the receipts of a sobre, in order. */
export const judgementsOf = (state: State, sobreId: number): Judgement[] =>
  state
    .prepare('select * from judgements where sobre_id = ? order by ordinal')
    .all(sobreId)
    .map((row) => ({
      ordinal: Number(row['ordinal']),
      cfeType: row['cfe_type'] as string | null,
      serie: row['series'] as string | null,
      number: row['number'] as number | null,
      issuedOn: row['issued_on'] as string | null,
      signedAt: row['signed_at'] as string | null,
      verdict: row['verdict'] as Judgement['verdict'],
      reasons: JSON.parse(String(row['reasons'])) as Reason[],
      originalSobreId: row['original_sobre_id'] as number | null,
    }));

/** Orders that the first answer for a receipt of a sobre shows that state. */
export const orderOddState = (state: State, sobreId: number, ordinal: number, oddState: string): void => {
  state.prepare('insert into odd_verdicts values (?, ?, ?)').run(sobreId, ordinal, oddState);
};

/** The states that were ordered for those receipts of a sobre, by ordinal; the orders are then gone. */
export const takeOddStates = (
  state: State,
  sobreId: number,
  ordinals: readonly number[],
): ReadonlyMap<number, string> =>
  new Map(
    state
      .prepare(
        `delete from odd_verdicts where sobre_id = ? and ordinal in (select value from json_each(?))
         returning ordinal, state`,
      )
      .all(sobreId, JSON.stringify(ordinals))
      .map((row) => [Number(row['ordinal']), String(row['state'])]),
  );

/** Orders that the verdict on a receipt of a sobre comes only then. */
export const orderLate = (state: State, sobreId: number, ordinal: number, readyAt: string): void => {
  state.prepare('insert into late_verdicts values (?, ?, ?)').run(sobreId, ordinal, readyAt);
};

/** The receipts of a sobre whose verdict comes after that moment, by ordinal. */
export const lateOrdinals = (state: State, sobreId: number, now: string): ReadonlySet<number> =>
  new Set(
    state
      .prepare('select ordinal from late_verdicts where sobre_id = ? and ready_at > ?')
      .all(sobreId, now)
      .map((row) => Number(row['ordinal'])),
  );

/** How many of the faults that a sobre's directive orders were given, this one included. */
export function countFault(state: State, { environment, rut, idemisor }: SobreKey): number {
  const row = state
    .prepare(
      `insert into faults_given values (?, ?, ?, 1)
       on conflict do update set given = given + 1 returning given`,
    )
    .get(environment, rut, idemisor);
  return Number(row?.['given']);
}
