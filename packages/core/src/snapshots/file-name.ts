/** The slug is for people who browse the folder; the id makes the name unique. */
const SLUG_CHARACTERS_MAX = 50
const ID_DIGITS = 8

/**
 * The name of a snapshot's file: `<UTC time>_<slug of the description>_<short id>.json`. It contains only digits,
 * lower-case letters, `T`, `Z`, `_`, `-` and the one dot of its extension, for any description: it cannot escape its
 * folder.
 */
export function snapshotFileName(snapshot: {
  readonly id: string
  readonly createdAtMs: number
  readonly description: string | null
}): string {
  const { id, createdAtMs, description } = snapshot
  const time = new Date(createdAtMs).toISOString().slice(0, 19).replaceAll(':', '-')
  // The end of a UUIDv7: its beginning is the time, which the name already has.
  const shortId = id.replaceAll('-', '').slice(-ID_DIGITS)
  return `${time}Z_${slugOf(description ?? '', 'snapshot')}_${shortId}.json`
}

/** A text reduced to a few characters that every file system accepts; `otherwise` if nothing is left. */
export function slugOf(text: string, otherwise: string): string {
  const slug = text
    .slice(0, SLUG_CHARACTERS_MAX * 4)
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, SLUG_CHARACTERS_MAX)
    .replace(/^-+|-+$/g, '')
  return slug === '' ? otherwise : slug
}
