/** Milliseconds since 1970, as the store has them, for whoever uses the client: times are ISO 8601 from here on. */
export function isoTime<Time extends number | null>(timeMs: Time): Time extends number ? string : null
export function isoTime(timeMs: number | null): string | null {
  return timeMs === null ? null : new Date(timeMs).toISOString()
}
