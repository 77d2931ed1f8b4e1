import fc from 'fast-check';
import type { CfeType } from '../../../src/domain/receipts/cfeTypes.ts';
import {
  checkDigit,
  decimalText,
  halfUpRatio,
  lineAmount,
  measured,
  recompute,
  units,
} from '../receipts/arithmetic.ts';
import { type Json, type JsonObject, num, toJson } from '../receipts/exactJson.ts';

/** What the tests know of a family by themselves, from the format. */
const LOCAL_KINDS = [
  'FREE',
  'EXEMPT',
  'MINIMUM_RATE',
  'BASIC_RATE',
  'OTHER_RATE',
  'EXPORT',
  'PERCEIVED',
  'SUSPENDED',
  'NON_BILLABLE',
  'NON_BILLABLE_NEGATIVE',
] as const;
const FAMILIES = {
  ETICKET: {
    kinds: LOCAL_KINDS,
    saleModes: [80, 90],
  },
  EFACTURA: {
    kinds: LOCAL_KINDS,
    saleModes: [90],
  },
  EFACTURA_EXPORT: {
    kinds: ['FREE', 'EXPORT', 'NON_BILLABLE', 'NON_BILLABLE_NEGATIVE'],
    saleModes: [1, 2, 3, 4, 90, 91, 99],
  },
} as const;
export type Family = keyof typeof FAMILIES;

/** The type of a family that is no note. */
export const familyOf = (type: CfeType): Family => type.replace(/_N[CD]$/, '') as Family;
export const isNote = (type: CfeType): boolean => /_N[CD]$/.test(type);

/** The CFE that a note is to correct: its id and the request that it was issued with. */
interface Issued {
  cfeId: string;
  body: JsonObject;
}

export interface RequestWishes {
  /** Day around which emission dates lie, `YYYY-MM-DD`; the caller's today in Montevideo. */
  today: string;
  /** Days before and after today; 60 both ways by the rules, less where CAEs or certificates set bounds. */
  days?: { back: number; ahead: number };
  /** Largest number of lines. */
  maxLines?: number;
  /** Needed for notes. */
  original?: Issued;
  /** Whether CFEs of another system may be named, which the authority must then know. */
  foreign?: boolean;
}

/** Letters that receipts meet, with those that XML must escape and some beyond the basic plane. */
const LETTERS = Array.from(
  'abcdefghijklmnopqrstuvwxyz ABCDEFÁÉÍÓÚÑáéíóúñü 0123456789 &<>"\'/.,;:-()%$#@!¿¡ €漢字🧾👩‍🌾',
);
const words = (longest: number): fc.Arbitrary<string> =>
  fc
    .array(fc.constantFrom(...LETTERS), { minLength: 1, maxLength: longest })
    .map((letters) => Array.from(letters.join('')).slice(0, longest).join(''))
    .filter((text) => text.trim() !== '');

/** A number written in one of the ways that mean the same: plain, without trailing zeros, or with more of them. */
const written = (value: bigint, places: number): fc.Arbitrary<Json> =>
  fc.constantFrom('trimmed', 'plain', 'zeros').map((style) => {
    const plain = decimalText(value, places);
    if (style === 'plain' || places === 0) return num(plain);
    return num(style === 'zeros' ? `${plain}00` : plain.replace(/\.?0+$/, ''));
  });

/** A RUC with its check digit. */
export const ruc: fc.Arbitrary<string> = fc
  .array(fc.integer({ min: 0, max: 9 }), { minLength: 11, maxLength: 11 })
  .map((digits) => digits.join(''))
  .filter((eleven) => checkDigit(eleven) !== undefined)
  .map((eleven) => `${eleven}${checkDigit(eleven)}`);

const day = (today: string, days: number) =>
  new Date(Date.parse(today) + days * 86_400_000).toISOString().slice(0, 10);

interface DraftLine {
  kind: string;
  count: bigint;
  price: bigint;
  cents: bigint;
  discounts: JsonObject[];
  surcharges: JsonObject[];
}

/** A percentage, or an amount of at most `cents`. */
const measure = (cents: bigint): fc.Arbitrary<JsonObject> =>
  fc.oneof(
    fc.bigInt(0n, 3_000n).map((hundredths): JsonObject => ({ percent: num(decimalText(hundredths, 2)) })),
    fc.bigInt(0n, cents).map((amount): JsonObject => ({ amount: num(decimalText(amount, 2)) })),
  );

