/**
 * How heavy and how dense a module is. It counts the tokens of the syntax tree, so neither the
 * width of a line nor a missing comment makes code look smaller.
 */
import ts from 'typescript-ast';

interface MeasuredFunction {
  /** `src/core/host/host.ts:12 call`. */
  readonly place: string;
  readonly lines: number;
  readonly branches: number;
  readonly parameters: number;
}

export interface Measured {
  readonly tokens: number;
  /** Lines with at least one token. */
  readonly codeLines: number;
  readonly lines: number;
  /** Lines of more than 110 characters. */
  readonly wide: number;
  /** The places of idioms that save a line and cost a reader. */
  readonly packed: readonly string[];
  readonly functions: readonly MeasuredFunction[];
}

const { SyntaxKind: kinds } = ts;

const branching = new Set([
  kinds.IfStatement,
  kinds.ForStatement,
  kinds.ForOfStatement,
  kinds.ForInStatement,
  kinds.WhileStatement,
  kinds.DoStatement,
  kinds.CaseClause,
  kinds.CatchClause,
  kinds.ConditionalExpression,
]);

const logical = new Set<ts.SyntaxKind>([
  kinds.AmpersandAmpersandToken,
  kinds.BarBarToken,
  kinds.QuestionQuestionToken,
]);

const isBranch = (node: ts.Node): boolean =>
  branching.has(node.kind) || (ts.isBinaryExpression(node) && logical.has(node.operatorToken.kind));

const isDocumentation = (node: ts.Node): boolean =>
  node.kind >= kinds.FirstJSDocNode && node.kind <= kinds.LastJSDocNode;

const hasBody = (node: ts.Node): node is ts.FunctionLikeDeclaration & { readonly body: ts.Block } =>
  ts.isFunctionLike(node) && 'body' in node && !!node.body && ts.isBlock(node.body as ts.Node);

/** True for an assignment whose value is used by the expression around it. */
function isInnerAssignment(node: ts.BinaryExpression): boolean {
  let around = node.parent;
  while (ts.isParenthesizedExpression(around)) around = around.parent;
  return (
    !ts.isExpressionStatement(around) &&
    !ts.isForStatement(around) &&
    !ts.isArrowFunction(around) &&
    !ts.isWhileStatement(around)
  );
}

/** Several assignments in one, literals spread into literals, and values assigned inside an expression. */
function isPacked(node: ts.Node): boolean {
  if (ts.isVariableDeclaration(node) && ts.isArrayBindingPattern(node.name)) {
    const { initializer } = node;
    return (
      !!initializer && ts.isArrayLiteralExpression(initializer) && initializer.elements.length > 1
    );
  }
  if (ts.isBinaryExpression(node) && node.operatorToken.kind === kinds.EqualsToken) {
    const isPair =
      ts.isArrayLiteralExpression(node.left) && ts.isArrayLiteralExpression(node.right);
    return isPair || isInnerAssignment(node);
  }
  if (ts.isSpreadElement(node)) return ts.isArrayLiteralExpression(node.expression);
  if (ts.isSpreadAssignment(node)) return ts.isObjectLiteralExpression(node.expression);
  if (ts.isReturnStatement(node)) return !!node.expression && ts.isVoidExpression(node.expression);
  return (
    ts.isConditionalExpression(node) &&
    ts.isConditionalExpression(node.parent) &&
    ts.isConditionalExpression(node.parent.parent)
  );
}

/** The branches of a function, without those of the functions with a body inside it. */
function branchesIn(outer: ts.Node): number {
  let found = 0;
  const count = (node: ts.Node): void => {
    if (node !== outer && hasBody(node)) return;
    if (isBranch(node)) found++;
    ts.forEachChild(node, count);
  };
  count(outer);
  return found;
}

function nameOf(node: ts.FunctionLikeDeclaration, source: ts.SourceFile): string {
  if (node.name) return node.name.getText(source);
  const { parent } = node;
  return ts.isVariableDeclaration(parent) || ts.isPropertyAssignment(parent)
    ? parent.name.getText(source)
    : 'constructor or closure';
}

export function measure(file: string, text: string): Measured {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.ES2022, true);
  const lineAt = (position: number): number => source.getLineAndCharacterOfPosition(position).line;
  const code = new Set<number>();
  const packed: string[] = [];
  const functions: MeasuredFunction[] = [];
  let tokens = 0;
  const visit = (node: ts.Node): void => {
    const children = node.getChildren(source).filter((child) => !isDocumentation(child));
    const first = lineAt(node.getStart(source));
    const last = lineAt(node.end);
    if (children.length === 0) {
      if (node.getText(source) === '') return;
      tokens++;
      for (let line = first; line <= last; line++) code.add(line);
      return;
    }
    if (isPacked(node)) packed.push(`${file}:${first + 1}`);
    if (hasBody(node)) {
      functions.push({
        place: `${file}:${first + 1} ${nameOf(node, source)}`,
        lines: last - first + 1,
        branches: branchesIn(node),
        parameters: node.parameters.length,
      });
    }
    children.forEach(visit);
  };
  visit(source);
  const lines = text.split('\n');
  return {
    tokens,
    codeLines: code.size,
    lines: lines.length - 1,
    wide: lines.filter((line) => line.length > 110).length,
    packed,
    functions,
  };
}
