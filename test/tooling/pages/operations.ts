import { fileURLToPath } from 'node:url'
import { type Operation, operations, operationTags } from '@heddle/contracts'

export const operationsPagePath = fileURLToPath(new URL('../../../docs/http-operations.md', import.meta.url))

/** Methods of the client over the queue that have no operation, and why. */
export const notOverHttp: Readonly<Record<string, string>> = {
  'messages.producer':
    'It gathers the messages of many callers of one process. Over HTTP a request brings as many messages as the caller has: `messages.append`.',
  'threads.waitUntilSettled':
    'It polls the store several times a second for as long as the stages work. Over HTTP `threads.get` shows how far each stage has come, and `events.follow` tells of what is done.',
  'projects.delete':
    'It erases the key that asks, and with it who may see whether the erasure ended. Run `heddle projects delete` where the store is.',
}

const repeats = { idempotent: 'yes', 'by-key': 'under its key', once: 'no' } as const

function row([id, { method, path, needs, repeat, summary }]: readonly [string, Operation]): string {
  return `| \`${id}\` | \`${method} ${path}\` | ${needs} | ${repeats[repeat]} | ${summary} |`
}

/** The page of all operations, by their tags. */
export function operationsPage(): string {
  const entries: readonly (readonly [string, Operation])[] = Object.entries(operations)
  const sections = operationTags.map(({ name, description }) => {
    const rows = entries.filter(([, { tag }]) => tag === name).map(row)
    return `## ${name}\n\n${description}\n\n${HEAD}${rows.join('\n')}\n`
  })
  const reasons = Object.entries(notOverHttp).map(([method, reason]) => `| \`${method}\` | ${reason} |`)
  return `${INTRODUCTION}\n${sections.join('\n')}\n${NOT_OVER_HTTP}${reasons.join('\n')}\n`
}

const INTRODUCTION = `# Operations of the HTTP interface

All operations of [the HTTP interface](http.md): \`npm run docs:operations\` writes this page from \`packages/contracts/src/operations\`.
Parameters, bodies and answers of each are at \`/docs\` of a gateway, and in its \`/openapi.json\`.

**Permission** is what [the role of a key](http.md#who-may-ask) has to include. **Again** says whether the same request may be sent again
when its answer was lost: \`under its key\` needs the same \`Idempotency-Key\`, or the same ids in the body. The client over HTTP sends a
request again where the table allows it, and any request that was refused before anything was begun.
`

const HEAD = `| operation | request | permission | again | |
| --- | --- | --- | --- | --- |
`

const NOT_OVER_HTTP = `## Not over HTTP

Methods of [the client over the queue](../packages/client/README.md) that have no operation:

| method | reason |
| --- | --- |
`
