import { recallTag } from '../conversation/references.js'
import { stubText } from '../provider-requests/stub-text.js'
import { countLines, sliceWhole } from '../tools/lines.js'
import type { ToolOutput } from './tool-output.js'

const CHARACTERS_PER_TOKEN = 4

interface StubOptions {
  readonly reference: string
  readonly tokensBefore: number
  readonly tokensMax: number
}

/**
 * The text that takes the place of an output: its beginning, lines about failures and its end around a note with the
 * reference; of numbered lines only the beginning, because the agent would give wrong numbers to the end.
 */
export function outputStub(
  output: Pick<ToolOutput, 'text' | 'isNumbered' | 'stubBytesMax'>,
  options: StubOptions,
): string {
  const stub = stubOf(output, options)
  const bytes = new TextEncoder().encode(stub).length
  const { stubBytesMax: bytesMax = bytes } = output
  if (bytes <= bytesMax || options.tokensMax === 0) return stub
  return outputStub(output, { ...options, tokensMax: Math.floor((options.tokensMax * bytesMax * 0.9) / bytes) })
}

function stubOf({ text, isNumbered }: Pick<ToolOutput, 'text' | 'isNumbered'>, options: StubOptions): string {
  if (!isNumbered) return stubText(text, options)
  const head = wholeLines(sliceWhole(text, options.tokensMax * CHARACTERS_PER_TOKEN))
  const rest = `${countLines(text) - countLines(head)} of ${countLines(text)} lines`
  const note = `[the last ${rest} left out by Heddle, ${options.tokensBefore} tokens in all: ${recallTag(options.reference)}, or read them with an offset]`
  return `${head}\n${note}`
}

function wholeLines(text: string): string {
  const end = text.lastIndexOf('\n')
  return end <= 0 ? text : text.slice(0, end)
}
