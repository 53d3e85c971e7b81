/**
 * The judgement of a person who read the recorded sessions: which message states the goal when the session is cut at some
 * place, which of the user's messages a summary must mention, and which lines of them no person wrote. Only positions are
 * stored here, counted from 0 among the messages of an import; the sessions themselves are not in this repository.
 */
export interface Cut {
  readonly thread: string
  /** The messages that are summarized, the last one not included. */
  readonly from: number
  readonly to: number
  /** Each of these is acceptable as the goal. */
  readonly goals: readonly number[]
  /** Other requests that must be mentioned. */
  readonly requests?: readonly number[]
}

/** A user's message with a range of lines that a person wrote, counted from 1, both ends included; the other lines are injected. */
export interface InjectedMessage {
  readonly thread: string
  readonly at: number
  readonly said?: readonly [from: number, to: number]
}

const A = '2a-075ef186b4-0'
const B = '76-74489fb0a9-3'
const C = '89-7eb280e769-12'
const D = '9f-d2fc39aa5f-0'
const E = 'cc-90f6622c5b-1'
const F = 'ce-aea776cdb0-0'
const G = 'd0-161e0df1cb-0'
const SWE = 'marshmallow-1867-function-calling'

export const cuts: readonly Cut[] = [
  { thread: A, from: 0, to: 72, goals: [0] },
  { thread: A, from: 0, to: 373, goals: [0] },
  { thread: B, from: 0, to: 252, goals: [0] },
  { thread: B, from: 0, to: 262, goals: [256, 258], requests: [0] },
  { thread: C, from: 0, to: 25, goals: [0] },
  { thread: C, from: 0, to: 45, goals: [42], requests: [26] },
  { thread: C, from: 0, to: 74, goals: [42, 70] },
  { thread: C, from: 0, to: 168, goals: [70, 74], requests: [42] },
  { thread: C, from: 0, to: 200, goals: [190], requests: [0, 70, 168] },
  { thread: C, from: 0, to: 312, goals: [310], requests: [0, 70, 190] },
  { thread: C, from: 0, to: 431, goals: [310, 320, 386], requests: [0, 26, 70, 386] },
  { thread: C, from: 432, to: 600, goals: [595] },
  { thread: C, from: 432, to: 626, goals: [595, 607], requests: [595] },
  { thread: D, from: 0, to: 27, goals: [0] },
  { thread: D, from: 0, to: 134, goals: [28], requests: [0] },
  { thread: E, from: 0, to: 90, goals: [0] },
  { thread: E, from: 0, to: 170, goals: [0, 118] },
  { thread: E, from: 0, to: 195, goals: [174], requests: [0] },
  { thread: E, from: 0, to: 218, goals: [174, 200], requests: [0] },
  { thread: E, from: 0, to: 240, goals: [237] },
  { thread: E, from: 0, to: 310, goals: [265, 305], requests: [0, 174, 237] },
  { thread: E, from: 311, to: 360, goals: [354] },
  { thread: E, from: 311, to: 395, goals: [384], requests: [354] },
  { thread: E, from: 311, to: 445, goals: [384, 396], requests: [354, 382] },
  { thread: E, from: 311, to: 490, goals: [446, 468], requests: [354, 384, 396] },
  { thread: F, from: 0, to: 11, goals: [6] },
  { thread: F, from: 0, to: 50, goals: [6, 12, 36], requests: [6, 12] },
  { thread: F, from: 0, to: 90, goals: [6, 12, 36], requests: [6, 24] },
  { thread: G, from: 0, to: 95, goals: [0] },
  { thread: G, from: 0, to: 110, goals: [0, 100], requests: [100] },
  { thread: G, from: 0, to: 130, goals: [0, 115] },
  { thread: G, from: 0, to: 140, goals: [136], requests: [0] },
  { thread: G, from: 0, to: 361, goals: [288, 294, 334], requests: [0, 271] },
  { thread: G, from: 362, to: 419, goals: [399, 413] },
  { thread: SWE, from: 0, to: 24, goals: [1] },
  { thread: 'tau-0', from: 0, to: 32, goals: [1, 5, 11], requests: [1, 5, 11] },
  { thread: 'tau-5', from: 0, to: 26, goals: [17, 19], requests: [17] },
  { thread: 'tau-7', from: 0, to: 26, goals: [15, 19], requests: [1, 15] },
  { thread: 'tau-11', from: 0, to: 36, goals: [1, 27], requests: [1, 9] },
  { thread: 'tau-12', from: 0, to: 16, goals: [13, 15], requests: [1] },
  { thread: 'tau-15', from: 0, to: 30, goals: [23, 25], requests: [1, 5] },
  { thread: 'tau-21', from: 0, to: 30, goals: [21], requests: [1, 11, 13, 23] },
  { thread: 'tau-26', from: 0, to: 32, goals: [15, 21], requests: [3] },
  { thread: 'tau-30', from: 0, to: 26, goals: [21, 23], requests: [1] },
  { thread: 'tau-33', from: 0, to: 60, goals: [51, 53], requests: [9] },
  { thread: 'beam-1', from: 0, to: 27, goals: [26] },
  { thread: 'beam-1', from: 0, to: 39, goals: [36, 38] },
  { thread: 'beam-1', from: 0, to: 59, goals: [58] },
  { thread: 'beam-1', from: 0, to: 99, goals: [98] },
  { thread: 'beam-3', from: 0, to: 27, goals: [26] },
  { thread: 'beam-3', from: 0, to: 39, goals: [38] },
  { thread: 'beam-3', from: 0, to: 59, goals: [58] },
  { thread: 'beam-3', from: 0, to: 99, goals: [98] },
  { thread: 'beam-5', from: 0, to: 27, goals: [26] },
  { thread: 'beam-5', from: 0, to: 39, goals: [38] },
  { thread: 'beam-5', from: 0, to: 59, goals: [56, 58] },
  { thread: 'beam-5', from: 0, to: 99, goals: [98] },
  { thread: 'beam-7', from: 0, to: 27, goals: [26] },
  { thread: 'beam-7', from: 0, to: 39, goals: [38] },
  { thread: 'beam-7', from: 0, to: 59, goals: [58] },
  { thread: 'beam-7', from: 0, to: 99, goals: [96, 98] },
]

export const injected: readonly InjectedMessage[] = [
  { thread: A, at: 373 },
  { thread: B, at: 0, said: [1, 172] },
  { thread: B, at: 252 },
  { thread: B, at: 257 },
  ...[22, 23, 24, 30, 31, 32, 385, 431, 623, 624, 625].map((at) => ({ thread: C, at })),
  ...[200, 201, 310, 395].map((at) => ({ thread: E, at })),
  ...[111, 112, 113, 361].map((at) => ({ thread: G, at })),
  { thread: SWE, at: 1, said: [3, 24] },
]
