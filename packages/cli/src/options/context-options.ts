import { contextRequestSchema, idSchema, type Scope, scopeSchema, settingsSchema } from '@heddle/contracts'
import type { Command } from 'commander'
import { numeral, optionValue } from './option-values.js'
import { momentOption } from './options.js'

/** A parser for the id of a context. */
export function contextIdOption(field: string): (text: string) => string {
  return optionValue(field, idSchema, 'Give an id that "heddle context build" printed.')
}

export const budgetOption = optionValue(
  'budget',
  contextRequestSchema.shape.budget.unwrap(),
  'Give the tokens that the context may use, such as --budget 16000.',
  numeral,
)

export const memoriesOption = optionValue(
  'memories',
  settingsSchema.shape.search.shape.memories.shape.tokensMax,
  'Give the tokens that memories may use, such as --memories 1500, or none.',
  numeral,
)

export const ledgerOption = optionValue(
  'ledger',
  settingsSchema.shape.sections.shape.ledger.shape.tokensMax,
  'Give the tokens that the ledger may use, such as --ledger 800, or none.',
  numeral,
)

export const factsOption = optionValue(
  'facts',
  settingsSchema.shape.sections.shape.facts.shape.tokensMax,
  'Give the tokens that facts may use, such as --facts 800, or none.',
  numeral,
)

export const strategyOption = optionValue(
  'strategy',
  contextRequestSchema.shape.strategy.unwrap(),
  'Choose one of the strategies listed above.',
)

export const fillOption = optionValue(
  'fill',
  contextRequestSchema.shape.fill.unwrap(),
  'Choose cache for a thread that continues with this budget, or budget for as much of the history as fits.',
)

export const contextFormatOption = optionValue(
  'format',
  contextRequestSchema.shape.format.unwrap(),
  'Choose one of the formats listed above.',
)

export const modelOption = optionValue(
  'model',
  contextRequestSchema.shape.model.unwrap(),
  'Give a model, such as --model claude-sonnet-4-5.',
)

export const messageOption = optionValue(
  'message',
  contextRequestSchema.shape.message.unwrap(),
  'Give the text of the user, or omit --message.',
)

export const pastOption = optionValue(
  'at',
  contextRequestSchema.shape.at.unwrap(),
  'Give a time in the past with its zone, such as 2026-02-12T14:30:00Z.',
)

export interface ScopeOptions {
  readonly scopeThreads?: string[]
  readonly scopeSince?: string
  readonly scopeItems?: string[]
}

const namesOf = (text: string) => text.split(',').map((name) => name.trim())

const threadsOption = optionValue(
  'scope-threads',
  scopeSchema.shape.threads.unwrap(),
  'Give names of threads, separated by commas, such as --scope-threads main,research.',
  namesOf,
)

const itemsOption = optionValue(
  'scope-items',
  scopeSchema.shape.items.unwrap(),
  'Give items, separated by commas, such as --scope-items rule/tone,tool/search, or none.',
  (text) => (text === 'none' ? [] : namesOf(text)),
)

/** Adds the flags that limit a context, so that it can be passed to another agent. */
export function withScopeOptions(command: Command): Command {
  return command
    .option(
      '--scope-threads <names>',
      'merge the messages of these threads of the agent into one conversation',
      threadsOption,
    )
    .option(
      '--scope-since <moment>',
      'only messages since then: how long ago, such as 2h, or a time',
      momentOption('scope-since'),
    )
    .option('--scope-items <names>', 'only these items, such as rule/tone,tool/search, or none', itemsOption)
}

/** The scope of those flags; null without any of them. */
export function scopeOf({ scopeThreads: threads, scopeSince: since, scopeItems: items }: ScopeOptions): Scope | null {
  const scope = {
    ...(threads !== undefined && { threads }),
    ...(since !== undefined && { since }),
    ...(items !== undefined && { items }),
  }
  return Object.keys(scope).length === 0 ? null : scope
}
