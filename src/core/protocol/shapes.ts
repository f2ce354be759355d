/**
 * Repairs foreign values, because strict readers would refuse a whole list for one field (X3). A
 * wrong value costs its field or entry; a right one is the same object. Written by hand, because
 * schema libraries are too slow for results.
 */
import { asFields, asList, isObject, objectIn, type Fields } from '../base/isObject.js';
import type { Sliced } from '../base/turns.js';
import { metaKeys } from './versions.js';

/** Returns the value, a repaired copy, or undefined if the value does not fit. */
type Shape = (value: unknown) => unknown;

const text: Shape = (value) => (typeof value === 'string' ? value : undefined);
const flag: Shape = (value) => (typeof value === 'boolean' ? value : undefined);
const number: Shape = (value) => (typeof value === 'number' ? value : undefined);
const whole: Shape = (value) => (Number.isSafeInteger(value) ? value : undefined);
const share: Shape = (value) =>
  typeof value === 'number' && value >= 0 && value <= 1 ? value : undefined;

/** A value that does not fit stays, because its reader says what is wrong with it. */
const orGiven =
  (shape: Shape): Shape =>
  (value) =>
    shape(value) ?? value;

function oneOf(...values: readonly unknown[]): Shape {
  return (value) => (values.includes(value) ? value : undefined);
}

function each(shape: Shape, ...keys: readonly string[]): Record<string, Shape> {
  return Object.fromEntries(keys.map((key) => [key, shape]));
}

function listOf(entry: Shape): Shape {
  return (value) => {
    if (!Array.isArray(value)) return undefined;
    const list: readonly unknown[] = value;
    const read = list.map(entry);
    return read.every((each, index) => each === list[index])
      ? list
      : read.filter((each) => each !== undefined);
  };
}

function fields(
  optional: Readonly<Record<string, Shape>>,
  required: Readonly<Record<string, Shape>> = {},
): Shape {
  const wanted = Object.entries(required);
  const all = new Map([...wanted, ...Object.entries(optional)]);
  const keys = [...all.keys()];
  return (value) => {
    const given = objectIn(value);
    if (!given) return undefined;
    if (wanted.some(([key, shape]) => shape(given[key]) === undefined)) return undefined;
    return repaired(given, keys, (key, inner) => all.get(key)?.(inner));
  };
}

function repaired(
  value: Fields,
  keys: readonly string[],
  read: (key: string, given: unknown) => unknown,
): Fields {
  let changes: Map<string, unknown> | undefined;
  for (const key of keys) {
    const given = value[key];
    if (given === undefined) continue;
    const right = read(key, given);
    if (right !== given) {
      (changes ??= new Map<string, unknown>()).set(key, right);
    }
  }
  if (!changes) return value;
  const entries = Object.entries(value).map(([key, given]) => [
    key,
    changes.has(key) ? changes.get(key) : given,
  ]);
  return Object.fromEntries(entries.filter(([, given]) => given !== undefined)) as Fields;
}

function mapOf(entry: Shape): Shape {
  return (value) => {
    const given = objectIn(value);
    return given && repaired(given, Object.keys(given), (_, inner) => entry(inner));
  };
}

const present: Shape = (value) => value ?? undefined;

/** The values of these keywords are data, except for properties of these names. */
export const valueKeywords = ['default', 'const', 'enum', 'examples'];
/** In these keywords of a schema, null is a value. */
const nullable = ['default', 'const', 'example'];
/** The value of these keywords is a schema. */
export const schemaKeywords = [
  'items',
  'additionalProperties',
  'not',
  'if',
  'then',
  'else',
  'contains',
  'propertyNames',
];
/** These keywords have a list of schemas. */
export const schemaLists = ['allOf', 'anyOf', 'oneOf', 'prefixItems'];
/** These keywords have a map of free names. */
export const schemaMaps: readonly string[] =
  'properties patternProperties $defs definitions dependencies dependentRequired dependentSchemas'.split(
    ' ',
  );
/** A deeper schema is taken as it is, because the walk must end. */
const deepestSchema = 64;

/** In these maps, a list is a list of names. */
const mapsOfNames = ['dependencies', 'dependentRequired'];

