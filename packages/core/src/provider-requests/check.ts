import type { Epoch } from '@heddle/contracts'
import type { RequestPlan } from './plan-types.js'
import type { ProviderRequest } from './read-request.js'

/** Anthropic's limit of marks in one request. */
const CACHE_MARKS_MAX = 4

/**
 * Faults of a rendered request: what the provider would refuse though it accepts the original, and bytes of a sent prefix that
 * changed inside an epoch. Empty if it may be sent. It looks at what was rendered, not at the plan's intentions.
 *
 * @param sent the rendered body, read anew; null if it could not be read
 */
export function checkRendered(
  request: ProviderRequest,
  sent: ProviderRequest | null,
  { epoch, plan }: { readonly epoch: Epoch | null; readonly plan: RequestPlan },
): string[] {
  if (sent === null) return ['unreadable']
  const faults: string[] = []
  const isHeadKept = plan.hasRecallTool
    ? epoch?.sentHead === sent.head.hash || plan.isNewEpoch
    : sent.head.hash === request.head.hash
  // A client may change its tools and instructions in a conversation, with or without the proxy's own tool.
  const isHeadOfClient = epoch !== null && epoch.head !== request.head.hash
  if ((!isHeadKept && !isHeadOfClient) || sent.model !== request.model) faults.push('head-changed')
  if (epoch !== null && !plan.isNewEpoch && !beginsWith(sent, epoch.sent ?? epoch.entries))
    faults.push('prefix-changed')
  const orphans = orphansOf(request)
  if ([...orphansOf(sent)].some((id) => !orphans.has(id))) faults.push('pair-broken')
  if (marksOf(sent) > Math.max(CACHE_MARKS_MAX, marksOf(request))) faults.push('too-many-marks')
  if (firstKind(sent) !== 'user' && firstKind(request) === 'user') faults.push('begins-without-user')
  if (sent.entries.at(-1)?.hash !== request.entries.at(-1)?.hash && sent.entries.at(-1)?.kind !== 'results')
    faults.push('last-entry-changed')
  return faults
}

function beginsWith({ entries }: ProviderRequest, hashes: readonly string[]): boolean {
  return hashes.length <= entries.length && hashes.every((each, index) => entries[index]?.hash === each)
}

/** Ids of results without an earlier call, and of calls without a later result. */
function orphansOf({ entries }: ProviderRequest): Set<string> {
  const open = new Set<string>()
  const orphans = new Set<string>()
  for (const { calls, resultIds } of entries) {
    for (const id of resultIds) if (!open.delete(id)) orphans.add(id)
    for (const { id } of calls) open.add(id)
  }
  for (const id of open) orphans.add(id)
  return orphans
}

function marksOf({ head, entries }: ProviderRequest): number {
  return entries.reduce((sum, { cacheMarks }) => sum + cacheMarks, head.cacheMarks)
}

function firstKind({ entries }: ProviderRequest): string | undefined {
  return entries.find(({ kind }) => kind !== 'instruction')?.kind
}
