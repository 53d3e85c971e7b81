/** Marks of tool protocols that a summary must not carry into a context; models that write them did not summarize. */
export const PROTOCOL = /<\/?(function_calls?|invoke|tool_call|tool_use|antml:[a-z_]+)\b|<\|[a-z_]+\|>/iu

/** A text whose protocol marks are for reading only: who talks about them must still get a summary that may be stored. */
export function withoutProtocol(text: string): string {
  return text.replace(new RegExp(PROTOCOL, 'giu'), (mark) => mark.replace('<', '‹'))
}
