import { walkGuides } from '../support/api/guideWalks.ts';
import { sharedStack } from '../support/stacks.ts';

// With curl and in Python: test/long/pages/guides.test.ts.
walkGuides(sharedStack, ['ts']);
