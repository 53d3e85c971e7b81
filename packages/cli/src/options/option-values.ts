import { describeReceived, wording } from '@heddle/contracts'
import { UsageError } from '../output/failure.js'

/** The part of a schema that is used here. */
interface Schema<Value> {
  safeParse(
    value: unknown,
    params: { error: typeof wording },
  ): { success: true; data: Value } | { success: false; error: { issues: { message: string }[] } }
}

/**
 * A parser for one option or argument by a schema of the contracts, so that rules and messages are the same on the command
 * line, in jobs and over HTTP.
 *
 * @param field the option without its dashes, as errors name it
 * @param read converts the text before the schema checks it; default: no conversion
 * @throws UsageError from the parser it returns
 */
export function optionValue<Value>(
  field: string,
  schema: Schema<Value>,
  hint: string,
  read: (text: string) => unknown = (text) => text,
): (text: string) => Value {
  return (text) => {
    const result = schema.safeParse(read(text), { error: wording })
    if (result.success) return result.data
    throw new UsageError(field, result.error.issues[0]?.message ?? 'is not valid', describeReceived(text), hint)
  }
}

/** A parser for a whole number between two bounds, both included. */
export function wholeNumber(field: string, least: number, most: number, hint: string): (text: string) => number {
  return (text) => {
    const value = numeral(text)
    if (typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most) return value
    throw new UsageError(field, `must be a whole number from ${least} to ${most}`, describeReceived(text), hint)
  }
}

/** A decimal number; any other text is returned unchanged, so that the schema refuses it. */
export function numeral(text: string): number | string {
  return /^-?\d+(\.\d+)?$/.test(text.trim()) ? Number(text) : text
}

/** A parser for one of some words. */
export function oneOf<Word extends string>(field: string, words: readonly Word[]): (text: string) => Word {
  return (text) => {
    const word = words.find((each) => each === text)
    if (word !== undefined) return word
    const rule = `must be one of ${words.join(', ')}`
    throw new UsageError(field, rule, describeReceived(text), `Choose one of the ${words.length} listed above.`)
  }
}
