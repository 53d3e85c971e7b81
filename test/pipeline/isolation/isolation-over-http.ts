import { projectIdOf } from '@heddle/core'
import { type Attempt, forgedReference, type NamedAttempt } from './isolation-attempt.js'

type Path = string | ((attempt: Attempt) => string)

function get(path: (attempt: Attempt) => string): NamedAttempt['run'] {
  return (attempt) => ask(attempt, 'GET', path)
}

async function ask(attempt: Attempt, method: string, path: Path, body?: object): Promise<string> {
  const { http, attacker } = attempt
  const { text } = await http.ask({
    method,
    path: typeof path === 'string' ? path : path(attempt),
    headers: { ...attacker.headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
    body: body === undefined ? undefined : JSON.stringify(body),
  })
  return text
}

const cursorOf = ({ victim, pick }: Attempt) => encodeURIComponent(pick(victim.cursors))
const contextOf = ({ victim, pick }: Attempt) => pick(victim.contextIds)
/** The victim's, or the attacker's own if something else is forged. */
const someThread = ({ attacker, victim, pick }: Attempt) => pick([attacker, victim]).thread
const someAgent = ({ attacker, victim, pick }: Attempt) => pick([attacker, victim]).agent
/** The victim's block as it is named by the agent that it is shared with. */
const sharedOf = ({ victim }: Attempt) => encodeURIComponent(`${victim.agent}/house`)
/** Written under the victim's names: it must belong to the attacker then, and show nothing of the victim's. */
const own = { agent: 'mine', text: 'mine' }

const reads: Readonly<Record<string, NamedAttempt['run']>> = {
  'GET context': get((a) => `/v1/contexts/${contextOf(a)}`),
  'GET request context': get(
    (a) => `/v1/threads/${someThread(a)}/messages/${a.pick(a.victim.messageIds)}/request-context`,
  ),
  'GET request context of a message': get((a) => `/v1/messages/${a.pick(a.victim.messageIds)}/request-context`),
  'GET request contexts': get((a) => `/v1/agents/${a.victim.agent}/request-contexts`),
  'GET receipt': get((a) => `/v1/contexts/${contextOf(a)}/receipt`),
  'GET diff': get((a) => `/v1/contexts/${a.pick([contextOf(a), ...a.attacker.contextIds])}/diff/${contextOf(a)}`),
  'GET contexts': get((a) => `/v1/threads/${someThread(a)}/contexts?cursor=${cursorOf(a)}`),
  'GET archive': get((a) => `/v1/archive?thread=${someThread(a)}&cursor=${cursorOf(a)}`),
  'GET context at': get((a) => `/v1/threads/${a.victim.thread}/contexts/at/2100-01-01T00:00:00Z`),
  'GET agent': get((a) => `/v1/agents/${a.victim.agent}`),
  'GET agents': get((a) => `/v1/agents?cursor=${cursorOf(a)}`),
  'GET items': get((a) => `/v1/agents/${someAgent(a)}/items?cursor=${cursorOf(a)}`),
  'GET item': get((a) => `/v1/agents/${a.victim.agent}/items/rule/house`),
  'DELETE item': (a) => ask(a, 'DELETE', `/v1/agents/${a.victim.agent}/items/rule/house`),
  'POST selection': (a) =>
    ask(a, 'POST', `/v1/agents/${a.victim.agent}/items/search`, {
      query: 'pelican',
      items: [{ type: 'rule', name: 'house' }],
      options: { minScore: 0 },
    }),
  'GET thread': get((a) => `/v1/threads/${a.victim.thread}`),
  'DELETE thread': (a) => ask(a, 'DELETE', `/v1/threads/${a.victim.thread}`),
  'GET threads': get((a) => `/v1/threads?agent=${someAgent(a)}&cursor=${cursorOf(a)}`),
  'GET messages': get((a) => `/v1/threads/${someThread(a)}/messages?cursor=${cursorOf(a)}`),
  'GET processes': get((a) => `/v1/threads/${someThread(a)}/processes?cursor=${cursorOf(a)}`),
  'GET process': get((a) => `/v1/threads/${a.victim.thread}/processes/build`),
  'PUT process': (a) => ask(a, 'PUT', `/v1/threads/${a.victim.thread}/processes/build`, { status: 'mine' }),
  'GET iterations': get((a) => `/v1/threads/${someThread(a)}/iterations?cursor=${cursorOf(a)}`),
  'GET thread items': get((a) => `/v1/threads/${a.victim.thread}/items`),
  'GET thread item': get((a) => `/v1/threads/${a.victim.thread}/items/rule/house`),
  'PUT thread item': (a) => ask(a, 'PUT', `/v1/threads/${someThread(a)}/items/rule/house`),
  'GET snapshot': get((a) => `/v1/snapshots/${a.victim.snapshotId}`),
  'GET snapshots': get((a) => `/v1/agents/${someAgent(a)}/snapshots?cursor=${cursorOf(a)}`),
  'POST restore': (a) => ask(a, 'POST', `/v1/snapshots/${a.victim.snapshotId}/restore`),
  'POST clear': (a) => ask(a, 'POST', `/v1/agents/${a.victim.agent}/clear`, {}),
  'GET prune plan': get((a) => `/v1/threads/${a.victim.thread}/prune-plan?agent=${someAgent(a)}`),
  'POST compress': (a) => ask(a, 'POST', `/v1/threads/${a.victim.thread}/compress`, {}),
  'POST fork': (a) => ask(a, 'POST', `/v1/threads/${a.victim.thread}/fork`, {}),
  'GET compare': (a) => ask(a, 'GET', `/v1/threads/${a.victim.thread}/compare/${a.victim.thread}`),
  'POST uncompact': (a) => ask(a, 'POST', `/v1/threads/${a.victim.thread}/uncompact`, { all: true }),
  'POST pins': (a) => ask(a, 'POST', `/v1/threads/${a.victim.thread}/pins`, { fromSeq: 1, toSeq: 1 }),
  'DELETE pins': (a) => ask(a, 'DELETE', `/v1/threads/${a.victim.thread}/pins?fromSeq=1&toSeq=1`),
  'GET facts': get((a) => `/v1/agents/${someAgent(a)}/facts?thread=${a.victim.thread}&cursor=${cursorOf(a)}`),
  'PUT fact': (a) =>
    ask(a, 'PUT', `/v1/agents/${someAgent(a)}/facts/${a.pick(a.victim.contextIds)}`, {
      ...{ subject: 'x', predicate: 'is', object: 'y', thread: a.victim.thread },
    }),
  'DELETE fact': (a) => ask(a, 'DELETE', `/v1/agents/${someAgent(a)}/facts/${a.pick(a.victim.contextIds)}`),
  'POST facts': (a) => ask(a, 'POST', `/v1/threads/${a.victim.thread}/facts`, {}),
  'GET pins': get((a) => `/v1/threads/${a.victim.thread}/pins`),
  'GET blocks': get((a) => `/v1/memory/blocks?thread=${a.victim.thread}`),
  'GET block': get((a) => `/v1/memory/blocks/agent/house?owner=${a.victim.agent}`),
  'GET block versions': get((a) => `/v1/memory/blocks/agent/house/versions?owner=${a.victim.agent}`),
  'POST block': (a) =>
    ask(a, 'POST', `/v1/memory/blocks/agent/house/rethink?owner=${a.victim.agent}`, { value: own.text }),
  'DELETE block': (a) => ask(a, 'DELETE', `/v1/memory/blocks/agent/house?owner=${a.victim.agent}`),
  'GET shared block': get((a) => `/v1/memory/blocks/agent/${sharedOf(a)}?owner=helper-of-${a.victim.project}`),
  'POST shared block': (a) =>
    ask(
      a,
      'POST',
      `/v1/memory/blocks/agent/${sharedOf(a)}/insert?owner=helper-of-${a.pick([a.attacker, a.victim]).project}`,
      {
        text: own.text,
      },
    ),
  'GET block grants': get((a) => `/v1/memory/blocks/agent/house/grants?owner=${a.victim.agent}`),
  'PUT block grant': (a) =>
    ask(a, 'PUT', `/v1/memory/blocks/agent/house/grants/${someAgent(a)}?owner=${a.victim.agent}`, { mode: 'read' }),
  'DELETE block grant': (a) =>
    ask(a, 'DELETE', `/v1/memory/blocks/agent/house/grants/helper-of-${a.victim.project}?owner=${a.victim.agent}`),
  'GET ledger': get((a) => `/v1/threads/${a.victim.thread}/ledger`),
  'GET summaries': get((a) => `/v1/threads/${a.victim.thread}/summaries`),
  'GET summary messages': get(
    (a) => `/v1/threads/${a.victim.thread}/summaries/${a.pick(a.victim.contextIds)}/messages`,
  ),
  'GET run state': get((a) => `/v1/threads/${a.victim.thread}/iterations/state`),
  'GET export': get((a) => `/v1/threads/${a.victim.thread}/export`),
  'DELETE agent': (a) => ask(a, 'DELETE', `/v1/agents/${a.victim.agent}`),
  'GET keys': get(() => '/v1/keys'),
  'DELETE key': (a) => ask(a, 'DELETE', `/v1/keys/${a.victim.keyId}`),
  'GET grants': get(() => '/v1/grants'),
  'PUT accepted grant': (a) => ask(a, 'PUT', `/v1/grants/from/${a.victim.project}`),
  'DELETE offered grant': (a) => ask(a, 'DELETE', `/v1/grants/to/${a.victim.project}`),
  'DELETE accepted grant': (a) => ask(a, 'DELETE', `/v1/grants/from/${a.victim.project}`),
  'GET dead letters': get(() => '/v1/dead-letters'),
  'POST redrive': (a) => ask(a, 'POST', '/v1/dead-letters/redrive', {}),
  'POST recall': (a) => ask(a, 'POST', '/v1/recall', { ref: forgedReference(a), thread: someThread(a) }),
  'POST search': (a) => ask(a, 'POST', '/v1/search', { query: 'pelican message says', agent: a.victim.agent }),
  'POST search in a thread': (a) => ask(a, 'POST', '/v1/search', { query: 'pelican', thread: a.victim.thread }),
  'POST search of all': (a) => ask(a, 'POST', '/v1/search', { query: 'pelican', limit: 500 }),
  'POST archive search': (a) => ask(a, 'POST', '/v1/archive/search', { query: 'pelican', thread: a.victim.thread }),
  'POST search with a cursor': (a) =>
    ask(a, 'POST', '/v1/search', { query: 'pelican', cursor: a.pick(a.victim.cursors) }),
  // It names threads by ids, which must be the attacker's own.
  async events(a) {
    const text = await ask(a, 'GET', '/v1/events?after=0')
    return text.includes(projectIdOf(a.victim.project)) ? a.victim.canary : text
  },
}

const works: Readonly<Record<string, NamedAttempt['run']>> = {
  'POST context': (a) => ask(a, 'POST', `/v1/threads/${a.victim.thread}/contexts`, { budget: 8_000 }),
  'POST snapshot': (a) => ask(a, 'POST', `/v1/agents/${someAgent(a)}/snapshots`, { description: 'mine' }),
  'POST iterations': (a) =>
    ask(a, 'POST', `/v1/threads/forged-steps/iterations`, {
      agent: own.agent,
      iterations: [{ prompt: own.text, output: own.text }],
    }),
  'POST messages': (a) =>
    ask(a, 'POST', `/v1/threads/forged-${a.victim.thread}/messages`, {
      agent: own.agent,
      messages: [{ id: a.pick(a.victim.messageIds), role: 'user', content: own.text, contextId: contextOf(a) }],
    }),
}

export const httpAttempts: readonly NamedAttempt[] = [
  ...Object.entries(reads).map(([name, run]) => ({ name, run })),
  ...Object.entries(works).map(([name, run]) => ({ name, run, isWork: true })),
]
