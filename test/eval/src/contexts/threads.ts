import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { planImport } from '@heddle/cli'
import type { Message } from '@heddle/core'
import { sessionFiles } from '@heddle/test-support/samples/recorded-sessions'
import { toMessage } from '../messages.js'
import { readLocomo } from '../search/locomo.js'
import { PROJECT } from '../sessions.js'

export interface RealThread {
  readonly thread: string
  readonly messages: readonly Message[]
}

/** Every conversation of the folder of real sessions: of coding agents, of customer services, and between two people. */
export async function readThreads(dataDir: string): Promise<RealThread[]> {
  const services = readdirSync(join(dataDir, 'tau-bench'))
    .filter((name) => name.endsWith('.json'))
    .map((name) => join(dataDir, 'tau-bench', name))
  const files = [...sessionFiles(dataDir), ...services]
  const recorded = await planImport(files, { cwd: '/', project: PROJECT, format: 'auto' })
  const people = readLocomo(dataDir).map(({ agent, threads }) => ({
    thread: agent,
    messages: threads.flatMap(({ messages }) => messages),
  }))
  return [...recorded, ...people].map(({ thread, messages }) => ({ thread, messages: messages.map(toMessage) }))
}
