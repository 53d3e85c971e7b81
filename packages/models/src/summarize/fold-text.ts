import { countTokens, partText, prefixWithinTokens, redactSecrets, type SummarySource } from '@heddle/core'

/** Redacts secrets in whole messages, before a cut could split a secret. */
export function redactedText(messages: readonly SummarySource[], contentTokens: number): string {
  return partText(
    messages.map((source) => ({ ...source, text: redactSecrets(source.text) })),
    contentTokens,
  )
}

/** Groups summaries of parts, as many as fit into one call, and at least two, so that each round has fewer. */
export function grouped(summaries: readonly string[], contentTokens: number): string[] {
  const groups: string[][] = []
  let tokens = 0
  for (const [place, summary] of summaries.entries()) {
    const text = `[Part ${place + 1} of ${summaries.length}]\n${summary}`
    const cost = countTokens(text) + 2
    const last = groups.at(-1)
    if (last === undefined || (tokens + cost > contentTokens && last.length >= 2)) {
      groups.push([text])
      tokens = cost
    } else {
      last.push(text)
      tokens += cost
    }
  }
  return groups.map((group) => group.join('\n\n'))
}

/** Removes reasoning, which some models write within tags before the answer. */
export function cleaned(text: string): string {
  return text.replace(/^\s*<think(ing)?>[\s\S]*?<\/think(ing)?>/i, '').trim()
}

/** The beginning of a text within a limit of tokens. */
export function withinTokens(text: string, tokensMax: number): string {
  return text.slice(0, prefixWithinTokens(text, tokensMax)).toWellFormed()
}
