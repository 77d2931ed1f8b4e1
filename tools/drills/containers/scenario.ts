import { setTimeout as pause } from 'node:timers/promises';
import { until } from '../../../local/demo/until.ts';
import { type Say } from './cache.ts';
import { type Checks, same } from './checks.ts';
import { enterConsole } from './console.ts';
import { productionBlocks } from './documented.ts';
import type { Engine } from './engine.ts';
import {
  allWell,
  containersOf,
  edgesAreApart,
  logOf,
  logsAreJson,
  nothingIsTold,
  OWN,
  portsAreClosed,
  rightsAreFew,
  secretsAreTheirs,
  serviceOf,
} from './inspection.ts';
import { builtOnce, checkPrograms, imageBytes } from './programs.ts';
import { openReceipts, type Receipts } from './receipts.ts';

/** What the checks work with. */
export interface Ground {
  checks: Checks;
  engine: Engine;
  /** A copy, in which secrets and papers may be put. */
  checkout: string;
  /** Types a script into the shell in which docs/production.md is executed. */
  shell: (script: string) => string;
  say: Say;
}

const HEALTHY_SECONDS = 600;
const AMID_STOPPED_WORKERS = 60;
/** What the demo's onboarding hands over; no log may hold it. */
const ENTRUSTED = ['demo-portal-login', 'demo-certificate'];

/** Runs all checks. */
export async function runScenario(ground: Ground): Promise<void> {
  const { checks, engine, shell, say } = ground;
  const { apiKey, account } = await followTheDocument(ground, 'From nothing to the first receipt');
  await checks.check(
    'docker compose build builds the image of the service and the simulator’s, each once',
    () => builtOnce(engine, shell),
  );
  await checkPrograms(checks, engine);
  say(`the image: ${(imageBytes(engine) / 1e6).toFixed(0)} MB above its base`);
  const receipts = await checks.check(
    'an enterprise becomes READY through port 3000, its receipt ACCEPTED',
    async () => {
      const opened = await openReceipts(apiKey);
      await opened.issue();
      await opened.allAccepted();
      return opened;
    },
  );
  if (!receipts) {
    for (const container of containersOf(engine))
      say(
        `last of ${serviceOf(container)}:\n${logOf(engine, container).split('\n').slice(-10).join('\n').slice(-2_000)}`,
      );
    return;
  }
  await checks.check('the receipt is printed', () => receipts.printed());
  await checks.check('a member of the account is invited, and enters the console through port 3001', () =>
    enterConsole(shell, account),
  );
  await inspect(ground, apiKey);
  await checks.check('the command line starts no job, and calls itself as it is called', () =>
    commandLine(ground),
  );
  await restartEach(ground, receipts);
  await checks.check(
    `${AMID_STOPPED_WORKERS} receipts while both workers stop and start: all ACCEPTED, each received once`,
    () => amidStoppedWorkers(ground, receipts),
  );
  await lookIntoLogs(ground, apiKey);
  tellUse(ground);
  await followTheDocument(ground, 'Starting, ending, updating');
  await checks.check('a receipt after the update', () => oneMore(ground, receipts));
  await followTheDocument(ground, 'Changing secrets');
  await checks.check('a receipt under the new secrets', () => oneMore(ground, receipts));
  await stopAndStart(ground, receipts);
  await inspect(ground, apiKey);
  await checks.check('everything is removed', () => {
    shell('docker compose down --volumes');
    same(containersOf(engine).length, 0, 'containers');
  });
  await interruptedPostgres(ground);
}

/** Executes the blocks of a section. Answers the account and the API key that were made on the way. */
async function followTheDocument(
  { checks, checkout, shell }: Ground,
  section: string,
): Promise<{ account: string; apiKey: string }> {
  let account = 'ACCOUNT';
  let apiKey = '';
  const blocks = productionBlocks(checkout).filter((block) => block.section === section);
  await checks.check(`docs/production.md has blocks under "${section}"`, () => {
    if (blocks.length === 0) throw new Error('there are none');
  });
  for (const { line, script } of blocks) {
    await checks.check(`docs/production.md:${line} ${script.trim().split('\n').at(-1)}`, () => {
      for (const command of script.trim().split('\n')) {
        const said = shell(command.replaceAll('ACCOUNT', account));
        if (command.includes('account create'))
          account = /[0-9a-f]{8}-[0-9a-f-]{27}/.exec(said)?.[0] ?? account;
        apiKey = /cfe_live_\S+/.exec(said)?.[0] ?? apiKey;
      }
    });
  }
  return { account, apiKey };
}

async function inspect(ground: Ground, apiKey: string): Promise<void> {
  const { checks, engine } = ground;
  await checks.check('all that stay are healthy, all jobs have ended with 0', () => allWell(engine));
  await checks.check('users, read-only roots, /tmp, capabilities, no new privileges', () =>
    rightsAreFew(engine),
  );
  await checks.check('each service holds the secrets that the compose file gives it', () =>
    secretsAreTheirs(engine),
  );
  await checks.check('only the documented ports, on 127.0.0.1', () => portsAreClosed(engine));
  await checks.check(
    'each reaches only the servers on its networks, and outside only where they lead there',
    () => edgesAreApart(engine),
  );
  await lookIntoLogs(ground, apiKey);
}

