import { HeddleError, PermanentError } from '@heddle/contracts'
import { type Clock, type Logger, systemClock } from '@heddle/runtime'
import type { Embedder } from './embedder.js'
import { createHashingEmbedder } from './hashing-embedder.js'
import { createLocalEmbedder, type LocalEmbedderOptions } from './local-embedder.js'
import { DEFAULT_MODEL, transformersCacheDir } from './local-models.js'
import { createOpenAiEmbedder, DEFAULT_OPENAI_MODEL, OPENAI_BASE_URL } from './openai-embedder.js'
import { createUnavailableEmbedder } from './unavailable-embedder.js'

/** The embedder settings of the configuration. */
export interface EmbedderSettings {
  /** `auto` uses the local model if its files are on disk and can be loaded, else `hashing`. */
  readonly kind: 'auto' | 'hashing' | 'local' | 'openai'
  /** Null for the default of the kind: `Xenova/all-MiniLM-L6-v2`, or `text-embedding-3-small`. */
  readonly model: string | null
  /** The folder of local models; null: only the cache of transformers.js is searched. */
  readonly modelsDir: string | null
  /** Address of a service with OpenAI's `/embeddings`; null for `OPENAI_BASE_URL`, else OpenAI's own. */
  readonly baseUrl: string | null
  /** Dimensions of shortened vectors, if the service supports them; null for the model's own. */
  readonly dimensions: number | null
  /** Threads of a local model; null for a number that suits the machine. */
  readonly threads: number | null
}

export interface EmbedderEnvironment {
  /** Environment variables with keys and the cache folder of transformers.js. */
  readonly env: Readonly<Record<string, string | undefined>>
  readonly log: Pick<Logger, 'info' | 'warn'>
  readonly clock?: Clock
}

export interface ChosenEmbedder {
  readonly embedder: Embedder
  /** A sentence for `doctor` that says why it was chosen. */
  readonly reason: string
  /** Whether a preferred embedder was unavailable. */
  readonly fellBack: boolean
  /** Why the configured embedder is unavailable; all of its calls fail with this error. */
  readonly fault: HeddleError | null
}

/**
 * The configured embedder; else a local model on disk; else `hashing`. The choice is always logged and reported, because
 * vectors of two models are not comparable, and `hashing` finds words where a model finds meanings. A service is used only
 * if it is configured: a key set for another purpose is no permission to send it every message.
 *
 * Does not throw if the embedder is unavailable: see {@link ChosenEmbedder.fault}.
 */
export async function chooseEmbedder(
  settings: EmbedderSettings,
  environment: EmbedderEnvironment,
): Promise<ChosenEmbedder> {
  const chosen = await choose(settings, environment)
  const { embedder, reason, fellBack, fault } = chosen
  const facts = { embedder: embedder.model, dimensions: embedder.dimensions, reason }
  if (fellBack || fault !== null) environment.log.warn(facts, 'embedder chosen')
  else environment.log.info(facts, 'embedder chosen')
  return chosen
}

async function choose(settings: EmbedderSettings, environment: EmbedderEnvironment): Promise<ChosenEmbedder> {
  const { kind } = settings
  if (kind === 'hashing') return asked(createHashingEmbedder())
  try {
    if (kind === 'openai') return asked(await openOpenAi(settings, environment))
    const embedder = await openLocal(settings, environment)
    if (kind === 'local') return asked(embedder)
    return { ...asked(embedder), reason: `the files of ${embedder.model} are on disk` }
  } catch (error) {
    if (!(error instanceof HeddleError)) throw error
    if (kind === 'auto') {
      const reason = `words only, since ${error.message}`
      return { embedder: createHashingEmbedder(), reason, fellBack: true, fault: null }
    }
    const model = settings.model ?? (kind === 'openai' ? DEFAULT_OPENAI_MODEL : DEFAULT_MODEL)
    const reason = `the configuration selects it, and ${error.message}`
    return { embedder: createUnavailableEmbedder(model, error), reason, fellBack: false, fault: error }
  }
}

function asked(embedder: Embedder): ChosenEmbedder {
  const reason = `the configuration selects ${embedder.model}`
  return { embedder, reason, fellBack: false, fault: null }
}

/**
 * Loads a model of a folder and embeds a text with it.
 *
 * @throws PermanentError if it is missing, or its files are damaged
 */
export async function checkLocalModel(model: string, folder: string): Promise<{ dimensions: number }> {
  const settings = { model, modelsDir: folder, threads: 1 }
  const embedder = await openLocal(settings, { env: { TRANSFORMERS_CACHE: folder }, log: quiet })
  await embedder.close()
  return { dimensions: embedder.dimensions }
}

const quiet: EmbedderEnvironment['log'] = { info: () => {}, warn: () => {} }

/** Embeds one text, because only that shows that the files are not damaged. */
export async function openLocal(
  { model, modelsDir, threads }: Pick<EmbedderSettings, 'model' | 'modelsDir' | 'threads'>,
  { env, clock }: EmbedderEnvironment,
): Promise<Embedder> {
  const options: LocalEmbedderOptions = {
    model: model ?? DEFAULT_MODEL,
    modelsDir,
    cacheDir: transformersCacheDir(env),
    ...(threads !== null && { threads }),
    clock,
  }
  const embedder = await createLocalEmbedder(options)
  try {
    await embedder.embed([''])
    return embedder
  } catch (error) {
    await embedder.close()
    throw error
  }
}

export async function openOpenAi(
  { model, baseUrl, dimensions }: Pick<EmbedderSettings, 'model' | 'baseUrl' | 'dimensions'>,
  { env, clock }: EmbedderEnvironment,
): Promise<Embedder> {
  const apiKey = env['OPENAI_API_KEY']?.trim() || null
  const address = baseUrl ?? (env['OPENAI_BASE_URL']?.trim() || OPENAI_BASE_URL)
  if (apiKey === null && address === OPENAI_BASE_URL) {
    throw new PermanentError('UNAUTHORIZED', 'the embedder "openai" has no key: OPENAI_API_KEY is not set', {
      field: 'OPENAI_API_KEY',
      hint: 'Set OPENAI_API_KEY, or name a service that needs none with HEDDLE_EMBEDDING_BASE_URL.',
    })
  }
  return await createOpenAiEmbedder({
    model: model ?? DEFAULT_OPENAI_MODEL,
    baseUrl: address,
    apiKey,
    clock: clock ?? systemClock,
    ...(dimensions !== null && { dimensions }),
  })
}