/** Leaves out keywords that are null. */
function schemaAt(depth: number): Shape {
  return (value) => {
    const found = objectIn(value);
    if (!found || depth > deepestSchema) return present(value);
    const inner = schemaAt(depth + 1);
    return repaired(found, Object.keys(found), (key, given) => keyword(key, given, inner));
  };
}

function keyword(key: string, given: unknown, inner: Shape): unknown {
  if (nullable.includes(key)) return given;
  if (schemaKeywords.includes(key)) return inner(given);
  if (schemaMaps.includes(key)) {
    if (Array.isArray(given) && given.length === 0) return undefined;
    const isOfNames = mapsOfNames.includes(key);
    const entry: Shape = (one) => (isOfNames && Array.isArray(one) ? one : inner(one));
    return mapOf(entry)(given) ?? present(given);
  }
  if (schemaLists.includes(key)) {
    return Array.isArray(given) ? listOf(inner)(given) : present(given);
  }
  if (key === 'required' && Array.isArray(given)) {
    return listOf(text)(given);
  }
  if (key === 'required' && isObject(given) && Object.keys(given).length === 0) return undefined;
  return present(given);
}

const schema = schemaAt(0);
/** Clients refuse the empty schema here, and arguments are an object anyway. */
const inputSchema: Shape = (value) => schema(Array.isArray(value) ? { type: 'object' } : value);

const day = String.raw`\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])`;
const time = String.raw`(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d+)?)?`;
const zone = String.raw`(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)`;
const dateTime = new RegExp(`^(${day})T${time}${zone}$`);

const moment: Shape = (value) => {
  const [, written] =
    typeof value === 'string' && value.length < 100 ? (dateTime.exec(value) ?? []) : [];
  if (written === undefined) return undefined;
  // A day that its month does not have becomes another one.
  const read = new Date(`${written}T00:00:00Z`);
  if (Number.isNaN(read.valueOf())) return undefined;
  const isSameDay = read.toISOString().startsWith(written);
  return isSameDay ? value : undefined;
};

const icon = fields(
  {
    mimeType: text,
    sizes: listOf(text),
    theme: oneOf('light', 'dark'),
  },
  { src: text },
);
const annotations = fields({
  audience: listOf(oneOf('user', 'assistant')),
  priority: share,
  lastModified: moment,
});
const shown = {
  title: text,
  description: text,
  icons: listOf(icon),
  _meta: objectIn,
};
const described = {
  ...shown,
  mimeType: text,
  annotations,
};

const toolAnnotations = fields({
  title: text,
  ...each(flag, 'readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'),
});

const toolShape = fields({
  ...shown,
  mimeType: text,
  inputSchema,
  outputSchema: schema,
  annotations: toolAnnotations,
  execution: fields({ taskSupport: oneOf('required', 'optional', 'forbidden') }),
});
function reader(shape: Shape): <Entry extends object>(entry: Entry) => Entry {
  return <Entry extends object>(entry: Entry) => (shape(entry) ?? entry) as Entry;
}

const argument = fields(
  {
    title: text,
    description: text,
    required: flag,
  },
  { name: text },
);

/** Each takes an entry with its required fields. */
export const rightTool = reader(toolShape);
export const rightPrompt = reader(
  fields({
    ...shown,
    mimeType: text,
    arguments: listOf(argument),
  }),
);
export const rightResource = reader(fields({ ...described, size: number }));
/** Without a URI, so that no template passes for a resource (S3c). */
export const rightTemplate = reader(fields({ ...described, uri: () => undefined }));

const resourceFields = fields(
  {
    mimeType: text,
    _meta: objectIn,
    text,
    blob: text,
  },
  { uri: text },
);
const resourceContents: Shape = (value) => {
  const read = resourceFields(value);
  return isObject(read) && (read['text'] ?? read['blob']) !== undefined ? read : undefined;
};

const binary = fields({ annotations, _meta: objectIn }, { data: text, mimeType: text });
const blocks: ReadonlyMap<unknown, Shape> = new Map([
  ['text', fields({ annotations, _meta: objectIn }, { text })],
  ['image', binary],
  ['audio', binary],
  ['resource', fields({ annotations, _meta: objectIn }, { resource: resourceContents })],
  ['resource_link', fields({ ...described, size: number }, { name: text, uri: text })],
]);