const draftLine = (kinds: readonly string[]): fc.Arbitrary<DraftLine> =>
  fc
    .record({
      kind: fc.constantFrom(...kinds),
      count: fc.oneof(
        fc.bigInt(1n, 20n).map((n) => n * 1000n),
        fc.bigInt(1n, 5_000_000n),
      ),
      price: fc.oneof(
        fc.bigInt(1n, 20_000n).map((n) => n * 1_000_000n),
        fc.bigInt(1n, 99_999n).map((n) => n * 10_000n),
        fc.bigInt(1n, 900_000_000n),
      ),
    })
    .chain(({ kind, count, price }) => {
      const paid = kind === 'FREE' ? 0n : price;
      const cents = lineAmount(count, paid);
      // Three discounts of at most 30 % each leave something.
      const some = (most: number) =>
        kind === 'FREE'
          ? fc.constant<JsonObject[]>([])
          : fc.oneof(
              { weight: 3, arbitrary: fc.constant<JsonObject[]>([]) },
              fc.array(measure(cents / 4n), { minLength: 1, maxLength: most }),
            );
      return fc.tuple(some(3), some(5)).map(([discounts, surcharges]) => {
        const sum = (of: JsonObject[]) => of.reduce((all, one) => all + measured(one, count * paid), 0n);
        return {
          kind,
          count,
          price: paid,
          discounts,
          surcharges,
          cents: cents - sum(discounts) + sum(surcharges),
        };
      });
    });

interface DraftAdjustment {
  body: JsonObject;
  kind: string;
  cents: bigint;
}

/** Adjustments on kinds that the lines have; discounts take at most a part of them. */
const adjustmentsFor = (lines: readonly DraftLine[]): fc.Arbitrary<DraftAdjustment[]> => {
  const kinds = [...new Set(lines.map(({ kind }) => kind))].filter((kind) => kind !== 'FREE');
  if (kinds.length === 0) return fc.constant([]);
  const one = fc
    .tuple(fc.constantFrom(...kinds), fc.constantFrom('DISCOUNT', 'SURCHARGE'), words(100))
    .chain(([kind, way, description]) => {
      const whole = lines.reduce((all, line) => (line.kind === kind ? all + line.cents : all), 0n);
      return measure(whole / 4n).map((part): DraftAdjustment => {
        const cents =
          part['percent'] === undefined
            ? units(part['amount'] as Json, 2)
            : halfUpRatio(whole * units(part['percent'], 2), 10_000n);
        const body = { kind: way, iva_type: kind, description, ...part };
        return { body, kind, cents: way === 'DISCOUNT' ? -cents : cents };
      });
    });
  return fc.oneof(
    { weight: 2, arbitrary: fc.constant<DraftAdjustment[]>([]) },
    fc.array(one, { minLength: 1, maxLength: 3 }),
  );
};

const paymentsFor: fc.Arbitrary<JsonObject[]> = fc.oneof(
  { weight: 2, arbitrary: fc.constant<JsonObject[]>([]) },
  fc.array(
    fc
      .record({
        description: words(100),
        amount: fc.bigInt(-100_000n, 10_000_000n).map((cents) => num(decimalText(cents, 2))),
        code: fc.option(fc.stringMatching(/^[0-9]{1,3}$/), { nil: undefined }),
      })
      .map(withoutUndefined),
    { minLength: 1, maxLength: 4 },
  ),
);

const CODES = [
  { type: 'GTIN13', value: '4006381333931' },
  { type: 'GTIN12', value: '036000291452' },
  { type: 'GTIN8', value: '96385074' },
  { type: 'GTIN14', value: '10733332145213' },
  { type: 'INT1', value: 'A-7' },
];

const writtenLine = (draft: DraftLine, index: number, abroad: boolean): fc.Arbitrary<JsonObject> =>
  fc
    .record({
      line_number: fc.constant(num(index + 1)),
      iva_type: fc.constant(draft.kind),
      item_name: words(80),
      item_description: fc.option(words(1000), { nil: undefined, freq: 4 }),
      count: written(draft.count, 3),
      unit_price: written(draft.price, 6),
      item_amount: written(draft.cents, 2),
      unit: fc.option(words(4), { nil: undefined, freq: 2 }),
      codes: fc.option(fc.subarray(CODES, { minLength: 1 }), { nil: undefined, freq: 2 }),
      ncm: abroad ? fc.option(words(20), { nil: undefined }) : fc.constant(undefined),
      discounts: fc.constant(draft.discounts.length > 0 ? draft.discounts : undefined),
      surcharges: fc.constant(draft.surcharges.length > 0 ? draft.surcharges : undefined),
    })
    .map(withoutUndefined);

