import type { Embedders } from '@heddle/models'
import type { Config, Logger } from '@heddle/runtime'
import type { QueryEmbedder } from '@heddle/store'
import type { CloseStack } from './close-stack.js'

const CLOSE_MS = 10_000

/**
 * The embedder for queries, opened by the first search: most commands need none, and loading a model takes a moment. Each
 * search reports which model was used.
 */
export function openQueryEmbedder(
  { config, log, env }: { config: Config; log: Logger; env: Readonly<Record<string, string | undefined>> },
  opened: CloseStack,
): QueryEmbedder {
  let opening: Promise<Embedders> | undefined
  const open = async () => {
    const { createEmbedders } = await import('@heddle/models')
    const quiet = { info: log.debug.bind(log), warn: log.debug.bind(log) }
    const embedders = createEmbedders(config.embedder, { env, log: quiet })
    opened.push('query embedder', CLOSE_MS, () => embedders.close())
    return embedders
  }
  return async (model) => {
    opening ??= open()
    const embedders = await opening
    return model === undefined ? (await embedders.chosen()).embedder : await embedders.of(model)
  }
}
