import { type CompactionState, isCovered, keepsText } from '../compaction/state.js'
import type { Message } from '../conversation/message.js'
import { comparePositions } from '../conversation/order.js'
import type { ShownMessage } from './report.js'

/** The messages that a compaction left in its contexts, as they show them, without later ones; each is written when it is read. */
export function* shownMessages(messages: readonly Message[], state: CompactionState): Iterable<ShownMessage> {
  for (const message of messages) {
    const isLater = message.seq > state.headSeq || comparePositions(message, state.point) > 0
    if (!isLater && !isCovered(message, state)) yield { text: textOf(message, state), isPinned: message.pinned }
  }
}

function textOf({ id, content, toolCalls }: Message, { prunings }: CompactionState): string {
  const pruning = prunings.get(id)
  if (pruning?.action === 'remove') return ''
  const text = pruning === undefined || keepsText(pruning) ? content : pruning.text
  const condensed = new Map(pruning?.calls?.map((call) => [call.number, call.text]))
  const calls = toolCalls.map((call, index) => condensed.get(index + 1) ?? textOfCall(call.arguments))
  return [text, ...calls].join('\n')
}

/** Line feeds in JSON are escaped, and would join the words beside them. */
function textOfCall(given: unknown): string {
  return typeof given === 'string' ? given : JSON.stringify(given, null, 1).replaceAll('\\n', '\n')
}
