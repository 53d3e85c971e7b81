import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient, type RemoteClient } from '@heddle/client/http'
import { closeLater } from '@heddle/test-support/closing'
import { startHeddle } from './heddle-up.js'

export interface Surroundings {
  readonly url: string
  readonly client: RemoteClient
  /** In which a plugin keeps what it could not send. */
  readonly dataFolder: string
}

/** A Heddle of its own for the replays of one plugin. `closeAll` removes all of it. */
export async function openSurroundings(): Promise<Surroundings> {
  const { url } = await startHeddle()
  const dataFolder = await mkdtemp(join(tmpdir(), 'heddle-plugin-'))
  closeLater(() => rm(dataFolder, { recursive: true, force: true }))
  return { url, client: createClient({ url }), dataFolder }
}
