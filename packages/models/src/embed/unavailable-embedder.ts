import type { HeddleError } from '@heddle/contracts'
import type { Embedder } from './embedder.js'

/**
 * Stands where the configuration asks for an embedder that cannot be had: every call says why. So a process starts all the
 * same, contexts are built without what needs vectors, and the jobs of the embed stage fail with the reason.
 */
export function createUnavailableEmbedder(model: string, reason: HeddleError): Embedder {
  return {
    model,
    dimensions: 0,
    embed: () => Promise.reject(reason),
    close: async () => {},
  }
}
