import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { deflate, deflateRawSync, deflateSync, inflate, inflateRawSync, inflateSync } from 'node:zlib'

const compress = promisify(deflate)
const decompress = promisify(inflate)

/** Half the time of zlib's default level, for a tenth more bytes: a caller waits for the result. */
const COMPRESSION_LEVEL = 1
/** The largest result as JSON: the largest budget in tokens, at a few bytes each. */
const BYTES_MAX = 256 * 1024 * 1024
const DIGEST_BYTES = 16
/** Below these sizes work is done synchronously: handing a small text to the thread pool takes longer than packing it. */
const CHARACTERS_AT_ONCE_MAX = 64_000
const BYTES_AT_ONCE_MAX = 24_000

export async function deflateJson(json: string): Promise<Uint8Array> {
  const options = { level: COMPRESSION_LEVEL }
  return json.length <= CHARACTERS_AT_ONCE_MAX ? deflateSync(json, options) : await compress(json, options)
}

export async function inflateJson(bytes: Uint8Array): Promise<unknown> {
  const options = { maxOutputLength: BYTES_MAX }
  const json = bytes.length <= BYTES_AT_ONCE_MAX ? inflateSync(bytes, options) : await decompress(bytes, options)
  return JSON.parse(json.toString())
}

/** Identifies a JSON text byte for byte. */
export function digestOf(json: string): Uint8Array {
  return createHash('sha256').update(json).digest().subarray(0, DIGEST_BYTES)
}

/**
 * Strings that the lines of contexts have in common, so that short lines compress well, too. Stored lines can only be read
 * with the same dictionary: it must never change.
 */
const DICTIONARY = Buffer.from(
  [
    '{"thread":"","agent":"","format":"anthropic","format":"openai-chat","format":"neutral","strategy":"sliding-window",',
    '"strategy":"sandwich","budget":200000,"tokensUsed":,"summaryUsed":false,"summaryUsed":true,"system":null,"messages":,',
    '"receipt":{"rendererVersion":3,"eligible":,"imported":,"ineligible":{},"counter":"o200k","model":null,"agentVersion":1,',
    '"stateId":null,"clearEpoch":0,"headSeq":,"sections":[{"name":"system-prompt","tokens":0,"count":0},',
    '{"name":"docs","tokens":0,"count":0},{"name":"rules","tokens":0,"count":0},{"name":"history","tokens":,"count":},',
    '{"name":"status","tokens":0,"count":0},{"name":"message","tokens":0,"count":0}],"entries":,"notes":[],"tokensRaw":}}\n',
    '=0,\n{"role":"assistant","content":null,"tool_calls":[{"id":{"$":"m"},"type":"function","function":{"name":"',
    '","arguments":{"$":"m.6"}}}]}\n{"role":"tool","tool_call_id":{"$":"m.3"},"content":{"$":"m.0"}}\n',
    '{"role":"user","content":{"$":"q"}}\n{"role":"assistant","content":{"$":"m.0"}}\n{"role":"user","content":{"$":"m.0"}}\n',
    '{"section":"history","mode":"covered","count":,"tokens":0,"tokensRaw":,"reason":"summarized"}\n',
    '{"section":"history","mode":"condensed","count":1,"fromSeq":,"toSeq":,"messageId":{"$":"m.1"},"reference":{"$":"m.2"},',
    '"role":"tool_result","tokens":,"tokensRaw":,"reason":"recent"}\n{"section":"history","mode":"raw","count":1,"fromSeq":,',
    '"toSeq":,"messageId":{"$":"m.1"},"reference":{"$":"m.2"},"role":"assistant","tokens":,"tokensRaw":,"reason":"recent"}\n',
  ].join(''),
)

/** Synchronous, because the texts are small: handing them to the thread pool takes longer. */
export function deflateLines(text: string): Uint8Array {
  return deflateRawSync(text, { dictionary: DICTIONARY })
}

export function inflateLines(bytes: Uint8Array): string {
  return inflateRawSync(bytes, { dictionary: DICTIONARY, maxOutputLength: BYTES_MAX }).toString()
}
