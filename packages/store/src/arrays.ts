/**
 * A list of UUIDs or hexadecimal digits in Postgres' own spelling, for `any(${asArray(ids)}::uuid[])`: these need no
 * quoting. The driver could spell arrays itself, but would ask each new connection for the types of arrays, and a
 * connection that is cut during that question ends the process.
 */
export function asArray(ids: Iterable<string>): string {
  return `{${[...ids].join(',')}}`
}
