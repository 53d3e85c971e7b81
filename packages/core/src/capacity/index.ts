export {
  calibrateStage,
  costsOfSize,
  type MeasuredDrain,
  type MeasuredSizes,
  type SiteOf,
  type StageCosts,
} from './calibrate.js'
export { type Backlog, type DrainSite, forecastDrain } from './drain.js'
export { forecastCapacity } from './forecast.js'
export type {
  CapacityForecast,
  CapacityLimit,
  ForecastTimes,
  MachineForecast,
  PoolForecast,
  ServerForecast,
  WorkForecast,
} from './forecast-report.js'
