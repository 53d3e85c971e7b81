/** Context windows in tokens (spec 003's table), by the beginning of the model's name; the longest match counts. */
const WINDOWS: readonly (readonly [prefix: string, tokens: number])[] = [
  ['claude-', 200_000],
  ['claude-3-5-sonnet', 200_000],
  ['claude-3-opus', 200_000],
  ['gpt-4-turbo', 128_000],
  ['gpt-4o', 128_000],
  ['gemini-pro', 32_000],
]

/** The window of a model that no table names: that of the models most agents run on. */
export const DEFAULT_WINDOW_TOKENS = 200_000

export function modelWindowTokens(model: string | null): number {
  return knownWindow(model) ?? DEFAULT_WINDOW_TOKENS
}

/** Whether a table names the model's window, or it is assumed. */
export function isKnownModel(model: string): boolean {
  return knownWindow(model) !== undefined
}

function knownWindow(model: string | null): number | undefined {
  let best: readonly [string, number] | undefined
  for (const entry of WINDOWS) {
    if (model?.startsWith(entry[0]) && (best === undefined || entry[0].length > best[0].length)) best = entry
  }
  return best?.[1]
}
