import type { SummarizationProvider } from '@heddle/contracts'

/** How to reach a provider of language models. */
export interface Provider {
  readonly name: Exclude<SummarizationProvider, 'extractive'>
  /** The protocol that it speaks. */
  readonly protocol: 'openai' | 'anthropic'
  readonly baseUrl: string
  /** Environment variables for its key, of which the first that is set is used; empty if it needs no key. */
  readonly keyVariables: readonly string[]
  /** The environment variable for another address, such as a proxy's. */
  readonly baseUrlVariable: string
  /** The model used if only the provider is named, or if the agent itself uses its large one. */
  readonly smallModel: string
  /** Prefixes of its model names, by which the current provider is recognized. */
  readonly modelPrefixes: readonly string[]
  /** The request field for the longest answer. */
  readonly outputField: 'max_tokens' | 'max_completion_tokens'
  /** Most tokens of the provider per token of o200k. */
  readonly margin: number
}

const openAiLike = { protocol: 'openai', outputField: 'max_completion_tokens', margin: 1.25 } as const

/** All providers that Heddle knows by name. Another one that is compatible with OpenAI is reached with OPENAI_BASE_URL. */
export const providers: readonly Provider[] = [
  {
    ...openAiLike,
    name: 'cerebras',
    baseUrl: 'https://api.cerebras.ai/v1',
    keyVariables: ['CEREBRAS_API_KEY'],
    baseUrlVariable: 'CEREBRAS_BASE_URL',
    smallModel: 'llama3.1-8b',
    modelPrefixes: [],
  },
  {
    ...openAiLike,
    name: 'xai',
    baseUrl: 'https://api.x.ai/v1',
    keyVariables: ['XAI_API_KEY'],
    baseUrlVariable: 'XAI_BASE_URL',
    smallModel: 'grok-3-mini',
    modelPrefixes: ['grok-'],
  },
  {
    ...openAiLike,
    name: 'groq',
    baseUrl: 'https://api.groq.com/openai/v1',
    keyVariables: ['GROQ_API_KEY'],
    baseUrlVariable: 'GROQ_BASE_URL',
    smallModel: 'llama-3.1-8b-instant',
    modelPrefixes: [],
  },
  {
    ...openAiLike,
    name: 'gemini',
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta/openai',
    keyVariables: ['GEMINI_API_KEY', 'GOOGLE_API_KEY'],
    baseUrlVariable: 'GEMINI_BASE_URL',
    smallModel: 'gemini-3-flash',
    modelPrefixes: ['gemini-'],
    outputField: 'max_tokens',
  },
  {
    ...openAiLike,
    name: 'openai',
    baseUrl: 'https://api.openai.com/v1',
    keyVariables: ['OPENAI_API_KEY'],
    baseUrlVariable: 'OPENAI_BASE_URL',
    smallModel: 'gpt-4o-mini',
    modelPrefixes: ['gpt-', 'o1', 'o3', 'o4', 'chatgpt-'],
  },
  {
    name: 'anthropic',
    protocol: 'anthropic',
    baseUrl: 'https://api.anthropic.com',
    keyVariables: ['ANTHROPIC_API_KEY'],
    baseUrlVariable: 'ANTHROPIC_BASE_URL',
    smallModel: 'claude-haiku-4-5',
    modelPrefixes: ['claude-'],
    outputField: 'max_tokens',
    margin: 1.6,
  },
  {
    ...openAiLike,
    name: 'mistral',
    baseUrl: 'https://api.mistral.ai/v1',
    keyVariables: ['MISTRAL_API_KEY'],
    baseUrlVariable: 'MISTRAL_BASE_URL',
    smallModel: 'mistral-small-latest',
    modelPrefixes: ['mistral-', 'ministral-', 'codestral-', 'magistral-'],
    outputField: 'max_tokens',
  },
  {
    ...openAiLike,
    name: 'deepseek',
    baseUrl: 'https://api.deepseek.com/v1',
    keyVariables: ['DEEPSEEK_API_KEY'],
    baseUrlVariable: 'DEEPSEEK_BASE_URL',
    smallModel: 'deepseek-chat',
    modelPrefixes: ['deepseek-'],
    outputField: 'max_tokens',
  },
  {
    ...openAiLike,
    name: 'openrouter',
    baseUrl: 'https://openrouter.ai/api/v1',
    keyVariables: ['OPENROUTER_API_KEY'],
    baseUrlVariable: 'OPENROUTER_BASE_URL',
    smallModel: 'openai/gpt-4o-mini',
    modelPrefixes: [],
    outputField: 'max_tokens',
  },
  {
    ...openAiLike,
    name: 'ollama',
    baseUrl: 'http://127.0.0.1:11434/v1',
    keyVariables: [],
    baseUrlVariable: 'OLLAMA_BASE_URL',
    smallModel: 'llama3.2',
    modelPrefixes: [],
    outputField: 'max_tokens',
    margin: 1.4,
  },
]

/** Fast models, by tokens per second (docs/summaries.md#which-model). */
export const fastModels: readonly { readonly provider: string; readonly model: string; readonly speed: number }[] = [
  { provider: 'cerebras', model: 'llama3.1-8b', speed: 2_000 },
  { provider: 'cerebras', model: 'llama-3.3-70b', speed: 1_500 },
  { provider: 'xai', model: 'grok-3-mini', speed: 1_200 },
  { provider: 'xai', model: 'grok-4-1-fast', speed: 1_000 },
  { provider: 'groq', model: 'llama-3.1-8b-instant', speed: 800 },
  { provider: 'gemini', model: 'gemini-3-flash', speed: 250 },
]

export interface ModelFacts {
  /** Tokens of input and answer together. */
  readonly windowTokens: number
  /** US dollars for a million tokens, of input and of output. List prices when this was written; null if unknown. */
  readonly price: readonly [input: number, output: number] | null
}

const facts: Readonly<Record<string, ModelFacts>> = {
  'cerebras/llama3.1-8b': { windowTokens: 8_192, price: [0.1, 0.1] },
  'cerebras/llama-3.3-70b': { windowTokens: 65_536, price: [0.85, 1.2] },
  'xai/grok-3-mini': { windowTokens: 131_072, price: [0.3, 0.5] },
  'xai/grok-4-1-fast': { windowTokens: 2_000_000, price: [0.2, 0.5] },
  'groq/llama-3.1-8b-instant': { windowTokens: 131_072, price: [0.05, 0.08] },
  'gemini/gemini-3-flash': { windowTokens: 1_048_576, price: [0.5, 3] },
  'openai/gpt-4o-mini': { windowTokens: 128_000, price: [0.15, 0.6] },
  'anthropic/claude-haiku-4-5': { windowTokens: 200_000, price: [1, 5] },
  'mistral/mistral-small-latest': { windowTokens: 128_000, price: [0.1, 0.3] },
  'deepseek/deepseek-chat': { windowTokens: 128_000, price: [0.28, 0.42] },
  'openrouter/openai/gpt-4o-mini': { windowTokens: 128_000, price: [0.15, 0.6] },
}

/** The window assumed for an unknown model: even small local models have as much. */
const UNKNOWN_WINDOW_TOKENS = 8_000

export function modelFacts(provider: string, model: string): ModelFacts {
  const known = facts[`${provider}/${model}`]
  if (known !== undefined) return known
  // Local models have no price per token.
  return { windowTokens: UNKNOWN_WINDOW_TOKENS, price: provider === 'ollama' ? [0, 0] : null }
}
