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
  /** Of any service with OpenAI's `/embeddings`. Default OpenAI's own. */
  readonly baseUrl?: string
  /** Null where the service needs none. */
  readonly apiKey: string | null
  /** Asks for shorter vectors, where the model can make them. Default: as many as the model gives. */
  readonly dimensions?: number
}

/** What OpenAI gives without being asked for fewer; of other models the first answer tells. */
const knownDimensions: Readonly<Record<string, number>> = {
  'text-embedding-3-small': 1_536,
  'text-embedding-3-large': 3_072,
  'text-embedding-ada-002': 1_536,
}

/** Texts of one request; OpenAI takes 2,048, others less. */
const REQUEST_TEXTS_MAX = 256
/** Tokens of one request, two characters each where the text is dense; OpenAI takes 300,000. */
const REQUEST_CHARACTERS_MAX = 200_000
/** Characters of a text that are sent: never more than 8,191 tokens, of which OpenAI's models read as many. */
const TEXT_CHARACTERS_MAX = 8_000
/** Requests under way at once. */
const REQUESTS_AT_ONCE = 2

/**
 * An embedder behind OpenAI's `/embeddings`, of OpenAI or of anybody who speaks its protocol. Requests are bounded by texts and
 * by tokens, tried again as late as the service asks for, and a service that fails again and again is left alone for a while.
 *
 * @throws whatever the first call throws, for a model whose number of dimensions is not known
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

/** Without what looks like a secret, as in questions to models. The services refuse an empty text, which still needs a vector. */
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

/** The vectors of a reply, at unit length; what it says is not trusted. */
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
      hint: 'Set HEDDLE_EMBEDDING_DIMENSIONS to what the model gives.',
    },
  )
}
