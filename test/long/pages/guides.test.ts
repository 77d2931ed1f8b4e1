import { walkGuides } from '../../support/api/guideWalks.ts';
import { startTestStack } from '../../support/stacks.ts';

walkGuides(startTestStack, ['sh', 'py']);
