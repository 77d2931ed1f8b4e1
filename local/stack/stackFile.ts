/** `stack.json`: what scripts and people can read about a running stack (docs/contract.md#local-stack). */
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { isRunning } from './processes/processes.ts';
import { readRunRecord } from './processes/runRecord.ts';
import { writeAtOnce } from './writeAtOnce.ts';

/** The parts, in the order in which they are started. */
export const PARTS = ['postgres', 'temporal', 'simulator', 'worker', 'api', 'console'] as const;
export type PartName = (typeof PARTS)[number];

/** A user of the console. */
export interface ConsoleLogin {
  email: string;
  password: string;
}

/** The content of `stack.json`. */
export interface StackInfo {
  /** With /v1. */
  base_url: string;
  docs_url: string;
  temporal_address: string;
  temporal_namespace: string;
  /** null where the Temporal server is not ours (TEMPORAL_ADDRESS). */
  temporal_ui_url: string | null;
  database_url: string;
  simulator_url: string;
  /** Of the simulator's mail server. */
  smtp_url: string;
  metrics_url: string;
  console_url: string;
  /** How to enter the console: as an operator, and as a member of the account *Local developer*. */
  console_operator: ConsoleLogin & { totp_secret: string };
  console_customer: ConsoleLogin;
  live_api_key: string;
  test_api_key: string;
  ca_file: string;
  ca_key_file: string;
  /** null: a part that is not ours, or is down at the moment. */
  pids: Record<PartName, number | null> & { supervisor: number };
}

/** The path of `stack.json` in a data folder. */
export const stackFileOf = (dataDir: string): string => join(dataDir, 'stack.json');

/** Writes `stack.json` atomically, readable by its owner only (it holds keys). */
export function writeStackFile(dataDir: string, info: StackInfo): void {
  writeAtOnce(stackFileOf(dataDir), `${JSON.stringify(info, null, 2)}\n`, 0o600);
}

/** Removes `stack.json`. */
export const removeStackFile = (dataDir: string): void => rmSync(stackFileOf(dataDir), { force: true });

/** The content of `stack.json` while its supervisor runs; undefined when it does not, or is still starting. */
export function runningStack(dataDir: string): StackInfo | undefined {
  const record = readRunRecord(dataDir);
  if (!record || !isRunning(record.holder)) return undefined;
  try {
    const info = JSON.parse(readFileSync(stackFileOf(dataDir), 'utf8')) as StackInfo;
    return info.pids.supervisor === record.holder.pid ? info : undefined;
  } catch {
    return undefined;
  }
}
