import type { HeddleError } from '@heddle/contracts'
import type { Embedder } from './embedder.js'

/**
 * Replaces a configured embedder that is unavailable: every call fails with the reason. So a process can start, contexts are
 * built without vectors, and jobs of the embed stage fail with the reason.
 */
export function createUnavailableEmbedder(model: string, reason: HeddleError): Embedder {
  return {
    model,
    dimensions: 0,
    embed: () => Promise.reject(reason),
    close: async () => {},
  }
}
