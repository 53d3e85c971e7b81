export { asksForOrder, coverTime } from './cover-time.js'
