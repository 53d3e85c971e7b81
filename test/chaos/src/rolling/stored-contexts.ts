import type { Installation } from './installation.js'

/** The answers of a gateway about stored contexts, as texts, by their paths. */
export type ShownContexts = ReadonlyMap<string, string>

export interface ContextChanges {
  readonly compared: number
  /** Answers with the same bytes; others have new fields. */
  readonly identical: number
  /** Paths of answers of which something is missing or has changed. */
  readonly changed: readonly string[]
}

type Reader = Pick<Installation['gateway'], 'url' | 'key'>

const PER_THREAD = 4
const encoded = encodeURIComponent

/** Shows the newest contexts of some threads: as delivered, rebuilt from what is stored, and their receipts. */
export async function showContexts(gateway: Reader, threads: readonly string[]): Promise<ShownContexts> {
  const paths: string[] = []
  for (const thread of threads) {
    const list = await get(gateway, `/v1/threads/${encoded(thread)}/contexts?limit=${PER_THREAD}`)
    const { items } = JSON.parse(list.text) as { items: readonly { readonly id: string; readonly status?: string }[] }
    for (const { id, status = 'built' } of items) {
      if (status === 'built')
        paths.push(`/v1/contexts/${id}`, `/v1/contexts/${id}?rebuild=true`, `/v1/contexts/${id}/receipt`)
    }
  }
  return await showPaths(gateway, paths)
}

/** Shows the same contexts again. */
export async function showAgain(gateway: Reader, before: ShownContexts): Promise<ShownContexts> {
  return await showPaths(gateway, [...before.keys()])
}

async function showPaths(gateway: Reader, paths: readonly string[]): Promise<ShownContexts> {
  const shown = new Map<string, string>()
  for (const path of paths) {
    const { status, text } = await get(gateway, path)
    shown.set(path, status === 200 ? text : `${status}: ${text}`)
  }
  return shown
}

async function get({ url, key }: Reader, path: string): Promise<{ readonly status: number; readonly text: string }> {
  const response = await fetch(`${url}${path}`, { headers: { authorization: `Bearer ${key}` } })
  return { status: response.status, text: await response.text() }
}

/** Compares what two gateways show. A field that only the later answer has is no change. */
export function compareContexts(before: ShownContexts, after: ShownContexts): ContextChanges {
  let identical = 0
  const changed: string[] = []
  for (const [path, text] of before) {
    const later = after.get(path) ?? ''
    if (later === text) identical++
    else if (!isJson(text) || !isJson(later) || !contains(JSON.parse(later), JSON.parse(text))) changed.push(path)
  }
  return { compared: before.size, identical, changed }
}

function isJson(text: string): boolean {
  return text.startsWith('{')
}

/** Whether the later value has everything that the earlier one has, and objects in it may have more. */
function contains(later: unknown, earlier: unknown): boolean {
  if (typeof earlier !== 'object' || earlier === null) return later === earlier
  if (typeof later !== 'object' || later === null) return false
  if (Array.isArray(earlier) || Array.isArray(later)) {
    if (!Array.isArray(earlier) || !Array.isArray(later) || earlier.length !== later.length) return false
    return earlier.every((value, index) => contains(later[index], value))
  }
  const fields = later as Readonly<Record<string, unknown>>
  return Object.entries(earlier).every(([name, value]) => name in fields && contains(fields[name], value))
}
