import { RetryableError } from '@heddle/contracts'
import { redactSecrets } from '@heddle/core'
import { type PatienceOptions, PatientCalls } from '../chat/patient-calls.js'
import { checkTexts, type Reranker, readQuery, readText, rerankerClosed } from './reranker.js'

export interface HttpRerankerOptions extends PatienceOptions {
  readonly model: string
  /** Address of the service without `/rerank`, such as `https://api.cohere.com/v2`. */
  readonly baseUrl: string
  /** Null if the service needs no key. */
  readonly apiKey: string | null
}

/** Characters of an answer: far more than an index and a score for each of 200 texts. */
const ANSWER_CHARACTERS_MAX = 1_000_000

/**
 * A reranker behind `POST <baseUrl>/rerank`, as Cohere and Jina define it, and vLLM and llama.cpp serve it. Secrets in texts are
 * redacted, as in prompts to models. A service that fails repeatedly is not called for a while.
 */
export function createHttpReranker(options: HttpRerankerOptions): Reranker {
  const { model, baseUrl, apiKey } = options
  const url = `${baseUrl.endsWith('/') ? baseUrl.slice(0, -1) : baseUrl}/rerank`
  const calls = new PatientCalls({ provider: new URL(baseUrl).host, model }, options)
  const closing = new AbortController()
  return {
    model,
    async score(query, texts, signal) {
      checkTexts(texts)
      signal?.throwIfAborted()
      if (closing.signal.aborted) throw closing.signal.reason
      if (texts.length === 0) return []
      const body = JSON.stringify({
        model,
        query: sendable(readQuery(query)),
        documents: texts.map((text) => sendable(readText(text))),
        top_n: texts.length,
        return_documents: false,
      })
      const either = signal === undefined ? closing.signal : AbortSignal.any([closing.signal, signal])
      return await calls.run(async (stopped) => {
        const answer = await fetch(url, {
          method: 'POST',
          headers: {
            'content-type': 'application/json',
            ...(apiKey === null ? {} : { authorization: `Bearer ${apiKey}` }),
          },
          body,
          // A redirect could send texts and key to another server.
          redirect: 'error',
          signal: stopped,
        })
        const text = (await answer.text()).slice(0, ANSWER_CHARACTERS_MAX)
        if (!answer.ok) throw { status: answer.status, headers: answer.headers, message: text }
        return scoresIn(text, texts.length, model)
      }, either)
    },
    async close() {
      closing.abort(rerankerClosed(model))
    },
  }
}

/** Services refuse an empty text. */
function sendable(text: string): string {
  const read = redactSecrets(text.toWellFormed())
  return read.trim() === '' ? '-' : read
}

/** The scores of an answer by their indexes; the answer is validated, because it is untrusted. */
function scoresIn(answer: string, count: number, model: string): number[] {
  const scores: (number | undefined)[] = new Array(count).fill(undefined)
  for (const entry of resultsIn(answer)) {
    const { index, relevance_score: score } = (entry ?? {}) as { index?: unknown; relevance_score?: unknown }
    if (typeof index !== 'number' || !(index in scores)) continue
    if (typeof score === 'number' && Number.isFinite(score)) scores[index] = score
  }
  return scores.map((score) => {
    if (score !== undefined) return score
    throw new RetryableError('SERVICE_UNAVAILABLE', `the answer of ${model} was not a score for each of ${count} texts`)
  })
}

function resultsIn(answer: string): unknown[] {
  try {
    const { results } = (JSON.parse(answer) ?? {}) as { results?: unknown }
    return Array.isArray(results) ? results : []
  } catch {
    return []
  }
}
