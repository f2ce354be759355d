import tseslint from 'typescript-eslint';

export default tseslint.config(
  { ignores: ['dist/', 'node_modules/', '.vscode-test/', 'test-results/', 'test/editor/workspaces/'] },
  ...tseslint.configs.recommended,
  {
    files: ['src/**/*.ts', 'test/**/*.ts'],
    languageOptions: { parserOptions: { project: ['tsconfig.json', 'src/webview/tsconfig.json'] } },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_' }],
      eqeqeq: 'error',
    },
  },
  {
    files: ['src/**/*.ts'],
    rules: {
      // What comes from outside may be an object without a text of its own, for which `String` throws: `asText` does not.
      '@typescript-eslint/no-base-to-string': ['error', { checkUnknown: true }],
      'no-restricted-exports': ['error', { restrictDefaultExports: { direct: true } }],
      'no-restricted-syntax': [
        'error',
        {
          selector:
            'CallExpression[callee.property.name=/^(push|unshift|splice|max|min|append|replaceChildren)$/] > SpreadElement.arguments[argument.type!="ConditionalExpression"]',
          message: 'Each element becomes an argument, and some 120,000 of them end the process. Use a loop.',
        },
      ],
      'no-restricted-globals': [
        'error',
        { name: 'fetch', message: 'On Node 20 and 22 it forgets its signal when memory is collected; use node:http.' },
      ],
    },
  },
);
