import './fakePart.ts';
