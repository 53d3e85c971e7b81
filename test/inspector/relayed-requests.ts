import { randomUUID } from 'node:crypto'
import type { createClient } from '@heddle/client/http'
import { projectIdOf, type RequestDelta, textHash, threadIdOf } from '@heddle/core'
import { insertProxiedRequest, type NewProxiedView, openStore } from '@heddle/store'
import { HOSTILE } from './hostile-text.js'

type HttpClient = ReturnType<typeof createClient>

/** A text that was sent in place of a result, by its whole words. */
export const STUB = `The first lines of a result. ${HOSTILE}`
export const COVER = `A summary of the beginning. ${HOSTILE}`

/**
 * Three requests of a thread that a proxy relayed: as it came, with a stub, and with a summary besides. As with a real one
 * each is recorded as the difference to the one before it.
 *
 * @returns their ids
 */
export async function relayRequests(
  { client, databaseUrl }: { readonly client: HttpClient; readonly databaseUrl: string },
  thread: string,
): Promise<string[]> {
  const { items } = await client.messages.list({ thread, limit: 60 })
  const result = items.findIndex(({ role }) => role === 'tool_result')
  const entries = items.map(({ id, role, content }) => {
    const kind: RequestDelta['entries'][number]['kind'] =
      role === 'user' ? 'user' : role === 'tool_result' ? 'results' : 'assistant'
    return { kind, tokens: Math.ceil(content.length / 4), bytes: content.length, messages: [id] }
  })
  const text = (kind: 'head' | 'stub' | 'cover', words: string) => {
    return { hash: textHash(kind, words), kind, text: words, messageId: null, contextId: null }
  }
  const [system, stub, cover] = [text('head', `Be good. ${HOSTILE}`), text('stub', STUB), text('cover', COVER)]
  const empty: RequestDelta = {
    ...{ keptEntries: 50, entries: [], stubs: [], removedStubs: [], recalls: [], removedRecalls: [] },
    ...{ cover: null, head: null, hasRecallTool: false },
  }
  const stubbed = {
    ...{ entry: result, result: 0, reference: items[result]?.reference ?? '', hash: stub.hash },
    ...{ messageId: items[result]?.id ?? '', tokensBefore: entries[result]?.tokens ?? 0, tokensAfter: 9 },
  }
  const head = { tokens: 20, fields: [{ name: 'system', bytes: 80, hash: system.hash }], omitted: 1 }
  const deltas: RequestDelta[] = [
    { ...empty, keptEntries: 0, entries: entries.slice(0, 50), head },
    { ...empty, entries: entries.slice(50), stubs: [stubbed] },
    { ...empty, keptEntries: 60, cover: { from: 0, to: 2, hash: cover.hash, tokensBefore: 400, tokensAfter: 40 } },
  ]
  const projectId = projectIdOf('default')
  const store = openStore({ url: databaseUrl, connectionsMax: 1, applicationName: 'inspector test' })
  const ids: string[] = []
  try {
    for (const [depth, delta] of deltas.entries()) {
      const id = randomUUID()
      const view: NewProxiedView = {
        ...{ id, baseId: ids.at(-1) ?? null, depth, delta, texts: [system, stub, cover] },
        ...{ bytesReceived: 48_000, bytesSent: depth === 0 ? 48_000 : 21_000 },
        ...{ hashReceived: new Uint8Array(32), hashSent: new Uint8Array(32).fill(depth) },
      }
      const row = rowOf({ id, thread, threadId: threadIdOf(projectId, thread), depth })
      await store.inProject(projectId, (tx) => insertProxiedRequest(tx, row, view))
      ids.push(id)
    }
  } finally {
    await store.close()
  }
  return ids
}

/** Threads of either kind that a comparison of costs needs for its interval, and some more. */
const COMPARED = 12

/**
 * Requests of threads for which `compact` was asked: half of them stayed unchanged for comparison, the other half cost less and
 * recalled a text each.
 */
export async function relayCompared({ databaseUrl }: { readonly databaseUrl: string }): Promise<void> {
  const projectId = projectIdOf('default')
  const store = openStore({ url: databaseUrl, connectionsMax: 1, applicationName: 'inspector test' })
  try {
    for (let number = 0; number < 2 * COMPARED; number++) {
      const isControl = number % 2 === 0
      const thread = `compared-${number}`
      const row = {
        ...rowOf({ id: randomUUID(), thread, threadId: threadIdOf(projectId, thread), depth: 1 }),
        ...{ isControl, costUsd: (isControl ? 0.02 : 0.008) + number / 10_000, directCostUsd: 0.02 + number / 10_000 },
        ...(!isControl && { recalls: 1, recallCostUsd: 0.001 }),
      }
      await store.inProject(projectId, (tx) => insertProxiedRequest(tx, row))
    }
  } finally {
    await store.close()
  }
}

function rowOf({ depth, ...names }: { id: string; thread: string; threadId: string; depth: number }) {
  const isPassed = depth === 0
  return {
    ...names,
    ...{ upstream: 'anthropic', protocol: 'anthropic' as const, model: 'claude-sonnet-4-5', isControl: false },
    ...{ mode: 'compact' as const, modeSource: 'header' as const, epoch: depth + 1, reasons: ['extends'] },
    ...{ passed: isPassed ? 'not-stored' : null, entries: 60, stubs: isPassed ? 0 : 1, coveredEntries: 0 },
    ...{ tokensReceived: 12_000, tokensSent: isPassed ? 12_000 : 5_000, tokensCached: 4_000, inputTokens: 10 },
    ...{ cacheReadTokens: 4_000, cacheWriteTokens: 900, outputTokens: 20, costUsd: 0.005, directCostUsd: 0.02 },
    ...{ recalls: 0, recallCostUsd: null, status: 200, addedMs: 1, firstByteMs: 3 },
  }
}
