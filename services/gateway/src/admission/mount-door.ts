import { createHash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Access } from '@heddle/contracts'
import { type Clock, within } from '@heddle/runtime'
import { LRUCache } from 'lru-cache'
import { Refused } from '../http/problems.js'
import type { MountDoor, MountEntry, MountRefusal } from '../mount.js'
import { type Admit, checkPermission } from './access.js'
import type { CheckOrigin } from './loopback.js'
import type { RequestsUnderWay } from './requests-under-way.js'

export interface MountDoorOptions {
  readonly admit: Admit
  readonly checkOrigin: CheckOrigin
  readonly requests: RequestsUnderWay
  readonly isOpenToOthers: boolean
  readonly clock: Clock
}

const KEY_HEADER = 'x-heddle-key'
const REMEMBERED_MAX = 10_000
/** How long a caller is admitted as the last time while the store is away. */
const REMEMBERED_MS = 3_600_000
/** How long the store is not asked again after it did not answer: its callers would all wait, and their queries pile up. */
const AWAY_MS = 1_000

/** Admits the callers of a mount: a failing store must not become their failure. */
export function createMountDoor(options: MountDoorOptions): MountDoor {
  const { admit, checkOrigin, requests, isOpenToOthers, clock } = options
  const remembered = new LRUCache<string, Access>({ max: REMEMBERED_MAX, ttl: REMEMBERED_MS })
  let isKeyDemanded = isOpenToOthers
  let awayUntilMs = 0

  return {
    async enter(request, response, lateMs) {
      try {
        checkOrigin(request.headers)
        const access = await accessOf(request, lateMs)
        if (access === null) return { project: null }
        checkPermission(access, 'produce')
        return counted(access, request, response)
      } catch (error) {
        if (!(error instanceof Refused)) throw error
        // The rules are those of the header of the gateway's own routes.
        const detail = error.data.detail.replace(/^authorization:/, `${KEY_HEADER}:`)
        return { status: error.status, detail, headers: {} } satisfies MountRefusal
      }
    },
  }

  async function accessOf({ headers }: IncomingMessage, lateMs: number): Promise<Access | null> {
    const key = headers[KEY_HEADER]
    const name = createHash('sha256').update(String(key)).digest('base64')
    if (clock.monotonicMs() < awayUntilMs) return whileAway(name, key !== undefined)
    try {
      const access = await within(look(key, name), { timeoutMs: lateMs, late: () => null, clock })
      return access ?? whileAway(name, key !== undefined)
    } catch (error) {
      if (error instanceof Refused) throw error
      return whileAway(name, key !== undefined)
    }
  }

  /** Its outcome is remembered even if it is late for the request. */
  async function look(key: string | string[] | undefined, name: string): Promise<Access> {
    try {
      const access = await admit(typeof key === 'string' ? { authorization: `Bearer ${key}` } : {})
      remembered.set(name, access)
      return access
    } catch (error) {
      if (error instanceof Refused) {
        remembered.delete(name)
        if (key === undefined) isKeyDemanded = true
      }
      throw error
    }
  }

  /** Null for an unknown caller: whose project it is must not be guessed. */
  function whileAway(name: string, hasKey: boolean): Access | null {
    if (clock.monotonicMs() >= awayUntilMs) awayUntilMs = clock.monotonicMs() + AWAY_MS
    const known = remembered.get(name)
    if (known !== undefined) return known
    if (!isOpenToOthers && (hasKey || !isKeyDemanded)) return null
    throw new Refused(
      { code: 'SERVICE_UNAVAILABLE', detail: `${KEY_HEADER}: the store that knows the keys is not available` },
      { status: 503 },
    )
  }

  /** Counted for the project, but never refused: an agent must not fail because others of its project are busy. */
  function counted({ project, proxyMode }: Access, { headers }: IncomingMessage, response: ServerResponse): MountEntry {
    const bytes = Number(headers['content-length'] ?? 0)
    requests.count({ project, bytes, bodyBytes: bytes }, response)
    return { project, proxyMode }
  }
}
