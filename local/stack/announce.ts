import { join } from 'node:path';
import { type StackInfo, stackFileOf } from './stackFile.ts';

/** The addresses of a running stack, as lines for a person. */
export function addresses(info: StackInfo, dataDir: string): readonly string[] {
  return [
    '',
    `  API            ${info.base_url}`,
    `  Documentation  ${info.docs_url}`,
    `  Console        ${info.console_url}`,
    `  Temporal UI    ${info.temporal_ui_url ?? `see ${info.temporal_address}`}`,
    `  Simulator      ${info.simulator_url}`,
    `  Metrics        ${info.metrics_url}`,
    `  Data           ${dataDir}  (logs in ${join(dataDir, 'logs')})`,
    `  API keys       live_api_key and test_api_key in ${stackFileOf(dataDir)}`,
    `  Console logins ${info.console_operator.email}, ${info.console_customer.email}: passwords in the same file;`,
    `                 the operator's totp_secret is for an authenticator app`,
    '',
    'Press Ctrl-C to stop.',
  ];
}