function withoutUndefined(value: Record<string, Json | undefined>): JsonObject {
  return Object.fromEntries(
    Object.entries(value).filter((entry): entry is [string, Json] => entry[1] !== undefined),
  );
}

interface Money {
  currency: string;
  /** Thousandths. */
  rate: bigint;
}
const money: fc.Arbitrary<Money> = fc.oneof(
  fc.constant({ currency: 'UYU', rate: 1000n }),
  fc.record({ currency: fc.constantFrom('USD', 'EUR'), rate: fc.bigInt(30_000n, 60_000n) }),
  fc.record({ currency: fc.constantFrom('USD', 'EUR'), rate: fc.bigInt(1n, 9_999_999n) }),
);

/** The totals of lines whose prices are net or gross; a net VAT may stand a cent away from the product. */
function totalsOf(
  lines: readonly { kind: string; cents: bigint }[],
  count: number,
  { currency, rate }: Money,
): fc.Arbitrary<JsonObject> {
  const sum = (kind: string) =>
    lines.reduce((cents, line) => (line.kind === kind ? cents + line.cents : cents), 0n);
  const otherNet = sum('OTHER_RATE');
  const otherVat = otherNet === 0n ? 0n : otherNet / 45n + 1n;
  return fc
    .tuple(fc.boolean(), fc.bigInt(-1n, 1n), fc.bigInt(-1n, 1n), fc.boolean())
    .chain(([gross, slip, other, zeros]) => {
      const taxed = (of: bigint, percent: bigint, off: bigint) => {
        if (gross) {
          const base = halfUpRatio(of * 100n, 100n + percent);
          return { base, vat: of - base };
        }
        const vat = halfUpRatio(of * percent, 100n) + (of === 0n ? 0n : off);
        return { base: of, vat: vat < 0n ? 0n : vat };
      };
      const minimum = taxed(sum('MINIMUM_RATE'), 10n, slip);
      const basic = taxed(sum('BASIC_RATE'), 22n, other);
      const others =
        sum('EXEMPT') + sum('EXPORT') + sum('PERCEIVED') + sum('SUSPENDED') + otherNet + otherVat;
      const total = others + minimum.base + minimum.vat + basic.base + basic.vat;
      const optional = (cents: bigint) =>
        cents === 0n && !zeros ? fc.constant(undefined) : written(cents, 2);
      return fc
        .record({
          currency: fc.constant(currency),
          exchange_rate: written(rate, 3),
          total_amount: written(total, 2),
          pay_amount: written(total + sum('NON_BILLABLE') - sum('NON_BILLABLE_NEGATIVE'), 2),
          line_count: fc.constant(num(count)),
          tax_free_amount: optional(sum('EXEMPT')),
          tax_basic_net_amount: optional(basic.base),
          tax_basic_amount: optional(basic.vat),
          tax_minimum_net_amount: optional(minimum.base),
          tax_minimum_amount: optional(minimum.vat),
          tax_other_net_amount: optional(otherNet),
          tax_other_amount: optional(otherVat),
          perceived_amount: optional(sum('PERCEIVED')),
          suspended_amount: optional(sum('SUSPENDED')),
        })
        .map(withoutUndefined);
    });
}

const companyDocument: fc.Arbitrary<JsonObject> = fc
  .record({ number: ruc, country: fc.option(fc.constant('UY'), { nil: undefined }) })
  .map(({ number, country }) =>
    withoutUndefined({ receiver_doc_type: 'RUC', receiver_document: number, country_code: country }),
  );
const COUNTRIES = ['BR', 'AR', 'US', 'DE', 'CN', 'AN', '99'];
const abroadOf = (type: string, countries: readonly string[]): fc.Arbitrary<JsonObject> =>
  fc.record({
    receiver_doc_type: fc.constant(type),
    receiver_document: fc.stringMatching(/^[A-Z0-9-]{1,20}$/),
    country_code: fc.constantFrom(...countries),
  });