const block: Shape = (value) => (isObject(value) ? blocks.get(value['type'])?.(value) : undefined);
/**
 * The dialect judges the other types of a conversation with a model, because versions differ in
 * them.
 */
const sampledBlock: Shape = (value) =>
  isObject(value) && !blocks.has(value['type']) ? toolUse(value) : block(value);
const toolUse = fields({ input: orGiven(objectIn) });

const messageOf = (content: Shape): Shape =>
  fields({ _meta: objectIn }, { role: oneOf('user', 'assistant'), content });
function unlessList(entry: Shape): Shape {
  return (value) => (Array.isArray(value) ? listOf(entry)(value) : value);
}

const sampledContent: Shape = (value) =>
  Array.isArray(value) ? listOf(sampledBlock)(value) : sampledBlock(value);

const completionFields = fields({
  values: listOf(text),
  total: whole,
  hasMore: flag,
});
const completion: Shape = (value) => {
  const read = (completionFields(value) ?? {}) as Fields;
  return read['values'] === undefined ? { ...read, values: [] } : read;
};

const parts: Readonly<Record<string, Shape>> = {
  content: block,
  contents: resourceContents,
  messages: messageOf(block),
};

const resultShape = fields({
  _meta: objectIn,
  isError: flag,
  ...Object.fromEntries(Object.entries(parts).map(([key, part]) => [key, unlessList(part)])),
  completion,
});
const promptResult = fields({ description: text });

/**
 * A message of a prompt has one block. A list of blocks becomes several messages with no other
 * fields.
 */
function withSplitMessages<Result>(result: Result): Result {
  const messages = asFields(result)['messages'];
  const isList = (message: unknown) => Array.isArray(asFields(message)['content']);
  if (!Array.isArray(messages) || !messages.some(isList)) return result;
  const split = messages.flatMap((message: Fields) => {
    if (!isList(message)) return [message];
    const { role, content } = message as { role: unknown; content: readonly unknown[] };
    return content.filter((each) => each !== null).map((each) => ({ role, content: each }));
  });
  return { ...result, messages: split };
}

/** Of a request to a server that is not for a list. */
export const rightResult: <Result extends object>(result: Result) => Result = reader((result) => {
  const read = resultShape(withSplitMessages(result));
  return isObject(read) && 'messages' in read ? promptResult(read) : read;
});

/** Returns structured content with an object wherever its schema wants one (X3e). */
export function* rightStructure(given: unknown, by: unknown): Sliced<unknown> {
  const { type, properties, items } = asFields(by);
  const types = [type].flat();
  const wantsObject = types.includes('object') && !types.includes('array');
  const value = (wantsObject ? objectIn(given) : undefined) ?? given;
  if (typeof value !== 'object' || value === null) return value;
  const changed: Record<string, unknown> = {};
  for (const [key, inner] of Object.entries(value)) {
    yield;
    const within = Array.isArray(value) ? items : asFields(properties)[key];
    if (typeof inner !== 'object' || !isObject(within)) continue;
    const read = yield* rightStructure(inner, within);
    if (read !== inner) changed[key] = read;
  }
  if (Object.keys(changed).length === 0) return value;
  return Object.assign(Array.isArray(value) ? [...(value as unknown[])] : { ...value }, changed);
}

/** Returns the parts that `rightResult` leaves out of the result, without the null ones. */
export function lostParts(given: Fields): readonly unknown[] {
  const result = withSplitMessages(given);
  const lost = (list: unknown, part: Shape): unknown[] =>
    asList(list).filter((each) => each !== null && part(each) === undefined);
  const { completion: found } = result;
  const suggestions = isObject(found) ? lost(found['values'], text) : [];
  return [
    ...Object.entries(parts).flatMap(([key, part]) => lost(result[key], part)),
    ...suggestions,
  ];
}

/** Deeper, the settings of an extension may have lists. */
const capabilities = orGiven(mapOf(mapOf(orGiven(objectIn))));

