/** The value of an input of a date and time in the reader's zone; empty for no time. */
export function toLocal(iso: string | undefined): string {
  const time = iso === undefined ? Number.NaN : Date.parse(iso)
  if (Number.isNaN(time)) return ''
  const shifted = new Date(time - new Date(time).getTimezoneOffset() * 60_000)
  return shifted.toISOString().slice(0, 16)
}

export function toIso(local: string | undefined): string | undefined {
  const time = local ? Date.parse(local) : Number.NaN
  return Number.isNaN(time) ? undefined : new Date(time).toISOString()
}
