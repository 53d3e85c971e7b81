import { defaultSettings, type ModelLimits, type Settings } from '@heddle/contracts'
import { type KnownModel, knownModels } from './model-windows.js'

/** Filled at startup and never changed for an existing name, so that the meaning of a name is stable. */
const added = new Map<string, ModelLimits>()

/**
 * Adds the windows of a models.dev file, see `readModelsFile`, which override Heddle's own table. To be called at
 * startup, with the same file in each process that plans or builds.
 */
export function addModels(models: ReadonlyMap<string, ModelLimits>): void {
  for (const [name, limits] of models) added.set(name, limits)
}

/** @param assumed the window of a model that no table has; default that of the default settings */
export function modelWindowTokens(model: string | null, assumed: number = defaultSettings.unknownModelWindow): number {
  return knownWindow(model) ?? assumed
}

/** The window that settings assume for their model; null if a table has it, or no model is named. */
export function assumedWindow({
  model,
  unknownModelWindow,
}: Pick<Settings, 'model' | 'unknownModelWindow'>): { model: string; tokens: number } | null {
  return model === null || isKnownModel(model) ? null : { model, tokens: unknownModelWindow }
}

/** Whether a table has the model; if not, its window is assumed. */
export function isKnownModel(model: string): boolean {
  return knownWindow(model) !== undefined
}

/** Maximum ratio of the model's token count to o200k's; 1 if unknown. */
export function modelMargin(model: string | null): number {
  return familyOf(model)?.margin ?? 1
}

function knownWindow(model: string | null): number | undefined {
  if (model === null) return undefined
  return added.get(model)?.window ?? familyOf(model)?.window
}

function familyOf(model: string | null): KnownModel | undefined {
  if (model === null) return undefined
  const name = ownName(model)
  // A colon may separate a maker and a model (`openai:gpt-4`), or a model and its kind (`gpt-4:extended`).
  const found = [name, name.slice(name.indexOf(':') + 1)].flatMap((each) => longestKnown(each) ?? [])
  const [beginning] = found.sort((one, other) => other.length - one.length)
  return beginning === undefined ? undefined : knownModels.get(beginning)
}

/** A name without its provider: `anthropic/claude-3-opus`, `us.anthropic.claude-3-opus`, `models/gemini-pro`. */
function ownName(model: string): string {
  return model
    .slice(model.lastIndexOf('/') + 1)
    .toLowerCase()
    .replace(/^(?:[a-z-]+\.)+/, '')
}

/** The longest known prefix of a name that ends at a word boundary: `gpt-4` is no prefix of `gpt-4o` or `gpt-4.1`. */
function longestKnown(name: string): string | undefined {
  for (let end = name.length; end > 0; end--) {
    if (/^(?![a-z0-9]|\.\d)/.test(name.slice(end)) && knownModels.has(name.slice(0, end))) return name.slice(0, end)
  }
  return undefined
}
