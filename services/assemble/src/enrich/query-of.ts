import type { BuildInput } from '@heddle/core'

/** The message of the request, else the latest user message, else the goal of the thread. */
export function queryOf({ request, messages, loop, thread }: BuildInput): string | null {
  const latest = messages.findLast(({ role }) => role === 'user')?.content
  const said = [request.message, latest, loop?.goal, thread.goal]
  return said.find((text) => text != null && text.trim() !== '') ?? null
}
