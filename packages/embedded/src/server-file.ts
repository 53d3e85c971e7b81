import { join } from 'node:path'
import { readJson, replaceFile } from './files.js'
import { type ProcessIdentity, parseIdentity } from './process-identity.js'

/** Content of `server.json`, for processes that join: the port of the server, and the owner that wrote it. */
export interface ServerFile {
  /** Pid of the postmaster; null while none runs. */
  pid: number | null
  port: number
  owner: ProcessIdentity | null
}

/** The data folder's `server.json`, or null if it is missing or damaged: then another port is chosen. */
export async function readServerFile(dataDir: string): Promise<ServerFile | null> {
  const content = await readJson(join(dataDir, 'server.json'))
  if (typeof content !== 'object' || content === null) return null
  const { pid, port, owner } = content as Partial<Record<keyof ServerFile, unknown>>
  if (typeof port !== 'number' || !Number.isInteger(port) || port < 1 || port > 65_535) return null
  return { pid: typeof pid === 'number' ? pid : null, port, owner: parseIdentity(owner) }
}

export async function writeServerFile(dataDir: string, content: ServerFile): Promise<void> {
  await replaceFile(join(dataDir, 'server.json'), `${JSON.stringify(content)}\n`)
}
