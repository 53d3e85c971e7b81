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
export { reportedInput, reportedOutput } from './reported.js'
