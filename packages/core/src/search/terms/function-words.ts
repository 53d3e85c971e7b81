/** English words that say little about a text's subject, in lower case. */
export const functionWords: ReadonlySet<string> = new Set(
  `a about after again all also am an and any are as at be because been before but by can could did do does done each even
  for from had has have he her here him his how i if in into is it its just like me more most much must my no not now of off
  on one only or other our out over own said she should so some such than that the their them then there these they this
  those through to too up us very was we were what when where which while who why will with would yes yet you your
  s t d ll re ve m don isn doesn didn wasn won ok okay yeah let get got`
    .trim()
    .split(/\s+/),
)
