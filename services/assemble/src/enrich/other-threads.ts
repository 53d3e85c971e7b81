import type { ContextResult } from '@heddle/contracts'
import { type BuildInput, othersStatus, threadIdOf } from '@heddle/core'

/** The other threads that a context quotes; erasing one of them also erases the context. */
export interface OtherThreads {
  readonly threadIds: readonly string[]
  /** The messages of them that it recalls. */
  readonly recalledIds: readonly string[]
  /** Whether a text of the context is about one of them: its line is stored with this context only. */
  readonly isAbout: (text: string) => boolean
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
  return {
    recalledIds: recalled.map(({ messageId }) => messageId),
    threadIds: [...new Set(names)].map((name) => threadIdOf(projectId, name)),
    isAbout: (text) => told.some((part) => text.includes(part)),
  }
}
