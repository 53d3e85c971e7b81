import { parseArgs } from 'node:util'

export interface Arguments {
  readonly list: boolean
  /** Figures whose names are this or begin with it and a dot; all where it is null. */
  readonly only: readonly string[] | null
  /** Messages of the long thread. */
  readonly messages: number
}

/** Few enough that the whole run stays within its time on two busy cores; a million take about a minute a backend. */
const MESSAGES_DEFAULT = 300_000
const MESSAGES_MIN = 10_000
const MESSAGES_MAX = 1_000_000

/** @throws Error that says what is wrong */
export function readArguments(given: readonly string[]): Arguments {
  const { values } = parseArgs({
    args: [...given],
    options: {
      list: { type: 'boolean', default: false },
      only: { type: 'string', multiple: true },
      messages: { type: 'string' },
    },
  })
  const messages = values.messages === undefined ? MESSAGES_DEFAULT : Number(values.messages)
  if (!Number.isInteger(messages) || messages < MESSAGES_MIN || messages > MESSAGES_MAX) {
    throw new Error(`--messages must be a whole number from ${MESSAGES_MIN} to ${MESSAGES_MAX}`)
  }
  return { list: values.list, only: values.only ?? null, messages }
}
