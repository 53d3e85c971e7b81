/**
 * Known models by prefixes of their names: the windows that their makers published (OpenAI, Anthropic, Google, Meta,
 * Mistral, Cohere, DeepSeek, Alibaba, Microsoft, xAI, Amazon, and Azure's spellings), as of 2026-11-23. If a name was
 * served with several windows, the smaller one is listed unless a longer name distinguishes them. A models.dev file of
 * the user overrides this table.
 *
 * `window` is in the model's own tokens, for the request and its answer together; for models with a separate limit
 * on the request, it is that limit.
 */
export interface KnownModel {
  readonly window: number
  /** Maximum ratio of the model's token count to o200k's. */
  readonly margin: number
}

/** For Claude 1.55 was measured. */
const CLAUDE = 1.55
/** Vocabularies of some 100,000 words and more: cl100k, Gemini's, Llama's from 3 on, and similar ones. */
const LARGE_VOCABULARY = 1.15
/** Vocabularies of some 32,000 words, which split code and languages other than English further. */
const SMALL_VOCABULARY = 1.35
const O200K = 1

/** Windows, with the name prefixes that have them, by the margin of their tokenizers. */
const TABLE: readonly (readonly [margin: number, windows: readonly (readonly [tokens: number, names: string])[]])[] = [
  [
    O200K,
    [
      [128_000, 'gpt-4o chatgpt-4o gpt-4.5 gpt-5-chat o1-mini o1-preview'],
      [131_072, 'gpt-oss'],
      [200_000, 'o1 o3 o4-mini'],
      // 400,000 with the answer, of which a request may use 272,000.
      [272_000, 'gpt-5 gpt-5.1'],
      [1_047_576, 'gpt-4.1'],
    ],
  ],
  [
    LARGE_VOCABULARY,
    [
      [2_048, 'phi-2'],
      [
        4_096,
        `gpt-3.5-turbo-instruct gpt-3.5-turbo-0301 gpt-3.5-turbo-0613 gpt-35-turbo-instruct gpt-35-turbo-0301
        gpt-35-turbo-0613 text-davinci command command-light deepseek-llm phi-3-mini-4k`,
      ],
      [
        8_192,
        `gpt-4 llama-3 llama3 meta-llama-3 gemma gemma2 gemma-2 codegemma text-bison chat-bison titan-text-express
        moonshot-v1-8k phi-3-small-8k`,
      ],
      [16_384, 'deepseek-coder phi-4 phi4 davinci-002 babbage-002'],
      [16_385, 'gpt-3.5-turbo gpt-3.5-turbo-16k gpt-35-turbo gpt-35-turbo-16k'],
      [32_000, 'gemini-pro gemini-1.0-pro titan-text-premier'],
      [32_768, `gpt-4-32k qwen qwen1.5 qwen2 qwen-2 qwen2.5 qwen-2.5 qwen-max qwq dbrx moonshot-v1-32k`],
      [40_960, 'qwen3'],
      [
        128_000,
        `gpt-4-turbo gpt-4-1106 gpt-4-0125 gpt-4-vision gpt-4-preview command-r command-r-plus command-r7b
        command-nightly glm-4 glm-4.5 nova-micro`,
      ],
      [
        131_072,
        `llama-3.1 llama-3.2 llama-3.3 llama3.1 llama3.2 llama3.3 llama-3-1 llama-3-2 llama-3-3 llama3-1 llama3-2
        llama3-3 meta-llama-3.1 meta-llama-3.2 meta-llama-3.3 llama-4 llama4 deepseek deepseek-chat deepseek-reasoner
        deepseek-v2 deepseek-v2.5 deepseek-v3 deepseek-v3.1 deepseek-v3.2 deepseek-r1 deepseek-coder-v2 mistral-nemo
        open-mistral-nemo gemma3 gemma-3 qwen-plus phi-3.5 phi-3-mini-128k phi-3-small-128k phi-3-medium-128k phi-4-mini
        grok grok-2 grok-3 kimi-k2 moonshot-v1-128k`,
      ],
      [200_000, 'glm-4.6'],
      [256_000, 'command-a grok-4 jamba'],
      [262_144, 'qwen3-max qwen3-coder'],
      [300_000, 'nova-lite nova-pro'],
      [1_000_000, 'qwen-turbo nova-premier'],
      [1_048_576, 'gemini-1.5-flash gemini-2.0 gemini-2.5 gemini-3'],
      [2_097_152, 'gemini-1.5-pro'],
    ],
  ],
  [
    SMALL_VOCABULARY,
    [
      [2_048, 'tinyllama'],
      [4_096, 'llama-2 llama2 meta-llama-2 phi-3 titan-text-lite'],
      [16_384, 'codellama code-llama'],
      [
        32_768,
        `mistral mistral-7b open-mistral mistral-tiny mistral-small-2402 mistral-small-2409 mistral-small-2501
        mistral-medium-2312 mistral-large-2402 mixtral open-mixtral codestral-2405 codestral-mamba`,
      ],
      [65_536, 'mixtral-8x22b open-mixtral-8x22b'],
      [128_000, 'mistral-small mistral-medium mistral-large ministral magistral pixtral devstral codestral'],
    ],
  ],
  [
    CLAUDE,
    [
      [9_000, 'claude-1 claude-1.2 claude-1.3 claude-v1'],
      [100_000, 'claude-2 claude-2.0 claude-v2 claude-instant claude-1-100k claude-1.3-100k'],
      [200_000, 'claude claude-2.1 claude-v2:1 claude-3-5-sonnet claude-3-opus'],
    ],
  ],
]

export const knownModels: ReadonlyMap<string, KnownModel> = new Map(
  TABLE.flatMap(([margin, windows]) =>
    windows.flatMap(([window, names]) => names.split(/\s+/).map((name) => [name, { window, margin }] as const)),
  ),
)
