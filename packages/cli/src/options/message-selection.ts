import type { Command } from 'commander'
import { sequenceOption } from './options.js'

/** One message of a thread, or a range of its history. */
export interface MessageSelection {
  readonly message?: string
  readonly from?: number
  readonly to?: number
}

export function withMessageSelection(command: Command): Command {
  return command
    .option('--message <id>', 'one message, by its id or its reference')
    .option('--from <seq>', 'first message of a range, by its sequence number in the history', sequenceOption('from'))
    .option('--to <seq>', 'last message of the range', sequenceOption('to'))
}

/** The selection as requests have it. */
export function selectionOf({ message, from, to }: MessageSelection) {
  return { messageId: message, fromSeq: from, toSeq: to }
}
