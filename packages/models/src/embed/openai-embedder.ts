import { PermanentError, RetryableError } from '@heddle/contracts'
import { redactSecrets } from '@heddle/core'
import { mapConcurrently } from '@heddle/runtime'
import type OpenAI from 'openai'
import { type PatienceOptions, PatientCalls } from '../chat/patient-calls.js'
import { checkTexts, type Embedder, embedderClosed } from './embedder.js'

export const OPENAI_BASE_URL = 'https://api.openai.com/v1'
export const DEFAULT_OPENAI_MODEL = 'text-embedding-3-small'

export interface OpenAiEmbedderOptions extends PatienceOptions {
  /** Default `text-embedding-3-small`. */
  readonly model?: string
  /** Address of a service with OpenAI's `/embeddings`. Default OpenAI's own. */
  readonly baseUrl?: string
  /** Null if the service needs no key. */
  readonly apiKey: string | null
  /** Requests shorter vectors, if the model supports them. Default: the model's own number. */
  readonly dimensions?: number
}

/** Default dimensions of OpenAI's models; for other models the first answer shows them. */
const knownDimensions: Readonly<Record<string, number>> = {
  'text-embedding-3-small': 1_536,
  'text-embedding-3-large': 3_072,
  'text-embedding-ada-002': 1_536,
}

/** Texts of one request; OpenAI takes 2,048, others less. */
const REQUEST_TEXTS_MAX = 256
/** Characters of one request, at least two per token in dense text; OpenAI takes 300,000 tokens. */
const REQUEST_CHARACTERS_MAX = 200_000
/** Characters of a text that are sent: never more than 8,191 tokens, which is the limit of OpenAI's models. */
const TEXT_CHARACTERS_MAX = 8_000
/** Concurrent requests. */
const REQUESTS_AT_ONCE = 2

/**
 * An embedder behind OpenAI's `/embeddings`, of OpenAI or a compatible service. Requests are limited by texts and tokens,
 * and retried after the delay that the service requests; a service that fails repeatedly is not called for a while.
 *
 * @throws any error of the first call, for a model whose number of dimensions is unknown
 */
export async function createOpenAiEmbedder(options: OpenAiEmbedderOptions): Promise<Embedder> {
  const { model = DEFAULT_OPENAI_MODEL, baseUrl = OPENAI_BASE_URL, apiKey, dimensions: wanted } = options
  const calls = new PatientCalls({ provider: new URL(baseUrl).host, model }, options)
  const closing = new AbortController()
  let client: Promise<OpenAI> | undefined
  const open = async () => {
    // Loaded with the first call: most processes never make one.
    const { default: Client } = await import('openai')
    // Retries and timeouts are Heddle's own, so that they follow the injected clock.
    return new Client({ apiKey: apiKey ?? 'none', baseURL: baseUrl, maxRetries: 0, logLevel: 'off' })
  }
  const request = async (texts: readonly string[], signal: AbortSignal): Promise<Float32Array[]> => {
    client ??= open()
    const { embeddings } = await client
    return await calls.run(async (either) => {
      const reply = await embeddings.create(
        {
          model,
          input: [...texts],
          encoding_format: 'float',
          dimensions: wanted,
        },
        { signal: either },
      )
      return readReply(reply, texts.length, model)
    }, signal)
  }

  const dimensions = wanted ?? knownDimensions[model] ?? (await probeDimensions(request))
  return {
    model: wanted === undefined ? model : `${model}@${wanted}`,
    dimensions,
    async embed(texts, signal) {
      checkTexts(texts)
      signal?.throwIfAborted()
      if (closing.signal.aborted) throw closing.signal.reason
      const vectors = await mapConcurrently(batchesOf(texts.map(sendable)), request, {
        atOnce: REQUESTS_AT_ONCE,
        signal: signal === undefined ? closing.signal : AbortSignal.any([closing.signal, signal]),
      })
      return vectors.flat().map((vector) => {
        if (vector.length === dimensions) return vector
        throw wrongDimensions(model, vector.length, dimensions)
      })
    },
    async close() {
      closing.abort(embedderClosed(model))
    },
  }
}

async function probeDimensions(
  request: (texts: readonly string[], signal: AbortSignal) => Promise<Float32Array[]>,
): Promise<number> {
  const [vector] = await request(['dimensions'], new AbortController().signal)
  return vector?.length ?? 0
}

/** Redacts secrets, as in prompts to models. Replaces an empty text, which services refuse but which needs a vector. */
function sendable(text: string): string {
  const read = redactSecrets(text.slice(0, TEXT_CHARACTERS_MAX).toWellFormed()).slice(0, TEXT_CHARACTERS_MAX)
  return read.trim() === '' ? '-' : read
}

function batchesOf(texts: readonly string[]): string[][] {
  const batches: string[][] = []
  let characters = 0
  for (const text of texts) {
    const open = batches.at(-1)
    characters += text.length
    if (open !== undefined && open.length < REQUEST_TEXTS_MAX && characters <= REQUEST_CHARACTERS_MAX) {
      open.push(text)
      continue
    }
    batches.push([text])
    characters = text.length
  }
  return batches
}

/** The vectors of a reply, at unit length; the reply is validated, because it is untrusted. */
function readReply({ data }: { readonly data?: unknown }, count: number, model: string): Float32Array[] {
  const entries: unknown[] = Array.isArray(data) ? data : []
  const vectors: (Float32Array | undefined)[] = new Array(count).fill(undefined)
  for (const [place, entry] of entries.entries()) {
    const { index = place, embedding } = (entry ?? {}) as { index?: unknown; embedding?: unknown }
    if (typeof index === 'number' && index >= 0 && index < count) vectors[index] = unitVector(embedding)
  }
  return vectors.map((vector) => {
    if (vector !== undefined && entries.length === count) return vector
    throw new RetryableError(
      'SERVICE_UNAVAILABLE',
      `the answer of ${model} was not one vector for each of ${count} texts`,
    )
  })
}

function unitVector(embedding: unknown): Float32Array | undefined {
  if (!Array.isArray(embedding) || embedding.length === 0) return undefined
  if (!embedding.every((value): value is number => typeof value === 'number' && Number.isFinite(value)))
    return undefined
  const length = Math.sqrt(embedding.reduce((sum, value) => sum + value * value, 0))
  return length === 0 ? undefined : Float32Array.from(embedding, (value) => value / length)
}

function wrongDimensions(model: string, received: number, expected: number): PermanentError {
  return new PermanentError(
    'VALIDATION_ERROR',
    `${model} gave ${received} dimensions where ${expected} were expected`,
    {
      field: 'embedder.dimensions',
      received: String(received),
      hint: 'Set HEDDLE_EMBEDDING_DIMENSIONS to the dimensions of the model.',
    },
  )
}
