/** Families of models by the beginnings of their names. */
const FAMILIES: readonly (readonly [pattern: RegExp, provider: string])[] = [
  [/^claude/, 'anthropic'],
  [/^(?:gpt|chatgpt|o\d|text-|davinci)/, 'openai'],
  [/^(?:gemini|gemma|palm)/, 'google'],
  [/^(?:mistral|mixtral|codestral|ministral|magistral|devstral|pixtral|open-mi)/, 'mistral'],
  [/^deepseek/, 'deepseek'],
  [/^grok/, 'xai'],
  [/^command/, 'cohere'],
  [/^(?:qwen|qwq)/, 'alibaba'],
  [/^(?:llama|meta-llama|codellama)/, 'meta'],
]

/** The provider of a model: the beginning of its name up to a slash, else that of its family; `unknown` without either. */
export function providerOf(model: string): string {
  const slash = model.indexOf('/')
  if (slash > 0) return model.slice(0, slash).toLowerCase()
  return FAMILIES.find(([pattern]) => pattern.test(model.toLowerCase()))?.[1] ?? 'unknown'
}
