/**
 * Stored histories (test/replay/histories): JSON, one line for each event, its place being its id; payloads in plain text,
 * so that a reader sees what they say.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';

type Fields = Record<string, unknown>;

/**
 * What server and worker note for themselves, and options of commands: no replay compares them. The first event keeps
 * all: from it a workflow knows what it is.
 */
const NOT_COMPARED = new Set([
  'identity',
  'requestId',
  'workerVersion',
  'meteringMetadata',
  'historySizeBytes',
  'header',
  'taskQueue',
  'attempt',
  'workflowTaskCompletedEventId',
  'useWorkflowBuildId',
  'retryPolicy',
  'startToCloseTimeout',
  'scheduleToCloseTimeout',
  'scheduleToStartTimeout',
  'heartbeatTimeout',
]);

/** What a test makes a history long with. */
const FILLER = /(.)\1{999,}/g;

/** Where the protocol's JSON has the attributes of an event: `markerRecordedEventAttributes`. */
const attributesOf = (type: string): string =>
  `${type.toLowerCase().replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())}EventAttributes`;

const ENCODING = Buffer.from('json/plain').toString('base64');
const isPlain = ({ metadata }: Fields): boolean =>
  (metadata as Fields | undefined)?.['encoding'] === ENCODING && Object.keys(metadata as Fields).length === 1;

/** `value` with every object in it replaced by what `replace` makes of it, where it makes something. */
function replaced(value: unknown, replace: (object: Fields) => Fields | undefined): unknown {
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map((one) => replaced(one, replace));
  const fields = () => Object.entries(value).map(([name, one]) => [name, replaced(one, replace)] as const);
  return replace(value as Fields) ?? Object.fromEntries(fields());
}

const inText = (value: Fields): Fields | undefined =>
  isPlain(value)
    ? { plain: JSON.parse(Buffer.from(String(value['data']), 'base64').toString()) as unknown }
    : undefined;

const inBytes = (value: Fields): Fields | undefined =>
  Object.hasOwn(value, 'plain')
    ? {
        metadata: { encoding: ENCODING },
        data: Buffer.from(JSON.stringify(value['plain'])).toString('base64'),
      }
    : undefined;

export function writeHistory(file: string, history: Parameters<typeof historyToJSON>[0]): void {
  const { events } = JSON.parse(historyToJSON(history)) as { events: Fields[] };
  const lines = events.map((event, index) => {
    const type = String(event['eventType']).replace('EVENT_TYPE_', '');
    const at = new Date(String(event['eventTime'])).toISOString();
    const attributes = Object.entries(event[attributesOf(type)] as Fields)
      .filter(([name]) => index === 0 || !NOT_COMPARED.has(name))
      .map(([name, value]) => [name, replaced(value, inText)] as const);
    return JSON.stringify({ type, at, ...Object.fromEntries(attributes) }).replaceAll(FILLER, '$1');
  });
  writeFileSync(file, `[\n${lines.join(',\n')}\n]\n`);
}

/** The history as the SDK replays it. */
export function readHistory(file: string): unknown {
  const events = JSON.parse(readFileSync(file, 'utf8')) as (Fields & { type: string })[];
  return {
    events: events.map(({ type, at, ...attributes }, index) => ({
      eventId: String(index + 1),
      eventTime: at,
      eventType: `EVENT_TYPE_${type}`,
      [attributesOf(type)]: replaced(attributes, inBytes),
    })),
  };
}
