import { walkGuides } from '../support/guideWalks.ts';
import { sharedStack } from '../support/stacks.ts';

// With curl and in Python: test/long/guides.test.ts.
walkGuides(sharedStack, ['ts']);
