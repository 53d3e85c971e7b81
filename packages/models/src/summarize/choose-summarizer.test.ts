import { summarizationProviders } from '@heddle/contracts'
import { createLogger, systemClock } from '@heddle/runtime'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fastModels, modelFacts, providers } from '../chat/providers.js'
import { chooseSummarizer, createSummarizers, type Environment } from './choose-summarizer.js'

const none = { summarizationProvider: null, summarizationModel: null, model: null }
const choose = (settings: Partial<Parameters<typeof chooseSummarizer>[0]>, env: Environment) => {
  const { provider, model, fellBack } = chooseSummarizer({ ...none, ...settings }, env)
  return { provider: provider?.name ?? null, model, fellBack }
}

describe('the choice of a summarizer', () => {
  test.each([
    { env: { CEREBRAS_API_KEY: 'k', XAI_API_KEY: 'k' }, provider: 'cerebras', model: 'llama3.1-8b' },
    { env: { XAI_API_KEY: 'k', GROQ_API_KEY: 'k', ANTHROPIC_API_KEY: 'k' }, provider: 'xai', model: 'grok-3-mini' },
    { env: { GROQ_API_KEY: 'k', GEMINI_API_KEY: 'k' }, provider: 'groq', model: 'llama-3.1-8b-instant' },
    { env: { GOOGLE_API_KEY: 'k', OPENAI_API_KEY: 'k' }, provider: 'gemini', model: 'gemini-3-flash' },
    { env: { OPENAI_API_KEY: 'k', ANTHROPIC_API_KEY: 'k' }, provider: 'openai', model: 'gpt-4o-mini' },
    { env: { ANTHROPIC_API_KEY: 'k' }, provider: 'anthropic', model: 'claude-haiku-4-5' },
    { env: { OPENAI_API_KEY: '  ', CEREBRAS_BASE_URL: 'http://x' }, provider: null, model: null },
  ])('is $provider of $env', ({ env, provider, model }) => {
    expect(choose({}, env)).toEqual({ provider, model, fellBack: false })
  })

  test('is the configured one, even if another is faster', () => {
    const env = { CEREBRAS_API_KEY: 'k', ANTHROPIC_API_KEY: 'k' }
    expect(choose({ summarizationProvider: 'anthropic' }, env)).toMatchObject({ model: 'claude-haiku-4-5' })
    expect(choose({ summarizationProvider: 'cerebras', summarizationModel: 'llama-3.3-70b' }, env)).toMatchObject({
      provider: 'cerebras',
      model: 'llama-3.3-70b',
    })
    expect(choose({ summarizationModel: 'claude-3-5-haiku-latest' }, env)).toMatchObject({ provider: 'anthropic' })
    expect(choose({ summarizationProvider: 'extractive' }, env)).toMatchObject({ provider: null, fellBack: false })
    expect(choose({ summarizationProvider: 'ollama' }, {})).toMatchObject({ provider: 'ollama', model: 'llama3.2' })
  })

  test('is the small model of the provider of the agent if no fast provider has a key', () => {
    const env = { OPENAI_API_KEY: 'k', ANTHROPIC_API_KEY: 'k' }
    expect(choose({ model: 'claude-opus-4-5' }, env)).toMatchObject({ provider: 'anthropic' })
    expect(choose({ model: 'gpt-4o' }, env)).toMatchObject({ provider: 'openai' })
  })

  test('is extractive, with a reason, if the configured provider has no key', () => {
    const { provider, reason, fellBack } = chooseSummarizer({ ...none, summarizationProvider: 'xai' }, {})
    expect({ provider, fellBack }).toEqual({ provider: null, fellBack: true })
    expect(reason).toContain('XAI_API_KEY')
  })

  test('knows every provider that settings allow', () => {
    expect(['extractive', ...providers.map(({ name }) => name)]).toEqual(summarizationProviders)
  })

  test('is never a provider without a key, unless it needs none and is configured', () => {
    const variables = providers.flatMap(({ keyVariables }) => keyVariables)
    fc.assert(
      fc.property(
        fc.subarray(variables),
        fc.option(fc.constantFrom(...providers.map(({ name }) => name))),
        (set, asked) => {
          const env = Object.fromEntries(set.map((variable) => [variable, 'k']))
          const { provider } = chooseSummarizer({ ...none, summarizationProvider: asked }, env)
          if (provider === null || (provider.name === 'ollama' && asked === 'ollama')) return
          expect(provider.keyVariables.some((variable) => set.includes(variable))).toBe(true)
        },
      ),
    )
  })

  test('goes through the fast models by their speed', () => {
    expect(fastModels.map(({ provider, model, speed }) => `${provider} ${model} ${speed}`)).toEqual([
      'cerebras llama3.1-8b 2000',
      'cerebras llama-3.3-70b 1500',
      'xai grok-3-mini 1200',
      'xai grok-4-1-fast 1000',
      'groq llama-3.1-8b-instant 800',
      'gemini gemini-3-flash 250',
    ])
  })

  test('includes only fast and small models with a known window and price', () => {
    const small = providers.filter(({ name }) => name !== 'ollama').map((one) => [one.name, one.smallModel] as const)
    for (const [provider, model] of [...small, ...fastModels.map((one) => [one.provider, one.model] as const)]) {
      expect(modelFacts(provider, model).price).not.toBeNull()
    }
  })
})

test('agents with the same choice share a summarizer and its circuit breaker', () => {
  const summarizers = createSummarizers({
    env: { OPENAI_API_KEY: 'k' },
    clock: systemClock,
    log: createLogger({ level: 'silent', name: 'test' }),
  })
  expect(summarizers.of(none)).toBe(summarizers.of({ ...none, model: 'gpt-4o' }))
  expect(summarizers.of({ ...none, summarizationModel: 'gpt-5-mini' })).not.toBe(summarizers.of(none))
})
