import { type ContextRequest, momentMs, timeBoundsMs } from '@heddle/contracts'
import { type BuildInput, threadIdOf } from '@heddle/core'

/** Whether a context shows messages of other threads, or none of its own thread. */
export function isOfOthers({ thread, scope }: ContextRequest): boolean {
  return scope?.threads?.some((name) => name !== thread) ?? false
}

/** Start of the scope, in milliseconds since 1970; null without a lower bound. */
export function scopeSinceMs({ scope }: ContextRequest, asOfMs: number): number | null {
  return scope?.since === undefined ? null : Math.max(timeBoundsMs.first, momentMs(scope.since, asOfMs))
}

export function scopeOf(request: ContextRequest, asOfMs: number): NonNullable<BuildInput['scope']> {
  const sinceMs = scopeSinceMs(request, asOfMs)
  return {
    threads: request.scope?.threads ?? [request.thread],
    since: sinceMs === null ? null : new Date(sinceMs).toISOString(),
  }
}

/** The threads that the context shows; null if the request does not limit them. */
export function scopeThreadIds(
  { scope }: ContextRequest,
  { projectId }: { readonly projectId: string },
): string[] | null {
  return scope?.threads?.map((name) => threadIdOf(projectId, name)) ?? null
}
