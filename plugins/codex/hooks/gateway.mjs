/**
 * Sends an event of an agent, from standard input, to Heddle, and prints the answer. Without dependencies: a plugin is a
 * folder that is copied, so each has this file.
 *
 * While Heddle is away it prints one message for the user, prints nothing after that, and keeps what was said in a file. Once
 * Heddle is back it sends that first, and the calls of tools from the transcript. It never fails: the agent goes on.
 */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { request as requestHttp } from 'node:http'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { Session } from './session.mjs'

/** Milliseconds to wait for an answer; while Heddle is away, until it is taken to be so still, and until it is tried again. */
const ANSWER_MS = 4_000
const PROBE_MS = 1_000
const PROBE_EVERY_MS = 5_000
/** Milliseconds of all that a hook does: the agent kills it soon after. The first part is for what was missed. */
const HOOK_MS = 4_200
const HOOK_MS_OF = { SessionStart: 8_500, PreCompact: 8_500, SessionEnd: 2_300 }
const MISSED_SHARE = 0.6
/** An event that fails so often while others are recorded is given up. */
const ATTEMPTS_MAX = 3
/** A shorter wait says nothing of an event. */
const ATTEMPT_MS_MIN = 2_000
/** Answers about the destination rather than the event. */
const REFUSES_ALL = new Set([401, 403, 404])
/** Events whose words exist nowhere else. */
const SAYING = new Set(['UserPromptSubmit', 'Stop', 'PostToolUse', 'PostToolUseFailure'])

/** The address of the hook of an agent; set by {@link runHook}. */
let url
/** The calls of a transcript with their results, since a moment. */
let missedCalls
/** Since when calls may have been missed, if an event was the first to notice an outage at a moment. */
let turnBeganMs

async function post(body, timeoutMs) {
  // Loading what few need would take a tenth of the time of all.
  const open = url.protocol === 'https:' ? (await import('node:https')).request : requestHttp
  return await new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
    const key = process.env.HEDDLE_KEY
    if (key) headers['x-heddle-key'] = key
    const sending = open(url, { method: 'POST', headers, agent: false }, (answer) => {
      const pieces = []
      answer.on('data', (piece) => pieces.push(piece))
      answer.on('error', reject)
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, text: Buffer.concat(pieces).toString('utf8') }))
    })
    const timer = setTimeout(() => sending.destroy(new Error('no answer in time')), Math.max(1, timeoutMs))
    sending.on('close', () => clearTimeout(timer))
    sending.on('error', reject)
    sending.end(body)
  })
}

/** An answer that a later attempt may change. */
function isAway({ status }) {
  return status === 408 || status === 429 || status >= 500
}

/** What was missed, as far as it was not sent until a moment, in its order; each is still in its file or its transcript. */
async function catchUp(session, event, away, endsMs) {
  const { files, kept } = session.take()
  const calls = away === null ? [] : missedCalls(event, away.sinceMs).map((call) => ({ attempts: 0, event: call }))
  const waiting = [...kept, ...calls]
  waiting.sort((left, right) => Date.parse(left.event.timestamp) - Date.parse(right.event.timestamp))
  const failed = new Set()
  let isSending = true
  let failures = 0
  let hasSent = false
  const left = []
  for (const one of waiting) {
    const startedMs = Date.now()
    isSending &&= startedMs < endsMs && failures < 2
    if (!isSending) {
      left.push(one)
      continue
    }
    const answer = await post(JSON.stringify(one.event), Math.min(ANSWER_MS, endsMs - startedMs)).catch(() => null)
    if (answer !== null && REFUSES_ALL.has(answer.status)) isSending = false
    else if (answer !== null && !isAway(answer)) {
      hasSent = true
      failures = 0
      continue
    } else {
      failures++
      if (answer !== null || Date.now() - startedMs >= ATTEMPT_MS_MIN) failed.add(one)
    }
    left.push(one)
  }
  return { files, left, failed, hasSent, calls: new Set(calls) }
}

/** Keeps what is left. Answers how many events were given up, and since when calls are only in the transcript. */
function settle(session, { files, left, failed, hasSent, calls }, isAnswered) {
  const counted = left.map((one) => {
    const attempts = one.attempts + (failed.has(one) && (hasSent || isAnswered) ? 1 : 0)
    return { isCall: calls.has(one), kept: { ...one, attempts } }
  })
  const goesOn = counted.filter(({ kept }) => kept.attempts < ATTEMPTS_MAX)
  const of = (isCall) => goesOn.filter((one) => one.isCall === isCall).map(({ kept }) => kept)
  const [unkept] = session.giveBack(files, of(false), of(true))
  return { givenUp: counted.length - goesOn.length, sinceMs: unkept && Date.parse(unkept.event.timestamp) }
}

