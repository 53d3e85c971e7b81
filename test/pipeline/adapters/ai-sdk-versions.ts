import * as ai5 from 'ai'
import * as ai6 from 'ai-6'

/** The versions as users import them. A wrapped model is used by the version's own functions. */
export const versions = [
  { version: 'v2' as const, title: 'version 5', ...pick(ai5) },
  { version: 'v3' as const, title: 'version 6', ...pick(ai6 as never) },
]

function pick({ wrapLanguageModel, generateText, streamText, stepCountIs }: typeof ai5) {
  return { wrapLanguageModel, generateText, streamText, stepCountIs }
}
