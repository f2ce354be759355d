/** True for an object from outside, except lists. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string');
}

/** True for an object whose fields have these types of `typeof`. A field with `?` may be missing. */
export function hasFields(
  value: unknown,
  types: Readonly<Record<string, string>>,
): value is Readonly<Record<string, unknown>> {
  if (!isObject(value)) return false;
  return Object.entries(types).every(([key, type]) => {
    const isMissing = type.endsWith('?') && value[key] === undefined;
    return isMissing || typeof value[key] === type.replace('?', '');
  });
}