/** A cédula of seven or eight digits. The digit: Σ of the first seven by 8 1 2 3 4 7 6, modulo 10. */
const cedula: fc.Arbitrary<JsonObject> = fc.integer({ min: 100_000, max: 9_999_999 }).map((body) => {
  const digits = String(body).padStart(7, '0').split('').map(Number);
  const sum = [8, 1, 2, 3, 4, 7, 6].reduce((all, weight, at) => all + weight * (digits[at] ?? 0), 0);
  return { receiver_doc_type: 'CI', receiver_document: `${body}${sum % 10}` };
});
const foreignDocument: fc.Arbitrary<JsonObject> = fc.oneof(
  abroadOf('NIFE', COUNTRIES),
  abroadOf('PASSPORT', [...COUNTRIES, 'UY']),
  abroadOf('OTHER', [...COUNTRIES, 'UY']),
  abroadOf('DNI', ['AR', 'BR', 'CL', 'PY']),
  cedula,
);
const places = (needed: readonly string[]): fc.Arbitrary<JsonObject> => {
  const field = (name: string, longest: number) =>
    needed.includes(name) ? words(longest) : fc.option(words(longest), { nil: undefined });
  return fc
    .record({
      legal_name: field('legal_name', 150),
      fiscal_address: field('fiscal_address', 70),
      city: field('city', 30),
      department: field('department', 30),
      country: field('country', 30),
    })
    .map(withoutUndefined);
};
const joined = (...parts: fc.Arbitrary<JsonObject>[]): fc.Arbitrary<JsonObject> =>
  fc.tuple(...parts).map((objects) => Object.assign({}, ...objects) as JsonObject);
const filled = (receiver: fc.Arbitrary<JsonObject>) =>
  receiver.filter((fields) => Object.keys(fields).some((field) => field !== 'country_code'));

const LOCAL_FIELDS = ['legal_name', 'fiscal_address', 'city'];
const EXPORT_FIELDS = [...LOCAL_FIELDS, 'department', 'country'];

/** A receiver as the family wants it; `identified` makes an e-Ticket's bear a document. */
function receiverFor(family: Family, identified: boolean): fc.Arbitrary<JsonObject | undefined> {
  const document = fc.oneof(companyDocument, foreignDocument);
  if (family === 'EFACTURA') return joined(companyDocument, places(LOCAL_FIELDS));
  if (family === 'EFACTURA_EXPORT') return joined(fc.oneof(fc.constant({}), document), places(EXPORT_FIELDS));
  if (identified) return joined(document, places([]));
  return fc.oneof(fc.constant(undefined), filled(joined(places([]))), joined(document, places([])));
}

const adenda = fc.array(words(80), { minLength: 1, maxLength: 4 }).map((lines) => lines.join('\n'));

function extraFor(
  type: CfeType,
  { exports, receiver, reasons }: { exports: boolean; receiver: boolean; reasons: boolean },
): fc.Arbitrary<string | undefined> {
  const family = familyOf(type);
  const may = <T>(allowed: boolean, value: fc.Arbitrary<T>) =>
    allowed ? fc.option(value, { nil: undefined }) : fc.constant(undefined);
  const abroad = family === 'EFACTURA_EXPORT';
  const code = (codes: readonly number[]) =>
    fc
      .tuple(fc.constantFrom(...codes), fc.boolean())
      .map(([one, asText]): Json => (asText ? String(one) : num(one)));
  const extra = fc
    .record({
      adenda: may(true, adenda),
      due_date: may(true, fc.constantFrom('2026-03-01', '2000-01-01', '2050-12-31')),
      unit: may(true, words(4)),
      purchase_order: may(receiver, words(50)),
      reference_reason: may(reasons, words(90)),
      sale_condition: may(abroad, fc.constantFrom('FOB', 'CIF', 'EXW', 'N/A')),
      sale_mode: may(abroad || exports, code(FAMILIES[family].saleModes)),
      transport: may(abroad, code([1, 2, 3, 8, 9])),
      information: may(true, words(150)),
      mine: may(true, fc.constant<Json>({ id: num('12345678901234567890'), tags: ['a'] })),
    })
    .map((keys) => toJson(withoutUndefined(keys)));
  return fc.option(extra, { nil: undefined });
}

