import { type Attempt, forgedReference, type NamedAttempt } from './isolation-attempt.js'

async function call({ http, attacker }: Attempt, method: string, params: object): Promise<string> {
  const { text } = await http.ask({
    method: 'POST',
    path: '/mcp',
    headers: {
      ...attacker.headers,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    // One id for all: an answer routed only by it would reach the last caller.
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  return text
}

const tool = (attempt: Attempt, name: string, given: object) => call(attempt, 'tools/call', { name, arguments: given })
const resource = (attempt: Attempt, uri: string) => call(attempt, 'resources/read', { uri })

/** A page of the victim's, in the form of a cursor of the attacker's own list. */
function forgedPlace({ victim, pick }: Attempt): string {
  const place = pick([
    { kind: 'snapshots', owner: victim.agent },
    { kind: 'contexts', owner: victim.thread },
    { kind: 'archive', cursor: pick(victim.cursors) },
  ])
  return Buffer.from(JSON.stringify(place)).toString('base64url')
}

export const mcpAttempts: readonly NamedAttempt[] = [
  { name: 'MCP recall', run: (a) => tool(a, 'recall', { ref: forgedReference(a), thread: a.victim.thread }) },
  { name: 'MCP search', run: (a) => tool(a, 'search', { query: 'pelican', thread: a.victim.thread }) },
  { name: 'MCP archive', run: (a) => tool(a, 'archive', { query: 'pelican', thread: a.victim.thread }) },
  { name: 'MCP pin', run: (a) => tool(a, 'pin', { ref: forgedReference(a), thread: a.victim.thread }) },
  { name: 'MCP facts', run: (a) => tool(a, 'facts', { agent: a.victim.agent, thread: a.victim.thread }) },
  { name: 'MCP compress', run: (a) => tool(a, 'compress', { thread: a.victim.thread }) },
  { name: 'MCP uncompact', run: (a) => tool(a, 'uncompact', { ref: forgedReference(a), thread: a.victim.thread }) },
  { name: 'MCP memory blocks', run: (a) => tool(a, 'memory_blocks', { thread: a.victim.thread }) },
  { name: 'MCP why', run: (a) => tool(a, 'why', { ref: forgedReference(a), thread: a.victim.thread }) },
  { name: 'MCP summaries', run: (a) => tool(a, 'summaries', { thread: a.victim.thread }) },
  {
    name: 'MCP history',
    run: (a) => tool(a, 'history', { thread: a.victim.thread, cursor: a.pick(a.victim.cursors) }),
  },
  {
    name: 'MCP snapshots',
    run: (a) => tool(a, 'list_snapshots', { agent: a.victim.agent, cursor: a.pick(a.victim.cursors) }),
  },
  {
    name: 'MCP request context',
    run: (a) => resource(a, `heddle://request-contexts/${a.victim.thread}/${a.pick(a.victim.messageIds)}`),
  },
  { name: 'MCP restore', run: (a) => tool(a, 'restore_snapshot', { id: a.victim.snapshotId }) },
  { name: 'MCP clear', run: (a) => tool(a, 'clear_context', { agent: a.victim.agent }) },
  { name: 'MCP context resource', run: (a) => resource(a, `heddle://contexts/${a.pick(a.victim.contextIds)}`) },
  { name: 'MCP run resource', run: (a) => resource(a, `heddle://runs/${encodeURIComponent(a.victim.thread)}`) },
  { name: 'MCP snapshot resource', run: (a) => resource(a, `heddle://snapshots/${a.victim.snapshotId}`) },
  {
    name: 'MCP recall resource',
    run: (a) => resource(a, `heddle://recall/${encodeURIComponent(forgedReference(a))}`),
  },
  { name: 'MCP resources', run: (a) => call(a, 'resources/list', a.pick([{}, { cursor: forgedPlace(a) }])) },
  {
    name: 'MCP context',
    isWork: true,
    run: (a) => tool(a, 'build_context', { thread: a.victim.thread, agent: a.pick([a.attacker, a.victim]).agent }),
  },
  { name: 'MCP snapshot', isWork: true, run: (a) => tool(a, 'save_snapshot', { agent: a.victim.agent }) },
]
