import type { ServerResponse } from 'node:http'
import type { NewShare } from '@heddle/queue'

interface LetIn {
  readonly jobs: number
  readonly bytes: number
}

const nothing: LetIn = { jobs: 0, bytes: 0 }

/**
 * What each project was let in with for workers, until it is answered. Bodies take long to arrive and to be read: of a hundred
 * that come together all would find the share of their project free, and be read only to be refused.
 */
export class StageRoom {
  readonly #held = new Map<string, LetIn>()

  /** Projects that were let in, once for each stage. */
  get size(): number {
    return this.#held.size
  }

  of(project: string, stage: NewShare['stage']): LetIn {
    return this.#held.get(keyOf(project, stage)) ?? nothing
  }

  take(project: string, { stage, bytes }: Omit<NewShare, 'projectId'>, response: Pick<ServerResponse, 'once'>): void {
    const key = keyOf(project, stage)
    const add = (jobs: number, more: number) => {
      const held = this.#held.get(key) ?? nothing
      if (held.jobs + jobs === 0) this.#held.delete(key)
      else this.#held.set(key, { jobs: held.jobs + jobs, bytes: held.bytes + more })
    }
    add(1, bytes)
    response.once('close', () => add(-1, -bytes))
  }
}

function keyOf(project: string, stage: NewShare['stage']): string {
  return `${stage} ${project}`
}
