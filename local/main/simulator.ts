import { createLogger } from '../../src/logger.ts';
import { businessClock, CLOCK_VARIABLES } from '../../src/wiring/businessClock.ts';
import { configOrExit, runProcess } from '../../src/wiring/process.ts';
import { readConfig } from '../config.ts';
import { startSimulator } from '../simulator/server.ts';

const config = configOrExit(() =>
  readConfig([
    'CFE_HOST',
    'CFE_SIMULATOR_PORT',
    'CFE_SIMULATOR_SMTP_PORT',
    'CFE_DATA_DIR',
    'CFE_LOG_LEVEL',
    'DGI_XSD_DIR',
    ...CLOCK_VARIABLES,
  ]),
);
const logger = createLogger({ name: 'simulator', level: config.CFE_LOG_LEVEL });

await runProcess(logger, async (closers) => {
  const simulator = await startSimulator({
    host: config.CFE_HOST,
    port: config.CFE_SIMULATOR_PORT,
    smtpPort: config.CFE_SIMULATOR_SMTP_PORT,
    dataDir: config.CFE_DATA_DIR,
    xsdDir: config.DGI_XSD_DIR,
    logger,
    clock: businessClock(config),
    realClock: () => new Date(),
  });
  closers.add('simulator', () => simulator.close());
  logger.info({ url: simulator.url, smtp: simulator.smtpUrl }, 'ready');
});
