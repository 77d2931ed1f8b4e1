/** The variables of what runs on a laptop alone; its programs read those of the service, too. */
import * as z from 'zod';
import {
  createConfiguration,
  nonEmptyText,
  portVariable,
  urlVariable,
  VARIABLES,
  variable,
} from '../src/config.ts';

/** One row each, as in src/config.ts. */
export const LOCAL_VARIABLES = {
  CFE_DATA_DIR: variable({
    schema: nonEmptyText,
    mayHold: 'a folder',
    purpose: 'where the local stack keeps all its data',
    fallback: '.local',
  }),
  CFE_POSTGRES_PORT: portVariable('54329', 'port of the embedded PostgreSQL'),
  CFE_TEMPORAL_PORT: portVariable('7233', 'port of the Temporal server of the local stack'),
  CFE_TEMPORAL_UI_PORT: portVariable('8233', 'port of the Temporal UI of the local stack'),
  CFE_SIMULATOR_PORT: portVariable('8090', 'port of the simulator of the authority'),
  CFE_SIMULATOR_SMTP_PORT: portVariable(
    '2525',
    "port of the simulator's mail server, which keeps every e-mail",
  ),
  TEMPORAL_CLI_PATH: variable({
    schema: nonEmptyText,
    mayHold: 'the path of a Temporal CLI, 1.8.2 or later',
    purpose: 'the Temporal program of the local stack; when not set it is found, downloaded or built',
  }),
  CFE_TEMPORAL_DOWNLOAD_URL: urlVariable(
    'where the local stack downloads the Temporal program, without the query that names the machine',
    'https://temporal.download/cli/archive/v1.8.2',
  ),
  CFE_TEMPORAL_SHA256: variable({
    schema: z.string().regex(/^([0-9a-f]{64})?$/),
    mayHold: '64 hexadecimal digits, or nothing',
    purpose: 'SHA-256 of that archive, where it is another than the pinned one',
    fallback: '',
  }),
  DGI_XSD_DIR: variable({
    schema: z.string(),
    mayHold:
      "a folder with the authority's published files (docs/authority/README.md#the-published-files), or nothing",
    purpose:
      'where the simulator and the tests find the official schemas; without them those checks are skipped',
    fallback: '',
  }),
} as const;

export const { readConfig, checkVariables, isSet } = createConfiguration({
  ...VARIABLES,
  ...LOCAL_VARIABLES,
});
