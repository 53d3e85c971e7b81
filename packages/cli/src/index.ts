export { type RecordedSession, type RecordOptions, recordSession } from './demo/recorder.js'
export { type PlannedThread, planImport } from './importing/plan.js'
export { type CliHost, runCli } from './run.js'
export { type RunningStages, type StagesOptions, startStages } from './stages.js'
