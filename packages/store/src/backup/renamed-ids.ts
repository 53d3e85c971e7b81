import { agentIdOf, itemIdOf, projectIdOf, threadIdOf } from '@heddle/core'
import type { BackupTable } from './backup-tables.js'

/**
 * The ids of a project under another name: those of projects, agents, threads and items are derived from names. Their tables come
 * before all others that contain their ids, because those refer to them or come later in the file.
 */
export class RenamedIds {
  readonly #name: string
  readonly #ids = new Map<string, string>()

  constructor(from: string, to: string) {
    this.#name = to
    this.#ids.set(projectIdOf(from), projectIdOf(to))
  }

  /** A row as COPY writes it, with the ids and the name of the new project. */
  renamed({ table, columns }: BackupTable, row: Buffer): Buffer {
    const values = row.toString('latin1').slice(0, -1).split('\t')
    const at = (name: string) => columns.findIndex(([column]) => column === name)
    const text = (name: string) => unescaped(values[at(name)] ?? '')
    const projectId = this.#ids.get(text('project_id')) ?? ''
    if (table === 'projects') values[at('name')] = escaped(this.#name)
    if (table === 'agents') this.#ids.set(text('id'), agentIdOf(projectId, text('name')))
    if (table === 'threads') this.#ids.set(text('id'), threadIdOf(projectId, text('name')))
    if (table === 'items') this.#addItem(text)
    for (const [place, [name, type]] of columns.entries()) {
      // Jobs that are delivered again from there name their project and their thread.
      const holdsIds = type === 'uuid' || type === 'uuid[]' || (table === 'dead_letters' && name === 'payload')
      if (!holdsIds) continue
      values[place] = (values[place] ?? '').replace(/[0-9a-f-]{36}/g, (id) => this.#ids.get(id) ?? id)
    }
    return Buffer.from(`${values.join('\t')}\n`, 'latin1')
  }

  #addItem(text: (column: string) => string): void {
    const agentId = this.#ids.get(text('agent_id'))
    if (agentId === undefined) return
    const key = { type: text('type'), serverName: text('server_name'), name: text('name') }
    this.#ids.set(text('id'), itemIdOf(agentId, key as Parameters<typeof itemIdOf>[1]))
  }
}

const escapes: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' }

/** A value of COPY's text, whose bytes are UTF-8. */
function unescaped(value: string): string {
  const bytes = value.replace(/\\(.)/g, (_, character: string) => escapes[character] ?? character)
  return Buffer.from(bytes, 'latin1').toString()
}

function escaped(value: string): string {
  const bytes = Buffer.from(value).toString('latin1')
  return bytes.replace(/[\\\n\r\t]/g, (character) => `\\${{ '\n': 'n', '\r': 'r', '\t': 't' }[character] ?? character}`)
}
