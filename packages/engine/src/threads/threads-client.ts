import type { IterationsClient, ProcessesClient, ThreadsClient } from '@heddle/client/interface'
import { nameSchema, notFound, parse } from '@heddle/contracts'
import { ledgerOf } from '../contexts/ledger.js'
import { eraseThread } from '../projects/erasure.js'
import type { EngineContext } from '../setup/options.js'
import { appendAllIterations } from './append-iterations.js'
import { compare, fork } from './forks.js'
import { getLoop, listAllIterations } from './iterations.js'
import { getProcess, listThreadProcesses, setProcess } from './processes.js'
import { ResumeTexts } from './resume-texts.js'
import { setThread } from './thread-details.js'
import { exportThread } from './thread-export.js'
import { importThread } from './thread-import.js'
import { getThread, listAllThreads, waitUntilSettled } from './threads.js'

export function threadsClient(parts: EngineContext): ThreadsClient {
  const texts = new ResumeTexts(parts)
  return {
    list: (options) => listAllThreads(parts, options),
    get: (thread) => getThread(parts, thread),
    put: (thread, body) => setThread(parts, thread, body),
    fork: (thread, body) => fork(parts, thread, body),
    ledger: (thread, options) => ledgerOf(parts, thread, options),
    compare: (thread, other) => compare(parts, thread, other),
    async resumeText(thread) {
      const text = await texts.read(parse(nameSchema, thread, 'thread'))
      if (text === null) throw notFound('thread', thread, 'see `heddle threads list`')
      return text
    },
    waitUntilSettled: (thread, options) => waitUntilSettled(parts, thread, options),
    delete: (thread, options) => eraseThread(parts, thread, options),
    export: (thread) => exportThread(parts, thread),
    import: (read, options) => importThread(parts, read, options),
  }
}

export function processesClient(parts: EngineContext): ProcessesClient {
  return {
    put: (thread, process, body) => setProcess(parts, thread, process, body),
    get: (thread, process) => getProcess(parts, thread, process),
    list: (thread, options) => listThreadProcesses(parts, thread, options),
  }
}

export function iterationsClient(parts: EngineContext): IterationsClient {
  return {
    append: (options) => appendAllIterations(parts, options),
    list: (thread, options) => listAllIterations(parts, thread, options),
    loop: (thread) => getLoop(parts, thread),
  }
}
