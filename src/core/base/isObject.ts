export type Fields = Readonly<Record<string, unknown>>;

/** True for an object from outside, except lists. */
export function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Returns the object that the protocol has at this place, because PHP writes an empty list for an
 * empty object (X3e). Undefined if the value is no object.
 */
export function objectIn(value: unknown): Fields | undefined {
  if (Array.isArray(value) && value.length === 0) return {};
  return isObject(value) ? value : undefined;
}

/** Without fields if the value is no object. */
export function asFields(value: unknown): Fields {
  return isObject(value) ? value : {};
}

/** Empty if the value is no list. */
export function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function without(fields: Fields, ...keys: readonly string[]): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([key]) => !keys.includes(key)));
}

/** Returns the fields with other values. */
export function mapped(fields: Fields, change: (value: unknown, key: string) => unknown): Fields {
  return Object.fromEntries(
    Object.entries(fields).map(([key, value]) => [key, change(value, key)]),
  );
}

export function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string');
}

/**
 * True for an object whose fields have these types of `typeof`. A field with `?` may be missing.
 */
export function hasFields(
  value: unknown,
  types: Readonly<Record<string, string>>,
): value is Fields {
  if (!isObject(value)) return false;
  return Object.entries(types).every(([key, type]) => {
    const isMissing = type.endsWith('?') && value[key] === undefined;
    return isMissing || typeof value[key] === type.replace('?', '');
  });
}
