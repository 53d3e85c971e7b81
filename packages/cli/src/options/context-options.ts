import { contextRequestSchema, idSchema, settingsSchema } from '@heddle/contracts'
import { numeral, optionValue } from './option-values.js'

/** The id of a context, as arguments take it. */
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

export const strategyOption = optionValue(
  'strategy',
  contextRequestSchema.shape.strategy.unwrap(),
  'Choose one of the strategies that are named above.',
)

export const fillOption = optionValue(
  'fill',
  contextRequestSchema.shape.fill.unwrap(),
  'Choose cache for a thread that goes on at this budget, or budget for as much of the history as fits.',
)

export const contextFormatOption = optionValue(
  'format',
  contextRequestSchema.shape.format.unwrap(),
  'Choose one of the formats that are named above.',
)

export const modelOption = optionValue(
  'model',
  contextRequestSchema.shape.model.unwrap(),
  'Give a model, such as --model claude-sonnet-4-5.',
)

export const messageOption = optionValue(
  'message',
  contextRequestSchema.shape.message.unwrap(),
  'Give the text of the user, or leave --message out.',
)

export const pastOption = optionValue(
  'at',
  contextRequestSchema.shape.at.unwrap(),
  'Give a time with its zone that has passed, such as 2026-02-12T14:30:00Z.',
)
