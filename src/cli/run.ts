import { CommanderError } from 'commander';
import * as z from 'zod';
import { ConfigurationError } from '../config.ts';
import { BY_LENGTH } from '../domain/operations/supportAction.ts';
import { checkInput } from '../domain/requests/faults.ts';
import { isExactNumber } from '../domain/values/exactNumber.ts';
import { textSchema } from '../domain/values/text.ts';
import { invalidInput, Refusal } from '../errors.ts';
import { createProgram, type ProgramPorts } from './program.ts';
import type { CliDeps, Group, OutputRow } from './verb.ts';

/** Exit codes (docs/contract.md#command-line). */
const DONE = 0;
const REFUSED = 1;
const WRONG_USAGE = 2;

/** Whether a verb acts, and the person named by `--by`. */
export interface Acting {
  readonly acts: boolean;
  readonly by: string | undefined;
}

/** The command line's access to the outside world. */
export interface CliPorts {
  readonly writeOut: (text: string) => void;
  readonly writeError: (text: string) => void;
  /** Runs `work` with an open database and closes it. Throws INVALID_INPUT when a required `--by` is missing. */
  withDeps<T>(acting: Acting, work: (deps: CliDeps) => Promise<T>): Promise<T>;
  /** Returns the refusal for an expected failure, such as an unreachable database; undefined for a bug. */
  refusalFor(error: unknown): Refusal | undefined;
}

const By = z.strictObject({ by: textSchema(BY_LENGTH).optional() });

/** Runs the command line with these arguments. Returns the exit code. */
export async function runCli(
  args: readonly string[],
  groups: readonly Group[],
  ports: CliPorts,
): Promise<number> {
  let asksForJson = false;
  let showsNoProblem = true;
  const run: ProgramPorts['run'] = async (verb, input, { json, by }) => {
    asksForJson = json;
    const checked = checkInput<unknown>(verb.takes, input);
    const checkedBy = checkInput(By, { by });
    if (!checked.ok || !checkedBy.ok) {
      throw invalidInput([checked, checkedBy].flatMap((part) => (part.ok ? [] : part.faults)));
    }
    const acting = { acts: verb.reads !== true, by };
    const answer = await ports.withDeps(acting, (deps) => verb.run(deps, checked.value));
    const text =
      verb.plain === undefined ? asTable(answer, verb.columns?.split(' ')) : asText(answer, verb.plain);
    ports.writeOut(json ? asJson(answer) : text);
    showsNoProblem = verb.isWell?.([answer].flat()) ?? true;
  };
  try {
    const program = createProgram(groups, { writeOut: ports.writeOut, writeError: ports.writeError, run });
    await program.parseAsync([...args], { from: 'user' });
    return showsNoProblem ? DONE : REFUSED;
  } catch (error) {
    // Commander has already printed the error or the help.
    if (error instanceof CommanderError) return error.exitCode === 0 ? DONE : WRONG_USAGE;
    ports.writeError(asksForJson ? refusalJson(error, ports) : refusalText(error, ports));
    return REFUSED;
  }
}

/** Returns the error envelope (docs/contract.md#answers). */
function refusalJson(error: unknown, ports: CliPorts): string {
  const { code, message, faults } = refusalOf(error, ports);
  const details = faults.length > 0 ? { details: { fields: faults } } : {};
  return `${JSON.stringify({ error: { code, message, ...details } })}\n`;
}

function refusalText(error: unknown, ports: CliPorts): string {
  const { code, message, faults } = refusalOf(error, ports);
  const lines = faults.length > 1 ? faults.map((fault) => `  ${fault.message}`) : [];
  return [`${code}: ${message}`, ...lines, ...framesOf(code, error)].map((line) => `${line}\n`).join('');
}

function refusalOf(error: unknown, ports: CliPorts): Refusal {
  if (error instanceof Refusal) return error;
  if (error instanceof ConfigurationError) return new Refusal('UNAVAILABLE', error.message);
  const name = error instanceof Error ? error.name : typeof error;
  return ports.refusalFor(error) ?? new Refusal('INTERNAL_ERROR', `Something went wrong (${name}).`);
}

/** Returns the stack of a bug without its message, which may quote stored data. */
function framesOf(code: string, error: unknown): string[] {
  if (code !== 'INTERNAL_ERROR' || !(error instanceof Error)) return [];
  return (error.stack ?? '').split('\n').filter((line) => line.startsWith('    at '));
}

const asJson = (answer: OutputRow | readonly OutputRow[]): string => `${JSON.stringify(answer, null, 2)}\n`;

/** Formats rows as a table with a heading, and a single row as a line per field. */
function asTable(answer: OutputRow | readonly OutputRow[], columns?: readonly string[]): string {
  if (isList(answer)) return listTable(answer, columns);
  const names = columns ?? Object.keys(answer);
  const width = Math.max(...names.map((name) => name.length));
  return names.map((name) => `${name.padEnd(width)}  ${cell(answer[name])}\n`).join('');
}

/** Returns one field of an answer unformatted, for people and pipes. */
function asText(answer: OutputRow | readonly OutputRow[], field: string): string {
  return isList(answer) ? asTable(answer) : formatValue(answer[field]);
}

const isList = (answer: OutputRow | readonly OutputRow[]): answer is readonly OutputRow[] =>
  Array.isArray(answer);

function listTable(rows: readonly OutputRow[], columns: readonly string[] | undefined): string {
  const [first] = rows;
  if (!first) return '(none)\n';
  const names = columns ?? Object.keys(first);
  const cells = [names, ...rows.map((row) => names.map((name) => cell(row[name])))];
  const widths = names.map((_, i) => Math.max(...cells.map((line) => line[i]?.length ?? 0)));
  const pad = (text: string, i: number): string => text.padEnd(widths[i] ?? 0);
  return cells.map((line) => `${line.map(pad).join('  ').trimEnd()}\n`).join('');
}

function cell(value: unknown): string {
  if (value === null || value === undefined || (Array.isArray(value) && value.length === 0)) return '-';
  // Stored text must not control the terminal.
  return formatValue(value).replace(/\p{Cc}/gu, ' ');
}

function formatValue(value: unknown): string {
  if (typeof value === 'string') return value;
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value.join(' ');
  return isExactNumber(value) ? value.rawJSON : JSON.stringify(value);
}
