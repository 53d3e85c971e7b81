import { traced } from '@heddle/runtime'
import type { Embedder } from './embedder.js'

/** An embedder whose calls are spans, by the conventions of OpenTelemetry for generative models. Texts are not recorded. */
export function tracedEmbedder(embedder: Embedder): Embedder {
  const { model, dimensions } = embedder
  const attributes = {
    'gen_ai.operation.name': 'embeddings',
    'gen_ai.request.model': model,
    'gen_ai.embeddings.dimension.count': dimensions,
  }
  return {
    ...embedder,
    embed: (texts, signal) =>
      traced(
        `embeddings ${model}`,
        { kind: 'client', attributes: { ...attributes, 'heddle.texts': texts.length } },
        () => embedder.embed(texts, signal),
      ),
  }
}
