import { modelPrices } from '@heddle/test-support/providers/prices'
import { ProviderSimulator } from '@heddle/test-support/providers/provider-simulator'
import { type CountText, type RequestPart, sharedPrefix, tokensIn } from '@heddle/test-support/providers/request-parts'
import type { Door } from './door.js'
import { RECALL_CALL_TOKENS, recallBody, recalledTexts } from './recalls.js'
import type { Block, ReplaySession } from './session.js'

/** The bill of a session; costs are micro-dollars. */
export interface Bill {
  requests: number
  /** Requests that the provider would refuse, each with its rules. */
  readonly invalid: string[]
  /** Requests inside of an epoch that change a byte of what was sent before. */
  readonly broken: string[]
  epochs: number
  tokensSentMax: number
  inputCost: number
  outputCost: number
  recalls: number
  recallCost: number
  readonly tokens: { input: number; cacheRead: number; write5m: number; write1h: number; output: number }
}

export function costOfBill({ inputCost, outputCost, recallCost }: Bill): number {
  return inputCost + outputCost + recallCost
}

export interface ReplayOptions {
  readonly door: Door
  readonly count: CountText
  /** Whether replaced texts that the agent used again are recalled, and priced. */
  readonly areRecalled: boolean
  /** The clock of the replay, for a door that reads it. */
  readonly clock: { nowMs(): number; set(atMs: number): void }
}

/** Sends the requests of a session through a door to a simulated provider, at their recorded times. */
export async function replaySession(
  session: ReplaySession,
  { door, count, areRecalled, clock }: ReplayOptions,
): Promise<Bill> {
  const simulator = new ProviderSimulator({ protocol: session.protocol, clock, count })
  const prices = modelPrices(session.model)
  const bill = emptyBill()
  let before: readonly RequestPart[] = []
  const price = (body: string, reply: readonly Block[], place: string) => {
    const answer = simulator.request(body)
    bill.invalid.push(...answer.faults.map((fault) => `${place}: ${fault}`))
    simulator.issue(reply)
    for (const [kind, tokens] of Object.entries(answer.usage)) bill.tokens[kind as keyof typeof answer.usage] += tokens
    return answer
  }
  for (const [index, request] of session.requests.entries()) {
    const place = `${session.name} request ${index}`
    clock.set(request.atMs)
    const body = session.body(request.history)
    const sent = await door.send(request, body)
    for (const added of sent.before ?? []) {
      bill.inputCost += price(added.body, [], place).inputCost
      bill.outputCost += outputTokens(added.reply, count) * prices.output
    }
    const { parts, inputCost, usage } = price(sent.body, request.reply, place)
    bill.requests++
    bill.inputCost += inputCost
    const outTokens = outputTokens(request.reply, count)
    bill.tokens.output += outTokens
    bill.outputCost += outTokens * prices.output
    bill.tokensSentMax = Math.max(bill.tokensSentMax, tokensIn(parts))
    if (areRecalled && request.purpose === 'agent') {
      const texts = recalledTexts(request.reply, request.history, sent.body)
      if (texts.length > 0) {
        bill.recalls += texts.length
        bill.recallCost += price(recallBody(session, sent.body, texts, index), [], `${place}, recall`).inputCost
        bill.recallCost += texts.length * RECALL_CALL_TOKENS * prices.output
      }
    }
    const { input, cacheRead, write5m, write1h } = usage
    const confirmed = await door.replied?.(request.reply, {
      inTokens: input + cacheRead + write5m + write1h,
      cachedTokens: cacheRead,
      outTokens,
    })
    const isNewEpoch = confirmed?.isNewEpoch ?? sent.isNewEpoch
    if (isNewEpoch || index === 0) bill.epochs++
    else if (!sharedPrefix(before, parts).isWhole) bill.broken.push(place)
    before = parts
  }
  return bill
}

function outputTokens(reply: readonly Block[], count: CountText): number {
  return reply.reduce((sum, { text, thinking, input, content, tool_calls: calls }) => {
    const texts = [text, thinking, input, content, calls].filter((value) => value !== undefined && value !== null)
    return (
      sum +
      texts.reduce<number>((all, value) => all + count(typeof value === 'string' ? value : JSON.stringify(value)), 0)
    )
  }, 0)
}

function emptyBill(): Bill {
  return {
    requests: 0,
    invalid: [],
    broken: [],
    epochs: 0,
    tokensSentMax: 0,
    inputCost: 0,
    outputCost: 0,
    recalls: 0,
    recallCost: 0,
    tokens: { input: 0, cacheRead: 0, write5m: 0, write1h: 0, output: 0 },
  }
}
