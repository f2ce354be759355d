import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { problemCodes } from '../../../../support/problemCodes.js';
import { explanation } from '../../../../../src/vscode/views/problems/problemTexts.js';

const problems = `# Problems

| code | what it means | what to do |
|---|---|---|
| <a id="a-code"></a>\`a-code\` | It is \`x\\|y\`. | Mend it. |
| <a id="b-code"></a>\`b-code\` | Other. | See \`a-code\`. |
`;

describe('explanation', () => {
  it('a page of a code has its meaning, its remedy and a link to the whole page', () => {
    const page = explanation(problems, 'a-code');
    assert.match(
      page,
      /^# a-code\n\nIt is `x\\\|y`\.\n\n\*\*What to do:\*\* Mend it\.\n\n\[.+\]\(problems\.md\)$/,
    );
  });

  it('a page of a code works with line ends of Windows', () => {
    const page = explanation(problems.replaceAll('\n', '\r\n'), 'b-code');
    assert.match(page, /^# b-code\n\nOther\.\n\n\*\*What to do:\*\* See `a-code`\.\n/);
  });

  it('an unknown code gets the whole page', () => {
    assert.equal(explanation(problems, 'c-code'), problems);
  });

  describe('in docs/problems.md', () => {
    const real = readFileSync(new URL('../../../../../docs/problems.md', import.meta.url), 'utf8');
    for (const code of problemCodes) {
      it(`${code} has a meaning and a remedy in whole sentences`, () => {
        assert.match(
          explanation(real, code),
          new RegExp(`^# ${code}\n\n.+\\.\n\n\\*\\*What to do:\\*\\* .+\\.\n`),
        );
      });
    }
  });
});
