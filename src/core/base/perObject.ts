/**
 * Returns a function that makes a value for an object once, and keeps it as long as the object
 * lives.
 */
export function perObject<Key extends object, Value>(
  make: (key: Key) => Value,
): (key: Key) => Value {
  const known = new WeakMap<Key, { readonly value: Value }>();
  return (key) => {
    const kept = known.get(key) ?? { value: make(key) };
    known.set(key, kept);
    return kept.value;
  };
}
