import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { problemCodes } from '../../../../src/core/base/problem.js';
import { explanation } from '../../../../src/vscode/views/explanation.js';

const readme = `# Product

## When something is wrong

Intro.

| code | what it means | what to do |
|---|---|---|
| <a id="a-code"></a>\`a-code\` | it is \`x\\|y\` | mend it |
| <a id="b-code"></a>\`b-code\` | other | see \`a-code\` |

## Next

Not this.
`;

describe('explanation', () => {
  it('begins with the code, and has the chapter below', () => {
    const page = explanation(readme, 'a-code');
    assert.ok(page.startsWith('# a-code\n\nIt is `x\\|y`.\n\n**What to do:** Mend it.\n\n---\n\n## When'), page);
    assert.match(page, /b-code/);
    assert.doesNotMatch(page, /Not this/);
  });

  it('is the chapter for a code that is not there', () => {
    assert.ok(explanation(readme, 'c-code').startsWith('## When something is wrong'));
  });

  it('takes a chapter that is the last one', () => {
    assert.match(explanation(readme.replace('## Next', '### Next'), 'a-code'), /Not this/);
  });

  describe('of the real README', () => {
    const real = readFileSync(new URL('../../../../README.md', import.meta.url), 'utf8');
    for (const code of problemCodes) {
      it(code, () => assert.match(explanation(real, code), new RegExp(`^# ${code}\n\n[^\n]+\n\n\\*\\*What to do`)));
    }
  });
});
