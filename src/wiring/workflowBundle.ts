import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, type WorkflowBundleOption } from '@temporalio/worker';
import type { Logger } from '../logger.ts';
import { sdkLogger } from './sdkLogger.ts';

/** Bundles the workflows' code; needs a compiler (swc) among the packages. */
export const bundleWorkflows = (logger: Logger): Promise<{ code: string }> =>
  bundleWorkflowCode({
    workflowsPath: fileURLToPath(new URL('../workflows/index.ts', import.meta.url)),
    logger: sdkLogger(logger.child({}, { level: 'warn' })),
  });

/** The bundle that was written when the image was built, where `file` names one; else it is made now. */
export const workflowBundleOf = async (file: string, logger: Logger): Promise<WorkflowBundleOption> =>
  file === '' ? bundleWorkflows(logger) : { codePath: file };
