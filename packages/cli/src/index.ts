export { type RecordedSession, type RecordOptions, recordSession } from './demo/recorder.js'

export { type PlannedThread, planImport } from './importing/held-plan.js'
export { type CliHost, runCli } from './run.js'
