/**
 * The guarantee of Heddle's own format (docs/design.md#invariant-7): a call always has its result, and a result
 * its call.
 */
export function validateNeutral(messages: unknown): string[] {
  if (!Array.isArray(messages)) return ['messages is no list']
  const violations: string[] = []
  const open: string[] = []
  for (const [index, message] of (messages as Record<string, unknown>[]).entries()) {
    const { role, content, toolCalls, toolCallId } = message
    if (typeof content !== 'string') violations.push(`messages[${index}]: content must be a text`)
    if (role === 'tool_result') {
      const at = open.indexOf(String(toolCallId))
      if (at < 0) violations.push(`messages[${index}]: answers no open call`)
      else open.splice(at, 1)
      continue
    }
    if (open.length > 0) violations.push(`messages[${index}]: stands before all open calls are answered`)
    open.length = 0
    if (role !== 'system' && role !== 'user' && role !== 'assistant')
      violations.push(`messages[${index}]: unknown role`)
    if (Array.isArray(toolCalls)) open.push(...toolCalls.map(({ id }: { id: string }) => id))
  }
  if (open.length > 0) violations.push('the list ends with open calls')
  return violations
}