async function relay(folder) {
  const input = readFileSync(0, 'utf8')
  const event = JSON.parse(input)
  const name = event.hook_event_name
  const session = new Session(String(event.session_id), folder)
  const { away, isRefused } = session
  // Codex allows no message there.
  const shown = (text) => (name === 'SessionEnd' ? undefined : JSON.stringify({ systemMessage: text }))
  const keepWords = () => {
    if (SAYING.has(name)) session.keep(event)
  }
  if (url === null) {
    session.remember({ away: null, isRefused: true })
    return isRefused ? undefined : shown('HEDDLE_URL is not an address. The session goes on without Heddle.')
  }
  const nowMs = Date.now()
  if (away !== null && nowMs - away.triedMs < PROBE_EVERY_MS) return keepWords()

  const hookMs = HOOK_MS_OF[name] ?? HOOK_MS
  const beganMs = Math.ceil(performance.timeOrigin) - spentMs()
  let missed = null
  let answer
  try {
    if (away !== null) await post('{}', PROBE_MS)
    if (away !== null || session.hasKept) missed = await catchUp(session, event, away, beganMs + hookMs * MISSED_SHARE)
    answer = await post(input, Math.min(ANSWER_MS, beganMs + hookMs - Date.now()))
    if (isAway(answer)) throw new Error(`status ${answer.status}`)
  } catch (error) {
    if (missed !== null) settle(session, missed, false)
    session.remember({
      away: { sinceMs: away?.sinceMs ?? turnBeganMs(event, nowMs - spentMs()), triedMs: nowMs },
      isRefused,
    })
    keepWords()
    if (away !== null) return
    return shown(
      `Heddle did not answer at ${url.origin} (${error.message}). The session goes on without it; what is said now is recorded once it is back.`,
    )
  }
  const { givenUp, sinceMs } = missed === null ? { givenUp: 0 } : settle(session, missed, answer.status === 200)
  const isOk = answer.status === 200
  session.remember({ away: sinceMs === undefined ? null : { sinceMs, triedMs: 0 }, isRefused: !isOk })
  if (REFUSES_ALL.has(answer.status)) keepWords()
  if (!isOk) return isRefused ? undefined : shown(refusal(answer))
  if (givenUp === 0 || name === 'SessionEnd') return answer.text === '{}' ? undefined : answer.text
  const systemMessage = `Heddle could not record ${givenUp} earlier events, however often they were sent.`
  return JSON.stringify({ ...JSON.parse(answer.text), systemMessage })
}

/** Milliseconds in which `send.sh` had no answer. One version of curl prints microseconds. */
function spentMs() {
  return Math.min(ANSWER_MS, 1_000 * (Number(process.env.HEDDLE_HOOK_SPENT_SECONDS) || 0))
}

function refusal({ status, text }) {
  let detail = ''
  try {
    detail = JSON.parse(text).detail ?? ''
  } catch {}
  return `Heddle refused an event of this session: ${status} ${detail}`.trim()
}

function parsed(address) {
  try {
    return new URL(address)
  } catch {
    return null
  }
}

/**
 * Runs a hook of an agent: `claude-code` or `codex`.
 *
 * @param agent.folder where what is said while Heddle is away is kept
 * @param agent.missedCalls the calls that a transcript has since a moment, as events
 * @param agent.turnBeganMs for agents that send calls without a command: when the turn of an event began
 */
export async function runHook(agent) {
  const { HEDDLE_URL, HEDDLE_HOOK_QUERY = '', HEDDLE_KEY = '' } = process.env
  const address = (HEDDLE_URL || 'http://127.0.0.1:4680').replace(/\/+$/, '')
  url = parsed(`${address}/v1/hooks/${agent.name}${HEDDLE_HOOK_QUERY}`)
  missedCalls = agent.missedCalls
  turnBeganMs = agent.turnBeganMs ?? ((_, momentMs) => momentMs)
  // Words of one project must not come into another, so each destination has its own folder.
  const destination = createHash('sha256')
    .update(JSON.stringify([address, HEDDLE_HOOK_QUERY, HEDDLE_KEY]))
    .digest('hex')
  const folder = join(agent.folder ?? join(homedir(), '.heddle', 'hooks', agent.name), destination.slice(0, 16))
  const output = await relay(folder).catch(() => undefined)
  if (output !== undefined) process.stdout.write(output)
}
