import { HeddleError } from '@heddle/contracts'
import {
  type ChosenEmbedder,
  chooseEmbedder,
  type EmbedderEnvironment,
  type EmbedderSettings,
  openLocal,
  openOpenAi,
} from './choose-embedder.js'
import type { Embedder } from './embedder.js'
import { createHashingEmbedder, HASHING_MODEL } from './hashing-embedder.js'
import { tracedEmbedder } from './traced-embedder.js'

/** The embedders of a process. A model is opened once, at its first use, because it may take memory and threads. */
export interface Embedders {
  /** The configured embedder. */
  chosen(): Promise<ChosenEmbedder>
  /**
   * The embedder of a model whose vectors are searched; null if it is unavailable in this process. It differs from the chosen
   * one while the model is being changed.
   */
  of(model: string): Promise<Embedder | null>
  close(): Promise<void>
}

export function createEmbedders(settings: EmbedderSettings, environment: EmbedderEnvironment): Embedders {
  let chosen: Promise<ChosenEmbedder> | undefined
  const others = new Map<string, Promise<Embedder | null>>()
  const choose = () => {
    chosen ??= chooseEmbedder(settings, environment)
      .then(({ embedder, ...how }) => ({ ...how, embedder: tracedEmbedder(embedder) }))
      .catch((error: unknown) => {
        chosen = undefined
        throw error
      })
    return chosen
  }
  return {
    chosen: choose,
    async of(model) {
      const { embedder, fault } = await choose()
      if (embedder.model === model) return fault === null ? embedder : null
      const opening = others.get(model) ?? open(model, settings, environment).then((one) => one && tracedEmbedder(one))
      others.set(model, opening)
      return await opening
    },
    async close() {
      const opened = await Promise.allSettled([chosen?.then(({ embedder }) => embedder), ...others.values()])
      await Promise.all(opened.map((one) => (one.status === 'fulfilled' ? one.value?.close() : undefined)))
    },
  }
}

/** Names of models that OpenAI serves. */
const OF_OPENAI = /^(text-embedding-[\w-]+)(?:@(\d+))?$/

async function open(
  model: string,
  settings: EmbedderSettings,
  environment: EmbedderEnvironment,
): Promise<Embedder | null> {
  try {
    if (model === HASHING_MODEL) return createHashingEmbedder()
    const [, served, dimensions] = OF_OPENAI.exec(model) ?? []
    if (served === undefined) return await openLocal({ ...settings, model }, environment)
    const wanted = dimensions === undefined ? null : Number(dimensions)
    return await openOpenAi({ ...settings, model: served, dimensions: wanted }, environment)
  } catch (error) {
    if (error instanceof HeddleError) return null
    throw error
  }
}
