import { Command, InvalidArgumentError, Option } from 'commander';
import * as z from 'zod';
import { readConfig } from '../config.ts';
import type { Group, Verb } from './verb.ts';

const { CFE_CLI_NAME: PROGRAM } = readConfig(['CFE_CLI_NAME']);
const ABOUT = [
  'The operators’ command line of the CFE service.',
  'Prints tables for people, or with --json one JSON document. Exit codes: 0 done, 1 refused (code and message on standard error), 2 wrong usage.',
  'Uses the database in DATABASE_URL, or that of the running local stack (npm start).',
].join('\n\n');

const ABOUT_BY =
  'who acts, for the audit; default: the user of this machine; required in containers, where everyone shares one user';

interface CommonOptions {
  json?: boolean;
  by?: string;
}

/** Effects of the command line beyond parsing its arguments. */
export interface ProgramPorts {
  readonly writeOut: (text: string) => void;
  readonly writeError: (text: string) => void;
  /** Runs the verb with its parsed input. */
  run(verb: Verb, input: Record<string, unknown>, options: { json: boolean; by?: string }): Promise<void>;
}

/** Builds the command line from `groups`. It throws CommanderError for wrong usage and after showing help. */
export function createProgram(groups: readonly Group[], ports: ProgramPorts): Command {
  const program = new Command(PROGRAM)
    .description(ABOUT)
    .exitOverride()
    .configureOutput({ writeOut: ports.writeOut, writeErr: ports.writeError })
    .helpCommand(false)
    .addHelpText('after', examplesOf(groups.flatMap(({ name, verbs }) => firstExample(name, verbs))));
  for (const group of groups) {
    const command = program
      .command(group.name)
      .summary(group.summary)
      .description(group.summary)
      .helpCommand(false)
      .addHelpText('after', examplesOf(group.verbs.flatMap((verb) => verbExamples(group.name, verb))));
    for (const verb of group.verbs) addVerb(command, group.name, verb, ports);
  }
  return program;
}

function addVerb(group: Command, groupName: string, verb: Verb, ports: ProgramPorts): void {
  const command = group
    .command(verb.name)
    .summary(verb.summary)
    .description(verb.summary)
    .showHelpAfterError('(add --help for arguments and examples)')
    .addHelpText('after', examplesOf(verbExamples(groupName, verb)));
  const schemas: Readonly<Record<string, z.ZodType>> = verb.takes.shape;
  for (const name of verb.args) {
    const [schema, label] = [schemas[name], name.toUpperCase()];
    command.argument(isOptional(schema) ? `[${label}]` : `<${label}>`, schema?.description);
  }
  const options = Object.entries(schemas)
    .filter(([name]) => !verb.args.includes(name) || verb.argsOrOptions?.includes(name))
    .map(([name, schema]) => ({ name, option: optionOf(name, schema) }));
  for (const { option } of options) command.addOption(option);
  if (!verb.reads) command.option('--by <person>', ABOUT_BY);
  command.option('--json', 'print one JSON document');
  command.action(async (...args: unknown[]) => {
    const optionValues = command.opts<CommonOptions & Record<string, unknown>>();
    const inputs = [
      ...verb.args.map((name, i) => [name, args[i]] as const),
      ...options.map(({ name, option }) => [name, optionValues[option.attributeName()]] as const),
    ].filter(([, value]) => value !== undefined);
    const input = Object.fromEntries(inputs);
    const duplicate = inputs.find(([name], i) => inputs.findIndex(([other]) => other === name) < i);
    if (duplicate) command.error(`error: ${duplicate[0].toUpperCase()} must not be given twice`);
    const fault = verb.usageFault?.(input);
    if (fault !== undefined) command.error(`error: ${fault}`);
    const { json = false, by } = optionValues;
    await ports.run(verb, input, { json, ...(by === undefined ? {} : { by }) });
  });
}

const isOptional = (schema: z.ZodType | undefined): boolean => schema?.safeParse(undefined).success ?? false;

/** Returns the schema inside optional and default wrappers. */
function unwrapSchema(schema: z.core.$ZodType): z.core.$ZodType {
  const isWrapped = schema instanceof z.ZodOptional || schema instanceof z.ZodDefault;
  return isWrapped ? unwrapSchema(schema.unwrap()) : schema;
}

/** Returns the option for a schema: a flag for `true`, a repeatable option for an array, choices for an enum. */
function optionOf(name: string, schema: z.ZodType): Option {
  const words = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`).split('_');
  const inner = unwrapSchema(schema);
  const isRepeated = inner instanceof z.ZodArray;
  const element = isRepeated ? inner.element : inner;
  const { description = '', placeholder = element instanceof z.ZodNumber ? 'n' : words.at(-1) } =
    (schema.meta() ?? {}) as { description?: string; placeholder?: string };
  const value = element instanceof z.ZodLiteral ? '' : ` <${placeholder}${isRepeated ? '...' : ''}>`;
  const isRequired = !isOptional(schema);
  const about = isRequired ? `${description} (required)` : description;
  const option = new Option(`--${words.join('-')}${value}`, about).makeOptionMandatory(isRequired);
  if (element instanceof z.ZodEnum) option.choices(element.options.map(String));
  if (element instanceof z.ZodNumber)
    option.argParser(wholeNumberBetween(element.minValue ?? 0, element.maxValue ?? 0));
  return option;
}

const wholeNumberBetween = (minimum: number, maximum: number) => (text: string) => {
  const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= minimum && value <= maximum) return value;
  throw new InvalidArgumentError(`It must be a whole number from ${minimum} to ${maximum}.`);
};

const verbExamples = (group: string, { name, examples }: Verb): string[] =>
  examples.map((example) => `${PROGRAM} ${group} ${name} ${example}`.trimEnd());

const firstExample = (group: string, verbs: readonly Verb[]): string[] =>
  verbs.slice(0, 1).flatMap((verb) => verbExamples(group, verb).slice(0, 1));

const examplesOf = (examples: readonly string[]): string =>
  `\nExamples:\n${examples.map((example) => `  ${example}`).join('\n')}`;
