import type { Settings, SummarizationProvider, SummaryCall } from '@heddle/contracts'
import type { Clock, Logger } from '@heddle/runtime'
import { LRUCache } from 'lru-cache'
import { createAnthropicChat } from '../chat/anthropic-chat.js'
import type { ChatModelOptions } from '../chat/chat-model.js'
import { createOpenAiChat } from '../chat/openai-chat.js'
import { fastModels, modelFacts, type Provider, providers } from '../chat/providers.js'
import { createExtractiveSummarizer } from './extractive-summarizer.js'
import { createModelSummarizer, type ModelSummarizerOptions } from './model-summarizer.js'
import type { Summarizer } from './summarizer.js'

export type SummarizerSettings = Pick<Settings, 'summarizationProvider' | 'summarizationModel' | 'model'>
export type Environment = Readonly<Record<string, string | undefined>>

/** The chosen summarizer, and the reason. */
export interface SummarizerChoice {
  /** Null for the extractive summarizer. */
  readonly provider: Provider | null
  readonly model: string | null
  /** A sentence for `doctor`. */
  readonly reason: string
  /** Whether the configured provider is unavailable. */
  readonly fellBack: boolean
}

/**
 * Chooses a summarizer by settings and environment: the configured one, otherwise the fastest provider with a key
 * (docs/summaries.md#which-model), otherwise the small model of the current provider, otherwise the extractive one.
 */
export function chooseSummarizer(settings: SummarizerSettings, env: Environment): SummarizerChoice {
  const { summarizationProvider: asked, summarizationModel: model } = settings
  if (asked !== null) return askedFor(asked, model, env)
  const owner = model === null ? undefined : providers.find((one) => isOf(one, model) && hasKey(one, env))
  if (owner !== undefined) {
    return { provider: owner, model, reason: 'summarizationModel selects it', fellBack: false }
  }
  const fast = [...fastModels]
    .sort((left, right) => right.speed - left.speed)
    .map((entry) => ({ ...entry, provider: providerOf(entry.provider) }))
    .find(({ provider }) => provider !== undefined && hasKey(provider, env))
  if (fast?.provider !== undefined) {
    const reason = `the fastest provider with a key (${keyVariable(fast.provider, env)}), about ${fast.speed} tokens/s`
    return { provider: fast.provider, model: model ?? fast.model, reason, fellBack: false }
  }
  const current = currentProvider(settings.model, env)
  if (current !== undefined) {
    const reason =
      settings.model !== null && isOf(current, settings.model)
        ? `the small model of the provider of ${settings.model}`
        : `the small model of the provider with a key (${keyVariable(current, env)})`
    return { provider: current, model: model ?? current.smallModel, reason, fellBack: false }
  }
  return extractive('no provider has a key in the environment', false)
}

function askedFor(asked: SummarizationProvider, model: string | null, env: Environment): SummarizerChoice {
  if (asked === 'extractive') return extractive('summarizationProvider selects it', false)
  const provider = providerOf(asked)
  // Stored settings may come from a version with other providers.
  if (provider === undefined) return extractive(`summarizationProvider "${asked}" is not known`, true)
  if (!hasKey(provider, env)) {
    return extractive(`${asked} has no key: ${provider.keyVariables.join(' or ')} is not set`, true)
  }
  const reason = model === null ? 'summarizationProvider selects it, with its fast model' : 'the settings select it'
  return { provider, model: model ?? fastModelOf(provider), reason, fellBack: false }
}

/** The provider of the agent's own model, otherwise the first with a key. One that needs no key is used only if configured. */
function currentProvider(model: string | null, env: Environment): Provider | undefined {
  const keyed = providers.filter((provider) => provider.keyVariables.length > 0 && hasKey(provider, env))
  return (model === null ? undefined : keyed.find((provider) => isOf(provider, model))) ?? keyed[0]
}

function extractive(reason: string, fellBack: boolean): SummarizerChoice {
  return { provider: null, model: null, reason, fellBack }
}

function providerOf(name: string): Provider | undefined {
  return providers.find((provider) => provider.name === name)
}

function isOf({ modelPrefixes }: Provider, model: string): boolean {
  return modelPrefixes.some((prefix) => model.startsWith(prefix))
}

function fastModelOf({ name, smallModel }: Provider): string {
  const own = fastModels.filter(({ provider }) => provider === name).sort((left, right) => right.speed - left.speed)
  return own[0]?.model ?? smallModel
}

function textOf(variable: string, env: Environment): string | null {
  return env[variable]?.trim() || null
}

function keyVariable({ keyVariables }: Provider, env: Environment): string | undefined {
  return keyVariables.find((variable) => textOf(variable, env) !== null)
}

function hasKey(provider: Provider, env: Environment): boolean {
  return provider.keyVariables.length === 0 || keyVariable(provider, env) !== undefined
}

/** The summarizers of a process. There is one per provider and model, so that its circuit breaker sees all calls. */
export interface Summarizers {
  of(settings: SummarizerSettings): Summarizer
}

export interface SummarizersOptions {
  readonly env: Environment
  readonly clock: Clock
  readonly log: Pick<Logger, 'info' | 'warn'>
  /** Overrides of timeouts and retries. */
  readonly limits?: ModelSummarizerOptions['limits']
  /** Called after each call of a provider, for any summary. */
  readonly onCall?: (call: SummaryCall) => void
}

/** Most summarizers that one process keeps open; agents may name any number of models. */
const OPEN_MAX = 100

/** Logs each choice once. */
export function createSummarizers({ env, clock, log, limits, onCall }: SummarizersOptions): Summarizers {
  const open = new LRUCache<string, Summarizer>({ max: OPEN_MAX })
  return {
    of(settings) {
      const choice = chooseSummarizer(settings, env)
      const key = `${choice.provider?.name ?? 'extractive'} ${choice.model ?? ''} ${choice.fellBack ? choice.reason : ''}`
      const found = open.get(key)
      if (found !== undefined) return found
      const summarizer = openSummarizer(choice, env, {
        clock,
        limits,
        onCall,
      })
      const facts = { summarizer: summarizer.name, reason: choice.reason }
      if (choice.fellBack) log.warn(facts, 'summarizer chosen')
      else log.info(facts, 'summarizer chosen')
      open.set(key, summarizer)
      return summarizer
    },
  }
}

/** One summarizer for all settings, for programs with their own. */
export function fixedSummarizer(summarizer: Summarizer): Summarizers {
  return { of: () => summarizer }
}

function openSummarizer(
  { provider, model }: SummarizerChoice,
  env: Environment,
  options: Pick<ModelSummarizerOptions, 'clock' | 'limits' | 'onCall'>,
): Summarizer {
  if (provider === null || model === null) return createExtractiveSummarizer()
  const chatOptions: ChatModelOptions = {
    provider: provider.name,
    model,
    baseUrl: textOf(provider.baseUrlVariable, env) ?? provider.baseUrl,
    apiKey: textOf(keyVariable(provider, env) ?? '', env),
    outputField: provider.outputField,
  }
  const chat = provider.protocol === 'anthropic' ? createAnthropicChat(chatOptions) : createOpenAiChat(chatOptions)
  return createModelSummarizer({ ...options, chat, facts: modelFacts(provider.name, model), margin: provider.margin })
}
