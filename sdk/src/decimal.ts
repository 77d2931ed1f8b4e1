const PLAIN = /^(?<sign>-?)(?<whole>\d+)(?:\.(?<fraction>\d+))?(?:[eE](?<exponent>[+-]?\d+))?$/;
const MOST_PLACES = 100;

/**
 * A decimal number without binary rounding: amounts, prices, counts and rates of the API. Keeps its
 * decimal places, as in `122.00`, also in JSON.
 */
export class Decimal {
  readonly #units: bigint;
  readonly #places: number;

  private constructor(units: bigint, places: number) {
    this.#units = units;
    this.#places = places;
  }

  /** Parses a text, an integer, or the shortest notation of a JavaScript number. Throws RangeError for others. */
  static of(value: Decimal | string | number | bigint): Decimal {
    if (value instanceof Decimal) return value;
    const { sign, whole, fraction = '', exponent = '0' } = PLAIN.exec(String(value))?.groups ?? {};
    const shift = Number(exponent);
    if (whole === undefined || Math.abs(shift) > MOST_PLACES)
      throw new RangeError(`not a decimal number: ${value}`);
    const units = BigInt(`${sign}${whole}${fraction}`);
    const places = fraction.length - shift;
    return places < 0 ? new Decimal(units * power(-places), 0) : new Decimal(units, places);
  }

  plus(other: Decimal | string | number | bigint): Decimal {
    const { mine, others, places } = this.#aligned(Decimal.of(other));
    return new Decimal(mine + others, places);
  }

  minus(other: Decimal | string | number | bigint): Decimal {
    const { mine, others, places } = this.#aligned(Decimal.of(other));
    return new Decimal(mine - others, places);
  }

  times(other: Decimal | string | number | bigint): Decimal {
    const factor = Decimal.of(other);
    return new Decimal(this.#units * factor.#units, this.#places + factor.#places);
  }

  /** Divides, rounded to so many decimal places as `round` does: the net of a price with VAT is `dividedBy('1.22', 2)`. */
  dividedBy(other: Decimal | string | number | bigint, places: number): Decimal {
    const divisor = Decimal.of(other);
    if (divisor.#units === 0n) throw new RangeError('division by zero');
    const shift = divisor.#places - this.#places + places;
    const top = this.#units * power(Math.max(shift, 0));
    const bottom = divisor.#units * power(Math.max(-shift, 0));
    const [above, below] = [absolute(top), absolute(bottom)];
    const units = (2n * above + below) / (2n * below);
    return new Decimal(top < 0n === bottom < 0n ? units : -units, places);
  }

  /** Rounds to so many decimal places, halves away from zero, as fiscal amounts are rounded. */
  round(places: number): Decimal {
    if (places >= this.#places) return new Decimal(this.#units * power(places - this.#places), places);
    const step = power(this.#places - places);
    const half = (step / 2n) * (this.#units < 0n ? -1n : 1n);
    return new Decimal((this.#units + half) / step, places);
  }

  /** Returns less than 0 if this number is smaller, more than 0 if it is greater, 0 if both are equal. */
  compare(other: Decimal | string | number | bigint): number {
    const { mine, others } = this.#aligned(Decimal.of(other));
    return mine < others ? -1 : Number(mine > others);
  }

  equals(other: Decimal | string | number | bigint): boolean {
    return this.compare(other) === 0;
  }

  /** Returns the nearest JavaScript number; for charts and estimates, never for sums. */
  toNumber(): number {
    return Number(this.toString());
  }

  toString(): string {
    const digits = String(this.#units < 0n ? -this.#units : this.#units).padStart(this.#places + 1, '0');
    const whole = digits.slice(0, digits.length - this.#places);
    const fraction = digits.slice(digits.length - this.#places);
    return `${this.#units < 0n ? '-' : ''}${whole}${fraction && `.${fraction}`}`;
  }

  toJSON(): string {
    return this.toString();
  }

  /** The number itself in Node’s console.log. */
  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return `Decimal(${this.toString()})`;
  }

  #aligned(other: Decimal): { mine: bigint; others: bigint; places: number } {
    const places = Math.max(this.#places, other.#places);
    return {
      mine: this.#units * power(places - this.#places),
      others: other.#units * power(places - other.#places),
      places,
    };
  }
}

const absolute = (units: bigint): bigint => (units < 0n ? -units : units);
const power = (places: number): bigint => 10n ** BigInt(places);
