import type { ModelLimits } from '@heddle/contracts'
import { type KnownModel, knownModels } from './model-windows.js'

/** The window of a model that no table names: that of the models most agents run on. */
export const DEFAULT_WINDOW_TOKENS = 200_000

/** Filled while a process starts and only ever longer, so that what a name means never changes under way. */
const added = new Map<string, ModelLimits>()

/**
 * Makes the windows of models known, over Heddle's own table: those of a models.dev file, see `readModelsFile`. To be called
 * while a process starts, and alike in each that plans or builds.
 */
export function addModels(models: ReadonlyMap<string, ModelLimits>): void {
  for (const [name, limits] of models) added.set(name, limits)
}

export function modelWindowTokens(model: string | null): number {
  return knownWindow(model) ?? DEFAULT_WINDOW_TOKENS
}

/** Whether a table names the model's window, or it is assumed. */
export function isKnownModel(model: string): boolean {
  return knownWindow(model) !== undefined
}

/** By how much the model's tokenizer may count more than o200k; 1 where nothing is known of it. */
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
  // What a colon parts may be a maker and a model (`openai:gpt-4`), or a model and its kind (`gpt-4:extended`).
  const found = [name, name.slice(name.indexOf(':') + 1)].flatMap((each) => longestKnown(each) ?? [])
  const [beginning] = found.sort((one, other) => other.length - one.length)
  return beginning === undefined ? undefined : knownModels.get(beginning)
}

/** A name without who serves it: `anthropic/claude-3-opus`, `us.anthropic.claude-3-opus`, `models/gemini-pro`. */
function ownName(model: string): string {
  return model
    .slice(model.lastIndexOf('/') + 1)
    .toLowerCase()
    .replace(/^(?:[a-z-]+\.)+/, '')
}

/** The longest known beginning of a name, at a place where a name may end: `gpt-4` is none of `gpt-4o` and of `gpt-4.1`. */
function longestKnown(name: string): string | undefined {
  for (let end = name.length; end > 0; end--) {
    if (/^(?![a-z0-9]|\.\d)/.test(name.slice(end)) && knownModels.has(name.slice(0, end))) return name.slice(0, end)
  }
  return undefined
}