/** More than this in pesos net needs an identified receiver: 5,000 × the value of 2026. Far below it, none does. */
const LIMIT_CENTS = 3_210_400n;

/** Net of VAT in pesos (hundred-thousandths: cents × thousandths). */
function aboveLimit(lines: readonly { kind: string; cents: bigint }[], { currency, rate }: Money): boolean {
  const billed = lines.filter(({ kind }) => !kind.startsWith('NON_BILLABLE'));
  // The sum with VAT in it is never below the one without, so that this errs to the safe side for gross prices.
  const cents = billed.reduce((sum, line) => sum + line.cents, 0n);
  return cents * (currency === 'UYU' ? 1000n : rate) > LIMIT_CENTS * 1000n;
}

/**
 * Requests of a type that the service takes: every field, kind of line, way of writing numbers, currency, reading of
 * prices and key of `extra`. A note corrects `wishes.original`, and a credit note takes no more than that was worth.
 */
export function validRequest(type: CfeType, wishes: RequestWishes): fc.Arbitrary<JsonObject> {
  const { original, foreign = false } = wishes;
  if (!isNote(type)) return freshRequest(type, wishes, false);
  if (!original) throw new Error(`a ${type} needs an original`);
  const fit = (body: JsonObject): JsonObject =>
    !type.endsWith('_NC') || takesNoMoreThan(original.body, body) ? body : inFull(body, original.body);
  const one = freshRequest(type, wishes, true).map(
    (body): JsonObject => ({ ...fit(body), reference: { cfe_id: original.cfeId } }),
  );
  const several = freshRequest(type, wishes, false).chain((body) => {
    const note = fit(body);
    return noteReferences(note, original, foreign).map((references): JsonObject => ({ ...note, references }));
  });
  return fc.oneof({ weight: 2, arbitrary: one }, several);
}

/** What a CFE is worth to credit notes, in cents: its total with what is not billed, unless that is below zero. */
function worthOf(body: JsonObject): bigint {
  const { total, pay } = recompute(body);
  return total > pay ? total : pay;
}

const reason = fc.option(words(90), { nil: undefined });
const description = words(90).map((text): JsonObject => ({ description: text }));
/** A CFE of another system; its serie is none of this service's. */
const foreignReference: fc.Arbitrary<JsonObject> = fc
  .record({
    cfe_type_code: fc.constantFrom('101', '111', '112', '131', '151', '181', '182', '124', '201'),
    serie: fc.constantFrom('Z', 'ZZ', '9Z'),
    numero: fc.integer({ min: 1, max: 9_999_999 }).map(num),
    emission_date: fc.constantFrom('2011-10-01', '2026-01-31'),
    reason,
  })
  .chain((cfe) =>
    fc
      .tuple(fc.bigInt(0n, 99_999_999n), money)
      .map(([cents, { currency, rate }]) => ({
        amount: num(decimalText(cents, 2)),
        currency,
        exchange_rate: currency === 'UYU' ? undefined : num(decimalText(rate, 3)),
      }))
      .map((value) =>
        withoutUndefined({ ...cfe, ...(['181', '182', '124'].includes(cfe.cfe_type_code) ? {} : value) }),
      ),
  );
const nameOf = (row: JsonObject): string =>
  ['cfe_type_code', 'serie', 'numero'].map((name) => toJson(row[name] ?? '')).join(' ');
/** References to what the service does not know, at least so many. */
const unknownReferences = (least: number, foreign: boolean): fc.Arbitrary<JsonObject[]> =>
  fc
    .array(foreign ? fc.oneof(description, foreignReference) : description, {
      minLength: least,
      maxLength: 4,
    })
    .filter((rows) => {
      const named = rows.filter((row) => row['cfe_type_code'] !== undefined).map(nameOf);
      return new Set(named).size === named.length;
    });

/** The original of a note alone, which takes all; or with an amount of its own beside what is not known here. */
function noteReferences(note: JsonObject, original: Issued, foreign: boolean): fc.Arbitrary<JsonObject[]> {
  const { pay } = recompute(original.body);
  const bounds = [worthOf(note), worthOf(original.body), pay > 0n ? pay : 0n];
  const most = bounds.reduce((least, one) => (one < least ? one : least));
  const own = fc.record({ cfe_id: fc.constant(original.cfeId), reason });
  const alone = own.map((row): JsonObject[] => [withoutUndefined(row)]);
  const beside = fc
    .tuple(own, fc.bigInt(0n, most), unknownReferences(1, foreign))
    .map(([row, cents, others]): JsonObject[] => [
      withoutUndefined({ ...row, amount: num(decimalText(cents, 2)) }),
      ...others,
    ]);
  return fc.oneof(alone, beside);
}

