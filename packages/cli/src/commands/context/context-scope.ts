import { type Scope, scopeSchema } from '@heddle/contracts'
import type { Command } from 'commander'
import { optionValue } from '../../options/option-values.js'
import { momentOption } from '../../options/options.js'

export interface ScopeOptions {
  readonly scopeThreads?: string[]
  readonly scopeSince?: string
  readonly scopeItems?: string[]
}

const namesOf = (text: string) => text.split(',').map((name) => name.trim())

const threadsOption = optionValue(
  'scope-threads',
  scopeSchema.shape.threads.unwrap(),
  'Give names of threads with commas between them, such as --scope-threads main,research.',
  namesOf,
)

const itemsOption = optionValue(
  'scope-items',
  scopeSchema.shape.items.unwrap(),
  'Give items with commas between them, such as --scope-items rule/tone,tool/search, or none.',
  (text) => (text === 'none' ? [] : namesOf(text)),
)

/** Adds the flags that bound a context, so that it can be handed to another agent. */
export function withScopeOptions(command: Command): Command {
  return command
    .option('--scope-threads <names>', 'messages of these threads of the agent, in one conversation', threadsOption)
    .option('--scope-since <moment>', 'messages from then on alone: 2h ago, or a time', momentOption('scope-since'))
    .option('--scope-items <names>', 'these items alone, such as rule/tone,tool/search, or none', itemsOption)
}

/** The scope of those flags; null where none was given. */
export function scopeOf({ scopeThreads: threads, scopeSince: since, scopeItems: items }: ScopeOptions): Scope | null {
  const scope = {
    ...(threads !== undefined && { threads }),
    ...(since !== undefined && { since }),
    ...(items !== undefined && { items }),
  }
  return Object.keys(scope).length === 0 ? null : scope
}
