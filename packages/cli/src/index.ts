export { readRecordedSession } from './demo/recorded-session.js'
export { type PlannedThread, planImport } from './importing/held-plan.js'
export { type CliHost, runCli } from './run.js'
