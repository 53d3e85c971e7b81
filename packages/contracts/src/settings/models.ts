import { z } from 'zod'
import { validationError } from '../errors.js'
import { wording } from '../primitives/zod-messages.js'

export interface ModelLimits {
  /** Tokens that a request and its answer may take together. */
  readonly window: number
}

const modelSchema = z.object({ limit: z.object({ context: z.int().min(0) }) })

/** The file of https://models.dev/api.json, as far as Heddle reads it: providers by id, and their models by id. */
const modelsFileSchema = z.record(z.string(), z.object({ models: z.record(z.string(), modelSchema) }))

/**
 * The windows of the models in a models.dev file, by the model's id and by `provider/id`. If several providers have one
 * id, the smallest window counts. Models without a window are skipped.
 *
 * @throws PermanentError `VALIDATION_ERROR` that names the place in the file
 */
export function readModelsFile(content: unknown): ReadonlyMap<string, ModelLimits> {
  const parsed = modelsFileSchema.safeParse(content, { error: wording })
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    throw validationError(`models.${issue?.path.join('.')}`, issue?.message ?? 'must be a models.dev file', content)
  }
  const models = new Map<string, ModelLimits>()
  for (const [provider, { models: own }] of Object.entries(parsed.data)) {
    for (const [id, { limit }] of Object.entries(own)) {
      if (limit.context === 0) continue
      models.set(`${provider}/${id}`, { window: limit.context })
      models.set(id, { window: Math.min(limit.context, models.get(id)?.window ?? limit.context) })
    }
  }
  return models
}
