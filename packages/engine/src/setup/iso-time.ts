/** Converts the store's milliseconds since 1970 to ISO 8601, which the client's interface uses. */
export function isoTime<Time extends number | null>(timeMs: Time): Time extends number ? string : null
export function isoTime(timeMs: number | null): string | null {
  return timeMs === null ? null : new Date(timeMs).toISOString()
}
