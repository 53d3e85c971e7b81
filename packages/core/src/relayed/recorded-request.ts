import type {
  RecordedCover,
  RecordedEntry,
  RecordedHead,
  RecordedRecalls,
  RecordedStub,
  RequestDelta,
} from './request-delta.js'

/** A request as it was received, and what was sent in place of its parts. */
export interface RecordedRequest {
  readonly entries: readonly RecordedEntry[]
  readonly stubs: readonly RecordedStub[]
  readonly recalls: readonly RecordedRecalls[]
  readonly cover: RecordedCover | null
  readonly head: RecordedHead
  readonly hasRecallTool: boolean
}

/**
 * Puts a request together from what was recorded of it and of those before it.
 *
 * @param deltas the first one has no base, each later one is based on the one before it
 * @returns null if the first is missing
 */
export function recordedRequest(deltas: readonly RequestDelta[]): RecordedRequest | null {
  const [first, ...later] = deltas
  if (first === undefined || first.head === null || first.keptEntries > 0) return null
  const { entries, stubs, recalls, cover, head, hasRecallTool } = first
  return later.reduce(extended, { entries, stubs, recalls, cover, head, hasRecallTool })
}

function extended(before: RecordedRequest, delta: RequestDelta): RecordedRequest {
  return {
    entries: [...before.entries.slice(0, delta.keptEntries), ...delta.entries],
    stubs: withStubs(before.stubs, delta),
    recalls: withRecalls(before.recalls, delta),
    cover: delta.cover,
    head: delta.head ?? before.head,
    hasRecallTool: delta.hasRecallTool,
  }
}

function withStubs(before: readonly RecordedStub[], { stubs, removedStubs }: RequestDelta): readonly RecordedStub[] {
  if (stubs.length === 0 && removedStubs.length === 0) return before
  const gone = new Set([...removedStubs, ...stubs.map(({ entry, result }) => [entry, result] as const)].map(String))
  const kept = before.filter(({ entry, result }) => !gone.has(String([entry, result])))
  return [...kept, ...stubs].sort((one, other) => one.entry - other.entry || one.result - other.result)
}

function withRecalls(
  before: readonly RecordedRecalls[],
  { recalls, removedRecalls }: RequestDelta,
): readonly RecordedRecalls[] {
  if (recalls.length === 0 && removedRecalls.length === 0) return before
  const kept = before.filter(({ entry }) => !removedRecalls.includes(entry))
  return [...kept, ...recalls].sort((one, other) => one.entry - other.entry)
}
