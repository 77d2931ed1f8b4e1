import { walkGuides } from '../support/guideWalks.ts';
import { startTestStack } from '../support/stacks.ts';

walkGuides(startTestStack, ['sh', 'py']);
