import type { SearchReranker } from '@heddle/engine'
import type { Reranker } from '@heddle/models'
import type { Config } from '@heddle/runtime'
import type { CloseStack } from './close-stack.js'

const CLOSE_MS = 10_000

/** The reranker of searches, opened by the first of them; null if it is off. */
export function openSearchReranker(
  { config, env }: { config: Config; env: Readonly<Record<string, string | undefined>> },
  opened: CloseStack,
): SearchReranker | null {
  const { candidates, timeoutMs, ...settings } = config.reranker
  if (settings.kind === 'off') return null
  let opening: Promise<Reranker | null> | undefined
  const open = async () => {
    const { openReranker } = await import('@heddle/models')
    const reranker = await openReranker(settings, { env, modelsDir: config.embedder.modelsDir })
    opened.push('reranker', CLOSE_MS, async () => await reranker?.close())
    return reranker
  }
  return {
    candidates,
    timeoutMs,
    async open() {
      // A model that is missing now may be there for the next search.
      opening ??= open().catch((error: unknown) => {
        opening = undefined
        throw error
      })
      return await opening
    },
  }
}
