import { settingsSchema } from '@heddle/contracts'
import type { Command } from 'commander'
import { numeral, optionValue } from './option-values.js'

const { rawWindowSize, summarizeEvery } = settingsSchema.shape.iterations.shape

export const contextWindowOption = optionValue(
  'context-window',
  rawWindowSize,
  'Give a number of iterations, such as --context-window 5.',
  numeral,
)

export const summarizeEveryOption = optionValue(
  'summarize-every',
  summarizeEvery,
  'Give a number of iterations, such as --summarize-every 10.',
  numeral,
)

export interface IterationOptions {
  readonly contextWindow?: number
  readonly summarizeEvery?: number
}

/** Flags of iterations (docs/iterations.md). */
export function withIterationOptions(command: Command): Command {
  return command
    .option(
      '--context-window <count>',
      'newest iterations to keep in full, outside the summary (default 5)',
      contextWindowOption,
    )
    .option(
      '--summarize-every <count>',
      'regenerate the summary after this many iterations (default 10)',
      summarizeEveryOption,
    )
}

/** The settings of those flags; null without any of them. */
export function iterationSettings({ contextWindow, summarizeEvery: every }: IterationOptions) {
  if (contextWindow === undefined && every === undefined) return null
  return {
    ...(contextWindow !== undefined && { rawWindowSize: contextWindow }),
    ...(every !== undefined && { summarizeEvery: every }),
  }
}