/** The objects in requests and results of several methods (X3e). */
const withRightObjects = fields({
  capabilities,
  ...each(orGiven(objectIn), 'inputRequests', 'inputResponses'),
  _meta: fields({
    progressToken: (value) => text(value) ?? whole(value),
    [metaKeys.logLevel]: present,
    [metaKeys.clientCapabilities]: capabilities,
    'io.modelcontextprotocol/related-task': fields({}, { taskId: text }),
  }),
});

const fieldOfForm = (ofDefault: Shape): Shape =>
  fields({
    ...each(text, 'title', 'description'),
    default: ofDefault,
    ...each(number, 'minLength', 'maxLength', 'minimum', 'maximum', 'minItems', 'maxItems'),
    format: oneOf('email', 'uri', 'date', 'date-time'),
    enumNames: listOf(text),
  });
const defaults = {
  string: text,
  number,
  integer: number,
  boolean: flag,
  array: listOf(text),
};
const fieldsOfForm: ReadonlyMap<unknown, Shape> = new Map(
  Object.entries(defaults).map(([type, ofDefault]) => [type, fieldOfForm(ofDefault)]),
);
const formField: Shape = (value) =>
  (isObject(value) && fieldsOfForm.get(value['type'])?.(value)) || value;
const form: Shape = (value) => {
  const needed = isObject(value) && !value['properties'] ? { ...value, properties: {} } : value;
  return fieldsOfSchema(needed);
};
const fieldsOfSchema = fields({ properties: mapOf(formField) });

const requests: Readonly<Record<string, Shape>> = {
  'tools/call': fields({ arguments: orGiven(objectIn) }),
  'prompts/get': fields({ arguments: mapOf(present) }),
  'completion/complete': fields({ context: fields({ arguments: mapOf(present) }) }),
  'elicitation/create': fields({ requestedSchema: (value) => form(schema(value)) }),
  'notifications/message': fields({ logger: text }),
  'sampling/createMessage': fields({
    messages: unlessList(messageOf(sampledContent)),
    modelPreferences: fields({
      hints: listOf(fields({ name: text })),
      ...each(share, 'costPriority', 'speedPriority', 'intelligencePriority'),
    }),
    tools: unlessList(toolShape),
    systemPrompt: text,
    temperature: number,
    stopSequences: listOf(text),
    includeContext: oneOf('none', 'thisServer', 'allServers'),
    metadata: objectIn,
    toolChoice: fields({ mode: oneOf('auto', 'required', 'none') }),
  }),
};

/** A list of the protocol is empty if it is null. */
const lists = [
  'tools',
  'prompts',
  'resources',
  'resourceTemplates',
  'content',
  'contents',
  'messages',
  'roots',
];
const emptied = new Map<string, () => unknown>(lists.map((key) => [key, () => []]));
emptied.set('completion', () => ({ values: [] }));
/** For these fields, null is a value: the time of a task is not limited. */
const nullableFields = new Set(['ttl', 'ttlMs']);

/**
 * Returns the result of a server without fields that are null, and with empty lists in place of
 * null.
 */
export function presentResult(result: Fields): Record<string, unknown> {
  return readObjects(withoutNulls(result, emptied));
}

/**
 * Returns the result of a client without fields that are null: there `content` is a map of answers,
 * or one block.
 */
export function presentAnswer(result: Fields): Record<string, unknown> {
  const answer = withoutNulls(result, none);
  return readObjects('action' in answer ? answerOfForm(answer) : answer);
}

const answerOfForm = fields({ content: orGiven(objectIn) });

export function presentParams(method: string, params: Fields): Record<string, unknown> {
  const known = Object.hasOwn(requests, method) ? requests[method] : undefined;
  const read = readObjects(withoutNulls(params, method === 'notifications/message' ? kept : none));
  return (known?.(read) ?? read) as Record<string, unknown>;
}

const none: typeof emptied = new Map();
/** A message of a log must have data, and its data may be null. */
const kept: typeof emptied = new Map([['data', () => null]]);

function withoutNulls(given: Fields, inPlace: typeof emptied): Fields {
  return repaired(given, Object.keys(given), (key, value) =>
    value !== null || nullableFields.has(key) ? value : inPlace.get(key)?.(),
  );
}

function readObjects(given: unknown): Record<string, unknown> {
  return withRightObjects(given) as Record<string, unknown>;
}
