// An MCP server with configurable faults: `node odd-mcp-server.mjs FILE`, with a file that holds
// `{ "pages": [[tool, ...], ...] }`, and optionally `"diesAfterPages": 1`, `"says": "no JSON"`, `"ignores": true`, `"refuses": true`,
// `"capabilities": {}`, `"repeats": true`, `"stays": true`. Its process is in FILE.pid.
import { readFileSync, writeFileSync } from 'node:fs'
import { createInterface } from 'node:readline'

const told = JSON.parse(readFileSync(process.argv[2], 'utf8'))
const { pages = [[]], capabilities = { tools: {} }, diesAfterPages, says, ignores, refuses, repeats, stays } = told
writeFileSync(`${process.argv[2]}.pid`, String(process.pid))
if (stays) setInterval(() => undefined, 60_000)
const whatIsPassedOn = {
  name: 'environment',
  description: Object.keys(process.env).sort().join(' '),
  inputSchema: { type: 'object' },
}
process.stderr.write(`started with ${process.argv.slice(3).join(' ')} and ${JSON.stringify(process.env)}`)

const results = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities,
    serverInfo: { name: 'odd', version: '1' },
  }),
  'tools/list': ({ cursor = '0' } = {}) => {
    if (refuses) return null
    if (repeats) return { tools: [], nextCursor: 'again' }
    const page = Number(cursor)
    if (page === diesAfterPages) process.exit(7)
    const isLast = page + 1 >= pages.length
    return {
      tools: [...pages[page], ...(isLast ? [whatIsPassedOn] : [])],
      ...(!isLast && { nextCursor: String(page + 1) }),
    }
  },
}

if (says !== undefined) process.stdout.write(`${says}\n`)
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line)
  if (id === undefined || ignores) return
  const result = results[method]?.(params)
  const answer = result ? { result } : { error: { code: -32601, message: process.env.TOKEN } }
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...answer })}\n`)
})
