export interface Answer {
  readonly status: number
  readonly body: unknown
}

/** The gateway of a running version, as its readers use it. */
export interface Door {
  ask(method: string, path: string, body?: unknown): Promise<Answer>
  /** All entries of a list, page by page. */
  list(path: string): Promise<readonly unknown[]>
}

/** The page limit of both versions. */
const PAGE_LIMIT = 200

export function openDoor(url: string, key: string | null): Door {
  const ask = async (method: string, path: string, body?: unknown): Promise<Answer> => {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: {
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(key !== null && { authorization: `Bearer ${key}` }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    return { status: response.status, body: await response.json() }
  }
  return {
    ask,
    async list(path) {
      const entries: unknown[] = []
      for (let cursor: string | null = ''; cursor !== null; ) {
        const query = `limit=${PAGE_LIMIT}${cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`}`
        const { status, body } = await ask('GET', `${path}${path.includes('?') ? '&' : '?'}${query}`)
        if (status !== 200) throw new Error(`GET ${path} was answered with ${status}: ${JSON.stringify(body)}`)
        const page = body as { items: unknown[]; nextCursor: string | null }
        entries.push(...page.items)
        cursor = page.nextCursor
      }
      return entries
    },
  }
}

/** The body of an answer that must have one. */
export async function told<T>(asked: Promise<Answer>): Promise<T> {
  const { status, body } = await asked
  if (status >= 400) throw new Error(`answered with ${status}: ${JSON.stringify(body)}`)
  return body as T
}