async function lookIntoLogs({ checks, engine, checkout }: Ground, apiKey: string): Promise<void> {
  await checks.check('nothing secret in logs, settings or layers', () =>
    nothingIsTold(engine, checkout, [apiKey, ...ENTRUSTED]),
  );
  await checks.check('every line of our programs’ logs is JSON', () => logsAreJson(engine));
}

function commandLine({ engine, shell }: Ground): void {
  const migrated = () => containersOf(engine).find((one) => serviceOf(one) === 'migrate')?.State.FinishedAt;
  const before = migrated();
  const help = shell('docker compose run --rm cfe account create --help');
  same(migrated(), before, 'when migrate ended');
  if (!help.includes('docker compose run --rm cfe account create --name')) throw new Error(help);
}

async function restartEach(ground: Ground, receipts: Receipts): Promise<void> {
  for (const service of ['postgres', 'temporal', 'temporal-ui', ...OWN]) {
    await ground.checks.check(`${service} restarted, and a receipt ACCEPTED`, async () => {
      ground.shell(`docker compose restart ${service}`);
      await oneMore(ground, receipts);
    });
  }
}

async function oneMore({ engine }: Ground, receipts: Receipts): Promise<void> {
  await until('all services to be healthy', HEALTHY_SECONDS, async () => {
    try {
      allWell(engine);
      return true;
    } catch {
      await pause(1_000);
      return undefined;
    }
  });
  await receipts.issue();
  await receipts.allAccepted();
}

async function amidStoppedWorkers({ shell, engine }: Ground, receipts: Receipts): Promise<void> {
  const workers = containersOf(engine).filter((one) => serviceOf(one) === 'worker');
  same(workers.length, 2, 'workers');
  for (let n = 0; n < AMID_STOPPED_WORKERS; n += 1) {
    if (n === AMID_STOPPED_WORKERS / 3)
      engine.docker('kill', '--signal', 'SIGTERM', ...workers.map(({ Id }) => Id));
    await receipts.issue();
  }
  shell('docker compose stop worker');
  await receipts.issue();
  shell('docker compose start worker');
  await receipts.allAccepted();
}

/** Exit codes of a full stop; then all from nothing but the volumes. */
async function stopAndStart(ground: Ground, receipts: Receipts): Promise<void> {
  const { checks, engine, shell, say } = ground;
  await checks.check('a full stop: every program ends by itself', () => {
    const startedAt = performance.now();
    shell('docker compose stop');
    say(`a full stop takes ${((performance.now() - startedAt) / 1_000).toFixed(0)} s`);
    // The UI handles no signal; 143 is what SIGTERM leaves of such a program.
    const codes = containersOf(engine).map((one) => [serviceOf(one), one.State.ExitCode]);
    same(
      codes.filter(([name, code]) => code !== (name === 'temporal-ui' ? 143 : 0)),
      [],
      'other exit codes',
    );
  });
  await checks.check('a full start from what the volumes hold', async () => {
    shell('docker compose down');
    shell('docker compose up -d --wait');
    await oneMore(ground, receipts);
  });
}

/** How much memory is used and may be, and how much was written. */
function tellUse({ engine, say }: Ground): void {
  const stats = engine.docker('stats', '--no-stream', '--format', '{{.Name}} {{.MemUsage}}');
  say(`memory:\n${stats.trim().replace(/^/gm, '  ')}`);
  for (const container of containersOf(engine))
    say(`log of ${serviceOf(container)}: ${logOf(engine, container).length} bytes`);
}

/** A first start that was killed when initdb had ended, and nothing else was done yet. */
async function interruptedPostgres({ checks, engine, shell }: Ground): Promise<void> {
  const compose = 'docker compose -p cfe-interrupted';
  const health = () => {
    const [postgres] = containersOf(engine, 'cfe-interrupted').filter((one) => serviceOf(one) === 'postgres');
    return postgres?.State.Health?.Status;
  };
  await checks.check(
    'a PostgreSQL that was interrupted after initdb is repaired by the next start',
    async () => {
      shell(`${compose} run --rm --no-deps -T --entrypoint bash postgres -euc '
      install -d -m 0700 -o postgres -g postgres "$PGDATA"
      exec gosu postgres initdb --username=postgres --pwfile="$POSTGRES_PASSWORD_FILE"'`);
      shell(`${compose} run --rm -T migrate`);
      await until('postgres to be healthy', HEALTHY_SECONDS, async () => health() === 'healthy');
    },
  );
  await checks.check(
    'PostgreSQL is unhealthy where a database is lacking, until the job has made it',
    async () => {
      shell(`${compose} exec -T postgres psql -U postgres -c 'drop database temporal_visibility'`);
      await until('postgres to be unhealthy', HEALTHY_SECONDS, async () => health() === 'unhealthy');
      shell(`${compose} up -d databases`);
      await until('postgres to be healthy', HEALTHY_SECONDS, async () => health() === 'healthy');
      shell(`${compose} down --volumes`);
    },
  );
}
