import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, type WorkflowBundleOption } from '@temporalio/worker';
import type { Logger } from '../../logger.ts';
import { sdkLogger } from './sdkLogger.ts';

/** Bundles the workflows' code; needs the compiler (swc) in the packages. */
export const bundleWorkflows = (logger: Logger): Promise<{ code: string }> =>
  bundleWorkflowCode({
    workflowsPath: fileURLToPath(new URL('../../workflows/index.ts', import.meta.url)),
    logger: sdkLogger(logger.child({}, { level: 'warn' })),
  });

/** Returns the bundle in `file`, written when the image was built; otherwise builds it now. */
export const workflowBundleOf = async (file: string, logger: Logger): Promise<WorkflowBundleOption> =>
  file === '' ? bundleWorkflows(logger) : { codePath: file };
