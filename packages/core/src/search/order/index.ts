export { asksForOrder, coverTime } from './cover-time.js'
export { isAboutRange, type MomentRange, momentOf, namedMoments } from './moments.js'
