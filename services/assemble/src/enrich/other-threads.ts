import type { ContextResult } from '@heddle/contracts'
import { agentIdOf, type BuildInput, othersStatus, threadIdOf } from '@heddle/core'
import type { SharingAgent } from '@heddle/store'

/** The other threads that a context quotes; erasing one of them also erases the context. */
export interface OtherThreads {
  readonly threadIds: readonly string[]
  /** The messages of them that it recalls. */
  readonly recalledIds: readonly string[]
  /** Whether a text of the context is about one of them: its line is stored with this context only. */
  readonly isAbout: (text: string) => boolean
  /** The agents that share memory blocks with it: an erasure of one of them is an erasure of the context. */
  readonly sharers: readonly SharingAgent[]
}

export function otherThreads(
  projectId: string,
  { receipt, thread }: Pick<ContextResult, 'receipt' | 'thread'>,
  input: BuildInput,
): OtherThreads {
  const status = othersStatus(input)
  const recalled = receipt.entries.flatMap(({ memory }) => (memory && memory.thread !== thread ? [memory] : []))
  const told = [...(status === null ? [] : [status]), ...recalled.map(({ reference }) => reference)]
  const names = [
    ...(input.activity?.threads ?? []).map(({ name }) => name),
    ...(input.request.scope?.threads ?? []),
    ...recalled.map((each) => each.thread),
  ].filter((name) => name !== thread)
  const sharers = new Map(
    (input.blocks ?? []).flatMap(({ sharer }) => (sharer ? [[sharer.name, sharer.createdAtMs]] : [])),
  )
  return {
    sharers: [...sharers].map(([name, createdAtMs]) => ({ agentId: agentIdOf(projectId, name), createdAtMs })),
    recalledIds: recalled.map(({ messageId }) => messageId),
    threadIds: [...new Set(names)].map((name) => threadIdOf(projectId, name)),
    isAbout: (text) => told.some((part) => text.includes(part)),
  }
}
