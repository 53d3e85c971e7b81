/**
 * A pure function of an object, computed once for each object. The turns of a conversation share their messages, so
 * everything that is derived from one message alone is derived once for all of its contexts.
 *
 * Inputs and results are shared: neither may be changed afterwards.
 */
export function remembered<Key extends object, Value extends object | null>(
  derive: (key: Key) => Value,
): (key: Key) => Value {
  const known = new WeakMap<Key, Value>()
  return (key) => {
    const found = known.get(key)
    if (found !== undefined) return found
    const value = derive(key)
    known.set(key, value)
    return value
  }
}
