/**
 * Sends an event of an agent, from standard input, to Heddle, and prints the answer. Without dependencies: a plugin is a
 * folder that is copied, so each has this file.
 *
 * While Heddle is away it prints one message for the user, prints nothing after that, and keeps what was said in a file. Once
 * Heddle is back it sends that first, and the calls of tools from the transcript. It never fails: the agent goes on.
 */
import { appendFileSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { request as requestHttp } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Milliseconds to wait for an answer; while Heddle is away, until it is taken to be so still, and until it is tried again. */
const ANSWER_MS = 4_000
const PROBE_MS = 1_000
const PROBE_EVERY_MS = 5_000
/** Bytes of what is kept while Heddle is away, and of the end of a transcript that is read afterwards. */
const KEPT_BYTES_MAX = 4_000_000
const TRANSCRIPT_BYTES_MAX = 16_000_000
/** Time for what was missed; what is left of it waits for the next event. */
const CATCH_UP_MS = 3_000

/** The address of the hook of an agent; set by {@link runHook}. */
let url
/** The calls of a transcript with their results, since a moment. */
let missedCalls

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
    const timer = setTimeout(() => sending.destroy(new Error('no answer in time')), timeoutMs)
    sending.on('close', () => clearTimeout(timer))
    sending.on('error', reject)
    sending.end(body)
  })
}

/** An answer that a later attempt may change. */
function isAway({ status }) {
  return status === 408 || status === 429 || status >= 500
}

class Session {
  constructor(id, folder) {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const name = id.replace(/[^A-Za-z0-9-]/g, '_').slice(0, 100)
    this.statePath = join(folder, `${name}.json`)
    // Shared by all sessions: what one that has ended left is sent by the next.
    this.keptPath = join(folder, 'kept.jsonl')
  }

  /** Null while Heddle answers; otherwise since when it does not, and when it was tried last. */
  get away() {
    try {
      return JSON.parse(readFileSync(this.statePath, 'utf8'))
    } catch {
      return null
    }
  }

  isGone(nowMs, away) {
    writeFileSync(this.statePath, JSON.stringify({ sinceMs: away?.sinceMs ?? nowMs, triedMs: nowMs }), { mode: 0o600 })
  }

  isBack() {
    rmSync(this.statePath, { force: true })
  }

  keep(event, nowMs) {
    const line = `${JSON.stringify({ timestamp: new Date(nowMs).toISOString(), ...event })}\n`
    const size = statSync(this.keptPath, { throwIfNoEntry: false })?.size ?? 0
    if (size + Buffer.byteLength(line) <= KEPT_BYTES_MAX) appendFileSync(this.keptPath, line, { mode: 0o600 })
  }

  get hasKept() {
    return statSync(this.keptPath, { throwIfNoEntry: false }) !== undefined
  }

  /** What was kept; afterwards nothing is. */
  takeKept() {
    const taken = `${this.keptPath}.${process.pid}`
    try {
      renameSync(this.keptPath, taken)
    } catch {
      return []
    }
    const lines = readFileSync(taken, 'utf8').split('\n').filter(Boolean)
    rmSync(taken, { force: true })
    return lines.map((line) => JSON.parse(line))
  }
}

/** The records at the end of a transcript. */
export function recordsOf(path) {
  if (typeof path !== 'string') return []
  try {
    const bytes = readFileSync(path)
    const lines = bytes
      .subarray(Math.max(0, bytes.length - TRANSCRIPT_BYTES_MAX))
      .toString('utf8')
      .split('\n')
    return lines.flatMap((line) => {
      try {
        return [JSON.parse(line)]
      } catch {
        return []
      }
    })
  } catch {
    return []
  }
}

/** Sends what was missed, in its order; what could not be sent is kept again. */
async function catchUp(session, event, away) {
  const events = [...session.takeKept(), ...(away === null ? [] : missedCalls(event, away.sinceMs))]
  events.sort((left, right) => Date.parse(left.timestamp) - Date.parse(right.timestamp))
  const endsMs = Date.now() + CATCH_UP_MS
  for (const [index, one] of events.entries()) {
    let answer = null
    if (Date.now() < endsMs) answer = await post(JSON.stringify(one), ANSWER_MS).catch(() => null)
    if (answer !== null && !isAway(answer)) continue
    for (const left of events.slice(index)) session.keep(left, Date.now())
    return
  }
}

/** Events whose words exist nowhere else. */
const SAYING = new Set(['UserPromptSubmit', 'Stop', 'PostToolUse', 'PostToolUseFailure'])

async function relay(folder) {
  const input = readFileSync(0, 'utf8')
  const event = JSON.parse(input)
  const session = new Session(String(event.session_id), folder)
  const nowMs = Date.now()
  const away = session.away
  const goOnWithout = () => {
    session.isGone(nowMs, away)
    if (SAYING.has(event.hook_event_name)) session.keep(event, nowMs)
  }
  if (away !== null && nowMs - away.triedMs < PROBE_EVERY_MS) {
    if (SAYING.has(event.hook_event_name)) session.keep(event, nowMs)
    return
  }
  try {
    if (away !== null) await reach(PROBE_MS)
    if (away !== null || session.hasKept) await catchUp(session, event, away)
    const answer = await post(input, ANSWER_MS)
    if (isAway(answer)) throw new Error(`status ${answer.status}`)
    if (answer.status === 200) {
      session.isBack()
      return answer.text === '{}' ? undefined : answer.text
    }
    session.isGone(nowMs, away)
    return away === null ? refused(answer) : undefined
  } catch (error) {
    goOnWithout()
    if (away !== null) return
    const systemMessage = `Heddle did not answer at ${url.origin} (${error.message}). The session goes on without it; what is said now is recorded once it is back.`
    return JSON.stringify({ systemMessage })
  }
}

/** Whether something answers at all; any answer will do. */
function reach(timeoutMs) {
  return post('{}', timeoutMs)
}

function refused({ status, text }) {
  let detail = ''
  try {
    detail = JSON.parse(text).detail ?? ''
  } catch {}
  return JSON.stringify({ systemMessage: `Heddle refused an event of this session: ${status} ${detail}`.trim() })
}

/**
 * Runs a hook of an agent: `claude-code` or `codex`.
 *
 * @param agent.folder where what is said while Heddle is away is kept
 * @param agent.missedCalls the calls that a transcript has since a moment, as events
 */
export async function runHook(agent) {
  const address = process.env.HEDDLE_URL || 'http://127.0.0.1:4680'
  url = new URL(`${address.replace(/\/+$/, '')}/v1/hooks/${agent.name}${process.env.HEDDLE_HOOK_QUERY ?? ''}`)
  missedCalls = agent.missedCalls
  const output = await relay(agent.folder ?? join(tmpdir(), `heddle-${agent.name}`)).catch(() => undefined)
  if (output !== undefined) process.stdout.write(output)
}