/** `reasons`: `extra` may have a reference_reason, so that the note has a `reference`. */
function freshRequest(type: CfeType, wishes: RequestWishes, reasons: boolean): fc.Arbitrary<JsonObject> {
  const plain = requestOf(type, wishes, { reasons, collects: false });
  if (type !== 'ETICKET' && type !== 'EFACTURA') return plain;
  return fc.oneof({ weight: 5, arbitrary: plain }, requestOf(type, wishes, { reasons, collects: true }));
}

function requestOf(
  type: CfeType,
  { today, days = { back: 60, ahead: 60 }, maxLines = 8, foreign = false }: RequestWishes,
  { reasons, collects }: { reasons: boolean; collects: boolean },
): fc.Arbitrary<JsonObject> {
  const family = familyOf(type);
  const kinds = collects ? (['NON_BILLABLE', 'NON_BILLABLE_NEGATIVE'] as const) : FAMILIES[family].kinds;
  const drafts = fc.array(draftLine(kinds), {
    minLength: 1,
    maxLength: maxLines,
    size: 'max',
  });
  const draft = drafts.chain((lines) =>
    fc.tuple(fc.constant(lines), money, collects ? fc.constant([]) : adjustmentsFor(lines), paymentsFor),
  );
  return draft.chain(([lines, rated, adjustments, payments]) => {
    const exports = lines.some(({ kind }) => kind === 'EXPORT');
    const sums = [...lines, ...adjustments];
    return receiverFor(family, aboveLimit(sums, rated)).chain((receiver) =>
      fc
        .record({
          cfe_type: fc.constant(type),
          external_id: fc.option(words(50), { nil: undefined }),
          doc_id: fc.record({
            emission_date: fc.integer({ min: -days.back, max: days.ahead }).map((n) => day(today, n)),
            payment_method: fc.constantFrom('1', '2', 'CASH', 'CREDIT'),
            third_party_payment: fc.constantFrom(undefined, undefined, undefined, false, true),
            own_collection: collects ? fc.constant(true) : fc.constantFrom(undefined, undefined, false),
          }),
          totals: totalsOf(sums, lines.length, rated),
          details: fc.tuple(...lines.map((line, at) => writtenLine(line, at, family === 'EFACTURA_EXPORT'))),
          references: isNote(type)
            ? fc.constant<JsonObject[]>([])
            : unknownReferences(collects ? 1 : 0, foreign),
          extra: extraFor(type, { exports, receiver: receiver !== undefined, reasons }),
        })
        .map(({ cfe_type, external_id, doc_id, totals, details, references, extra }) =>
          withoutUndefined({
            cfe_type,
            external_id,
            header: withoutUndefined({
              doc_id: withoutUndefined(doc_id),
              receiver,
              totals,
              adjustments: adjustments.length > 0 ? adjustments.map(({ body }) => body) : undefined,
              payments: payments.length > 0 ? payments : undefined,
            }),
            details,
            references: references.length > 0 ? references : undefined,
            extra,
          }),
        ),
    );
  });
}

/** Same currency and at most the original's worth: sure to fit, whatever the rates. */
function takesNoMoreThan(original: JsonObject, note: JsonObject): boolean {
  const currency = (body: JsonObject) => ((body['header'] as JsonObject)['totals'] as JsonObject)['currency'];
  return currency(original) === currency(note) && worthOf(note) <= worthOf(original);
}

/** The note with the lines, totals and receiver of its original: it takes all of it. */
function inFull(note: JsonObject, original: JsonObject): JsonObject {
  const header = original['header'] as JsonObject;
  const noteHeader = note['header'] as JsonObject;
  const { extra: _, ...rest } = note;
  return {
    ...rest,
    header: { ...header, doc_id: noteHeader['doc_id'] as Json },
    details: original['details'] as Json,
  };
}

/** What a note of that type may correct: requests of its family that are no notes. */
export function validOriginal(type: CfeType, wishes: RequestWishes): fc.Arbitrary<JsonObject> {
  return validRequest(familyOf(type), wishes);
}
