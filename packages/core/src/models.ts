import type { ModelLimits } from '@heddle/contracts'

/**
 * Context windows in tokens (spec 003's table), by the beginning of the model's name; the longest match counts. `margin` is by
 * how much a family's own tokenizer may count more than o200k does: Claude's has been seen at 1.55 times.
 */
const FAMILIES: readonly (readonly [prefix: string, limits: { readonly window: number; readonly margin: number }])[] = [
  ['claude-', { window: 200_000, margin: 1.55 }],
  ['claude-3-5-sonnet', { window: 200_000, margin: 1.55 }],
  ['claude-3-opus', { window: 200_000, margin: 1.55 }],
  ['gpt-4-turbo', { window: 128_000, margin: 1.15 }],
  ['gpt-4o', { window: 128_000, margin: 1 }],
  ['gemini-pro', { window: 32_000, margin: 1.15 }],
]

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

function familyOf(model: string | null) {
  let best: (typeof FAMILIES)[number] | undefined
  // A name may have its provider before it, as in models.dev: `anthropic/claude-3-opus`.
  const name = model?.slice(model.lastIndexOf('/') + 1)
  for (const entry of FAMILIES) {
    if (name?.startsWith(entry[0]) && (best === undefined || entry[0].length > best[0].length)) best = entry
  }
  return best?.[1]
}
