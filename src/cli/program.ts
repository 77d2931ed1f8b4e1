import { Command, InvalidArgumentError, Option } from 'commander';
import { readConfig } from '../config.ts';
import type { Group, OptionRow, Verb } from './verb.ts';

const { CFE_CLI_NAME: PROGRAM } = readConfig(['CFE_CLI_NAME']);
const ABOUT = [
  'The operators’ command line of the CFE service.',
  'Prints tables for people, or with --json one JSON document. Exit codes: 0 done, 1 refused (code and message on standard error), 2 wrong usage.',
  'Uses the database in DATABASE_URL, or that of the running local stack (npm start).',
].join('\n\n');

const ABOUT_BY =
  'who acts, for the audit; default: the user of this machine; required in containers, where that is one for all';

/** Options that verbs have in common. */
interface Common {
  json?: boolean;
  by?: string;
}

/** What the command line does beyond reading its arguments. */
export interface ProgramPorts {
  readonly writeOut: (text: string) => void;
  readonly writeError: (text: string) => void;
  /** Called with the verb and its input once they are read. */
  run(verb: Verb, input: Record<string, unknown>, options: { json: boolean; by?: string }): Promise<void>;
}

/** The command line over `groups`. Throws CommanderError for wrong usage and after showing help. */
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
  const names = Object.keys(verb.args).map((name) => name.replace(/[[\]]/g, ''));
  const command = group
    .command(verb.name)
    .summary(verb.summary)
    .description(verb.summary)
    .showHelpAfterError('(add --help to see what it takes, with examples)')
    .addHelpText('after', examplesOf(verbExamples(groupName, verb)));
  for (const [name, about] of Object.entries(verb.args))
    command.argument(name.startsWith('[') ? name : `<${name}>`, about);
  for (const option of verb.options) command.addOption(optionOf(option));
  if (!verb.reads) command.option('--by <person>', ABOUT_BY);
  command.option('--json', 'print one JSON document');
  command.action(async (...given: unknown[]) => {
    const { json = false, by, ...options } = command.opts<Common & Record<string, unknown>>();
    const args = Object.fromEntries(names.map((name, i) => [name.toLowerCase(), given[i]]));
    const twice = Object.keys(args).find((name) => args[name] !== undefined && options[name] !== undefined);
    if (twice !== undefined) command.error(`error: ${twice.toUpperCase()} must not be given twice`);
    const input = { ...args, ...options };
    const fault = verb.usageFault?.(input);
    if (fault !== undefined) command.error(`error: ${fault}`);
    await ports.run(verb, input, { json, ...(by === undefined ? {} : { by }) });
  });
}

function optionOf({ flags, about, required, choices, wholeNumber }: OptionRow): Option {
  const option = new Option(flags, required ? `${about} (required)` : about);
  option.makeOptionMandatory(required ?? false);
  if (choices) option.choices([...choices]);
  if (wholeNumber) option.argParser(wholeNumberBetween(...wholeNumber));
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

function examplesOf(examples: readonly string[]): string {
  return `\nExamples:\n${examples.map((example) => `  ${example}`).join('\n')}`;
}
