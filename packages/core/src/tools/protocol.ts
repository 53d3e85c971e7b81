/** Tool protocol markup that a summary must not carry into a context; models that write it did not summarize. */
export const PROTOCOL = /<\/?(function_calls?|invoke|tool_call|tool_use|antml:[a-z_]+)\b|<\|[a-z_]+\|>/iu

const EACH = new RegExp(PROTOCOL, 'giu')

/** Defuses protocol markup in a text: a conversation about such markup still needs a summary that may be stored. */
export function withoutProtocol(text: string): string {
  return text.includes('<') ? text.replace(EACH, (mark) => mark.replace('<', '‹')) : text
}
