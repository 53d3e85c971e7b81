export {
  type CountedRequest,
  type CountFit,
  FIT_SAMPLES_MAX,
  FIT_SAMPLES_MIN,
  fitCounts,
  isPlausible,
  medianOf,
  predictCount,
} from './fit.js'
export {
  type Calibration,
  calibratedWindow,
  calibrationIn,
  type LearntCalibration,
  nextCalibration,
  withLearnt,
} from './in-force.js'
export { type CalibratedModel, type CountedReply, learnCalibrations, RATIO_KINDS_MAX } from './learn.js'
export { providerOf } from './provider.js'
export { reportedInput, reportedOutput } from './reported.js'
