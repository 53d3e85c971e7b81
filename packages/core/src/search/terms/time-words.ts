/** English words and numbers that name a day, a month, a year or a distance in time. */
const TIME =
  /\b(?:yesterday|today|tonight|tomorrow|last|next|ago|weekend|weeks?|months?|years?|(?:mon|tues|wednes|thurs|fri|satur|sun)days?|jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?|(?:19|20)\d\d|\d{1,2}(?:st|nd|rd|th))\b/i

export function namesTime(text: string): boolean {
  return TIME.test(text)
}

const ASKS_FOR_TIME =
  /\bwhen\b|\b(?:what|which) (?:dates?|days?|months?|years?|times?)\b|\bhow (?:long|many (?:days|weeks|months|years|hours))\b|\bdeadlines?\b/i

/** Whether a text that names a time is a likelier answer to a query than another one. */
export function asksForTime(query: string): boolean {
  return ASKS_FOR_TIME.test(query)
}
