import { nameSchema, parse } from '@heddle/contracts'
import { projectIdOf } from '@heddle/core'
import { systemClock } from '@heddle/runtime'
import { ensureProject } from '@heddle/store'
import { KnownContexts } from '../contexts/known-contexts.js'
import { Ordinals } from '../messages/ordinals.js'
import { LikelyPrepared } from './likely-prepared.js'
import type { ClientOptions, EngineContext } from './options.js'

/** The state shared by the operations of a client: its project, whose name is stored once, and its caches. */
export function createContext(options: ClientOptions): EngineContext {
  const {
    store,
    queues,
    project = 'default',
    settings = {},
    settingLayers = [{ from: 'configuration', settings }],
    snapshotsFolder = null,
    log,
    clock = systemClock,
    embedder = null,
    reranker = null,
    directAppends = null,
    knownContexts = new KnownContexts({ nowMs: () => clock.monotonicMs() }),
    previewer = null,
  } = options
  const name = parse(nameSchema, project, 'project')
  const projectId = projectIdOf(name)
  let telling: Promise<void> | undefined
  let isTold = false
  const ensureProjectName = () => {
    if (isTold) return null
    telling ??= store
      .inProject(projectId, (tx) => ensureProject(tx, { projectId, name }))
      .then(() => {
        isTold = true
      })
      .finally(() => {
        telling = undefined
      })
    return telling
  }
  return {
    store,
    get queues() {
      if (queues === null) throw new TypeError('this client was created without queues, and the operation needs them')
      return queues
    },
    project: name,
    projectId,
    settings,
    settingLayers,
    snapshotsFolder,
    log,
    clock,
    ordinals: new Ordinals(),
    likelyPrepared: new LikelyPrepared(),
    embedder,
    reranker,
    directAppends,
    knownContexts,
    previewer,
    ensureProjectName,
  }
}
